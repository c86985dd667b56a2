"""The load against a small application on loopback, see tests/support/frappe_load.py."""

from tests.support.frappe_load import application, frappe, server

__all__ = ["application", "frappe", "server"]
