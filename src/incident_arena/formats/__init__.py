"""Formats: records, a task, a verdict; each with a version, and a JSON schema."""
