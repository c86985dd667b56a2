"""A small OCI archive, made by hand."""

import hashlib
import io
import json
import tarfile
from pathlib import Path


def write(archive: Path, reference: str, layer: bytes = b"layer", named: bytes | None = None) -> None:
    """Write an image with one layer; `named` is the content that the layer's digest is made of."""
    blobs: dict[str, bytes] = {}

    def blob(content: bytes, digest_of: bytes | None = None) -> dict[str, str | int]:
        digest = hashlib.sha256(content if digest_of is None else digest_of).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = content
        return {"digest": f"sha256:{digest}", "size": len(content)}

    manifest = {"config": blob(b"{}"), "layers": [blob(layer, named)]}
    entry = blob(json.dumps(manifest).encode())
    index = {"manifests": [{**entry, "annotations": {"org.opencontainers.image.ref.name": reference}}]}
    with tarfile.open(archive, "w") as tar:
        for name, content in {"index.json": json.dumps(index).encode(), **blobs}.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
