"""Makes the framework usable in this process. Call `prepare` before anything else of it is used."""

import os
import sys
import types
from pathlib import Path
from unittest.mock import MagicMock

import monoframe

SITE = "monoframe"
"""The one tenant's name, as the framework itself calls it."""

QUEUE_PREFIX = "site"
"""Queues are `rq:queue:<prefix>:<short|default|long>`; without it, the working directory would decide (W8)."""


def prepare() -> None:
    """Let every `monoframe.init` name the site (W6), make the folders that the framework writes to (W7), add stubs."""
    _stub_missing()
    for folder in ("logs", "locks", "config", "public/files", "private/files", "private/backups"):
        Path(folder).mkdir(parents=True, exist_ok=True)
    original = monoframe.init

    def init(*args: object, **options: object) -> None:
        original(*args, **options)
        monoframe.local.site = SITE

    monoframe.init = init


def extra_config() -> dict[str, object]:
    """Give the framework the settings that it does not read from the environment by itself (W8).

    Named by MONOFRAME_EXTRA_CONFIG. Raises KeyError when ENCRYPTION_KEY is not set: tokens would not survive a restart.
    """
    return {
        "encryption_key": os.environ["ENCRYPTION_KEY"],
        "bench_id": QUEUE_PREFIX,
        "developer_mode": 0,
        "mute_emails": 1,
        "disable_website_cache": 1,
        # The default, 500, would turn a queue that stands into 503s after some minutes of load: the symptom would
        # depend on how fast the agent is.
        "max_queued_jobs": 20_000,
        # By default workers stand back behind the web servers, and starve on a busy machine.
        "background_process_niceness": 0,
    }


def _stub_missing() -> None:
    """Stand in for modules that some doctypes import and that the package does not bring (W3, W4).

    Site creation needs them, and the jobs that follow a change of a user or a contact.
    """
    for name in (
        "google",
        "google.oauth2",
        "google.oauth2.credentials",
        "googleapiclient",
        "googleapiclient.discovery",
        "googleapiclient.errors",
        "google.auth",
        "google.auth.transport",
        "google.auth.transport.requests",
    ):
        sys.modules.setdefault(name, MagicMock(name=name))
    sys.modules["googleapiclient.errors"].HttpError = type("HttpError", (Exception,), {})
    generators = types.ModuleType("monoframe.tests.utils.generators")
    generators._clear_test_log = lambda: None  # noqa: SLF001  the name is the framework's
    sys.modules.setdefault(generators.__name__, generators)
