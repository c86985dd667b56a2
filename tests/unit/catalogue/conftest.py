"""Tests of the catalogue take the checkout."""

from tests.support.checkout import checkout, spec
from tests.unit.harbor.conftest import settings

__all__ = ["checkout", "settings", "spec"]
