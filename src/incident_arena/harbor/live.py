"""What an episode's referee writes while it goes on, read from outside: only what is new, a bounded piece at a time."""

from collections.abc import Sequence
from dataclasses import dataclass

from incident_arena.catalogue.names import REFEREE
from incident_arena.errors import InfrastructureError
from incident_arena.kube import Kube

LOOK_S = 10.0
CHUNK = 256 << 10
"""Bytes of one file in one look."""
HEAD_FIELDS = 3


@dataclass(frozen=True)
class Source:
    """A file in the referee's pod.

    Attributes:
        name: what it is here.
        path: there.
        mode: `all` gets every line, if need be in several looks; `latest` leaves out what is more than one look can
            take; `whole` is a small file that is read anew each time.
    """

    name: str
    path: str
    mode: str = "all"


SOURCES = (
    Source("task", "/evidence/task.json", "whole"),
    Source("state", "/evidence/state.json", "whole"),
    Source("declaration", "/evidence/declaration.json", "whole"),
    Source("stages", "/evidence/stages.jsonl"),
    Source("observations", "/evidence/live/observations.jsonl", "latest"),
    Source("health", "/evidence/live/health.jsonl", "latest"),
    Source("ledger", "/ledger/ledger.jsonl", "latest"),
    Source("acts", "/evidence/live/acts.jsonl"),
)

# stat and tail touch nothing but the piece that is asked for. A file that has become shorter has been rotated.
_SCRIPT = """
while [ $# -gt 0 ]; do
  size=$(stat -c %s "$1" 2>/dev/null || echo 0)
  from=$2; [ "$from" -le "$size" ] || from=0
  if [ "$4" = latest ] && [ $((size - from)) -gt "$3" ]; then from=$((size - $3)); fi
  count=$((size - from)); [ "$count" -le "$3" ] || count=$3
  echo "$size $from $count"
  [ "$count" -eq 0 ] || tail -c "+$((from + 1))" "$1" | head -c "$count"
  shift 4
done
"""


class Live:
    """Follows one episode.

    Args:
        kube: its cluster.
        sources: what is read.
    """

    def __init__(self, kube: Kube, sources: Sequence[Source] = SOURCES) -> None:
        """See the class."""
        self._kube = kube
        self._sources = sources
        self._offset = dict.fromkeys((source.name for source in sources), 0)
        self._rest = dict.fromkeys((source.name for source in sources), b"")
        self._pod = ""

    async def look(self) -> dict[str, list[str]]:
        """What is new since the last look: whole lines by the source's name; of a `whole` file its text as one.

        Raises:
            InfrastructureError: the referee's pod is not there, or can't be reached.
        """
        self._pod = self._pod or await self._kube.pod_of(REFEREE)
        asked = [
            word
            for source in self._sources
            for word in (source.path, str(self._offset[source.name]), str(CHUNK), source.mode)
        ]
        said = bytearray()
        ended = await self._kube.exec(
            self._pod,
            ("sh", "-c", _SCRIPT, "arena-watch", *asked),
            deadline_s=LOOK_S,
            sink=lambda stream, data: said.extend(data) if stream == "stdout" else None,
        )
        if ended.exit != 0:
            raise InfrastructureError("a look at the referee's files", ended.stderr.strip())
        return self._taken(bytes(said))

    def _taken(self, said: bytes) -> dict[str, list[str]]:
        new: dict[str, list[str]] = {}
        for source in self._sources:
            head, newline, said = said.partition(b"\n")
            fields = head.split()
            if not newline or len(fields) != HEAD_FIELDS:
                raise InfrastructureError("a look at the referee's files", "ended early")
            _, start, count = map(int, fields)
            data, said = said[:count], said[count:]
            new[source.name] = self._lines(source, start, data)
        return new

    def _lines(self, source: Source, start: int, data: bytes) -> list[str]:
        name = source.name
        if source.mode == "whole":
            return [data.decode(errors="replace")] if data else []
        follows, self._offset[name] = start == self._offset[name], start + len(data)
        if follows:
            data = self._rest[name] + data
        elif start > 0:
            data = data.partition(b"\n")[2]  # the rest of a line whose beginning was left out
        whole, newline, self._rest[name] = data.rpartition(b"\n")
        return whole.decode(errors="replace").split("\n") if newline else []
