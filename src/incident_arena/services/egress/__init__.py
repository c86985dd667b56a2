"""The egress proxy: between the TLS gateway and the runner's relay, so that what the agent talks to has no way out."""
