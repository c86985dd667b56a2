"""Programs that run in the harness pods."""
