"""The checkout with one task that the tests of harbor/ have."""

from tests.unit.harbor.conftest import checkout, settings, spec

__all__ = ["checkout", "settings", "spec"]
