"""Incident-Arena: live incidents on real Kubernetes clusters, repaired by agents and judged by code."""

__version__ = "0.1.0"
