"""Images: plain Dockerfiles in `images/<name>/`, built without a daemon and keyed by everything that goes in."""
