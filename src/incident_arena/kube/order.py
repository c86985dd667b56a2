"""In which order objects are created: what others wait for comes first."""

import re

LAST = frozenset({"Deployment", "Pod"})
"""Helm puts StatefulSets and Jobs after these; stores and setup jobs are what the rest waits for."""

_KIND = re.compile(r"^kind: *(\w+)", re.MULTILINE)
_SEPARATOR = re.compile(r"^---\s*$", re.MULTILINE)


def stores_first(manifests: str) -> str:
    """The same documents, Deployments and Pods at the end; otherwise in the order they had.

    Args:
        manifests: YAML documents, as Helm writes them.
    """
    documents = [document.strip("\n") for document in _SEPARATOR.split(manifests) if document.strip()]
    ordered = sorted(documents, key=lambda document: _kind(document) in LAST)
    return "".join(f"---\n{document}\n" for document in ordered)


def _kind(document: str) -> str:
    match = _KIND.search(document)
    return match[1] if match else ""
