"""A cluster behind a kubeconfig: run in pods, copy files, render charts, apply, wait."""

from incident_arena.kube.client import NAMESPACE, Kube
from incident_arena.kube.ready import HopelessError, Readiness
from incident_arena.kube.transfer import TransferError

__all__ = ["NAMESPACE", "HopelessError", "Kube", "Readiness", "TransferError"]
