"""The entry points of the application's pods, and the one place that depends on the framework's package.

PyPI has the framework as `monoframe`; each module here that imports it says which of its gaps it fills (W1 to W9 in
substrates/frappe/README.md). With the official package, `framework.py`, `create.py`, `scheduler.py` change.

    python -m arena_site.create      makes an empty site in the configured database (at image build time)
    python -m arena_site.seed        users, records and settings that every episode starts with
    gunicorn arena_site.web:app      the web server, with /healthz
    python -m arena_site.worker short|default|long
    python -m arena_site.scheduler
"""
