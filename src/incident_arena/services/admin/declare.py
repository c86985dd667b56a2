"""The declaration that the repair is complete, and the history of what was done."""

import time
from dataclasses import dataclass

from incident_arena.formats.records import Declaration, NamedCause
from incident_arena.services.admin.audit import Audit
from incident_arena.verbs.acts import Act, Answer, Body, Call, Refusal, Route, detail
from incident_arena.verbs.command import Argument, Command

CAUSES = Argument("--causes", takes="some", metavar="COMPONENT.ASPECT", help="names from `admin vocabulary`")
NO_FAULT = Argument("--no-fault", takes="nothing", into="causes", value=[], help="nothing was broken")


class Report(Body):
    """What was the cause: names from the vocabulary; an empty list says that nothing was broken; None says nothing."""

    causes: list[str] | None = None


@dataclass(frozen=True)
class Declaring:
    """The verbs."""

    audit: Audit
    known: tuple[str, ...]
    """The vocabulary for causes."""

    def routes(self) -> list[Route]:
        """The verbs around the declaration."""
        count = Argument("--count", type="number", default=20)
        final = "declare that the repair is complete; final (also: declare_repair_complete)"
        return [
            Route(
                "history", "GET", "/history", "read", self.history, "what was done here: ?count=50",
                (Command("history", "what was done through this tool", (count,)),),
            ),
            Route(
                "vocabulary", "GET", "/vocabulary", "read", self.vocabulary, "causes that a declaration may name",
                (Command("vocabulary", "the causes that a declaration may name"),),
            ),
            Route(
                "declare", "POST", "/declare", "declare", self.declare, "the repair is complete; final: {causes?}",
                (Command("declare", final, (CAUSES, NO_FAULT)),),
            ),
        ]  # fmt: skip

    async def history(self, call: Call) -> Act:
        """The last actions, oldest first."""
        count = call.number("count", 50, 1000)

        async def effect() -> Answer:
            declared = self.audit.declaration()
            return {"declared": declared.at if declared else None, "actions": self.audit.history(count)}

        return Act("history", "", effect)

    async def vocabulary(self, _call: Call) -> Act:
        """Names for `causes`."""

        async def effect() -> Answer:
            return {"causes": list(self.known)}

        return Act("vocabulary", "", effect)

    async def declare(self, call: Call) -> Act:
        """Declare, once."""
        causes = call.parse(Report).causes
        unknown = [cause for cause in causes or [] if cause not in self.known]
        if unknown:
            raise Refusal(
                f"the cause {', '.join(unknown)}", "is not in the vocabulary", f"choose: {', '.join(self.known)}"
            )
        named = None if causes is None else tuple(_cause(cause) for cause in dict.fromkeys(causes))

        async def effect() -> Answer:
            declaration = Declaration(at=time.time(), causes=named)
            self.audit.declare(declaration)
            return {"declared": declaration.at, "causes": causes}

        return Act("declare", detail(causes=causes), effect)


def _cause(name: str) -> NamedCause:
    component, _, aspect = name.partition(".")
    return NamedCause(component=component, aspect=aspect)
