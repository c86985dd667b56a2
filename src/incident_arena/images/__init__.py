"""Images: plain Dockerfiles (recipes.py), built without a daemon and keyed by everything that goes in."""
