"""The agent's way out: `connect` is a CONNECT proxy with an allow-list, `host` knows the machine's own proxy.

    agent's pod ── TLS gateway ── egress proxy ── relay (the runner's) ── the machine's proxy, if any ── the model

Egress proxy and relay are the same program with another way to dial.
"""
