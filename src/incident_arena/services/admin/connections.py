"""Verbs on the application's connection settings: which server, account and password its components use."""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass

from incident_arena.services.admin.components import Components
from incident_arena.services.admin.config import Connection
from incident_arena.services.cluster import Cluster
from incident_arena.verbs.acts import Act, Answer, Body, Call, Refusal, Route, detail, one_of
from incident_arena.verbs.command import Argument, Command

KINDS = {"ConfigMap": "configmaps", "Secret": "secrets"}


class Value(Body):
    """A new value."""

    value: str


@dataclass(frozen=True)
class Connections:
    """The verbs, on the settings `known`. A setting that is kept in a Secret can be replaced but not read."""

    known: Mapping[str, Connection]
    kubernetes: Cluster
    components: Components

    def routes(self) -> list[Route]:
        """The verbs on connection settings."""
        setting, value = Argument("setting"), Argument("value")
        about = "the application's connection settings"
        return [
            Route(
                "connections", "GET", "/connections", "read", self.show, about,
                (Command("connections", about, narrows=True),),
            ),
            Route(
                "connection-set", "PUT", "/connections/{setting}", "change", self.set,
                "change one and restart what reads it: {value}",
                (Command("connection-set", "change a connection setting and restart what reads it", (setting, value)),),
            ),
        ]  # fmt: skip

    async def show(self, _call: Call) -> Act:
        """All settings; secret ones without their values."""

        async def effect() -> Answer:
            return {"connections": {name: await self._one(setting) for name, setting in self.known.items()}}

        return Act("connections", "", effect)

    async def set(self, call: Call) -> Act:
        """Change a setting, then replace the pods that read it."""
        name = one_of("the connection setting", call.path["setting"], self.known)
        setting = self.known[name]
        value = call.parse(Value).value
        if not re.fullmatch(setting.pattern, value):
            raise Refusal(f"the value of {name}", f"does not match {setting.pattern}")
        encoded = base64.b64encode(value.encode()).decode() if setting.object == "Secret" else value

        async def effect() -> Answer:
            change = {"data": {setting.key: encoded}}
            await self.kubernetes.patch(KINDS[setting.object], setting.name, change)
            for component in setting.consumers:
                await self.components.roll(component)
            return {"setting": name, "restarted": list(setting.consumers)}

        shown = "(hidden)" if setting.object == "Secret" else value
        return Act("connection-set", detail(setting=name, value=shown), effect)

    async def _one(self, setting: Connection) -> Answer:
        if setting.object == "Secret":
            return {"secret": True, "consumers": list(setting.consumers)}
        data = (await self.kubernetes.get("configmaps", setting.name)).get("data", {})
        return {"value": data.get(setting.key), "consumers": list(setting.consumers)}
