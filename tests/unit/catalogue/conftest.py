"""Tests of the catalogue take the checkout."""

from tests.support.checkout import checkout, spec

__all__ = ["checkout", "spec"]
