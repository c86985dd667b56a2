"""Verbs of the admin interface: what one is, and how its command is offered."""
