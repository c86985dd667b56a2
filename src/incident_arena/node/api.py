"""The little that starting a node asks of its API server, before any client of size is worth its start."""

import http.client
import json
import ssl
from typing import Any

from incident_arena.node.spec import API_PORT, NodeSpec


class Api:
    """A connection to one node's API server with the administrator's certificate."""

    def __init__(self, spec: NodeSpec) -> None:
        pki = spec.folder / "pki"
        context = ssl.create_default_context(cafile=str(pki / "ca.crt"))
        context.load_cert_chain(pki / "admin.crt", pki / "admin.key")
        self._connection = http.client.HTTPSConnection(spec.ip, API_PORT, context=context, timeout=2)

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """One request.

        Returns:
            Status and body: parsed where it is JSON, else text. Status 0 and the reason when nothing answered.
        """
        try:
            data = json.dumps(body) if body is not None else None
            self._connection.request(method, path, data, {"Content-Type": "application/json"})
            response = self._connection.getresponse()
            text = response.read().decode(errors="replace")
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            return 0, str(error)
        is_json = response.headers.get_content_type() == "application/json"
        return response.status, json.loads(text) if is_json else text

    def close(self) -> None:
        """End the connection."""
        self._connection.close()
