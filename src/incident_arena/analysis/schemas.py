"""JSON Schemas of the files that results are kept in.

`python -m incident_arena.analysis.schemas` writes them into docs/reference/schemas/, or into the folder it is given.
"""

import json
import sys
from pathlib import Path

from pydantic import BaseModel

from incident_arena.analysis.attempts import Attempt
from incident_arena.analysis.cost import PriceList
from incident_arena.analysis.judgements import Judgement
from incident_arena.analysis.report import Report

FOLDER = Path("docs/reference/schemas")
FILES: dict[str, type[BaseModel]] = {
    "report": Report,
    "judgement": Judgement,
    "prices": PriceList,
    "attempt": Attempt,
}


def schemas() -> dict[str, str]:
    """Each schema as text, by the name of its file."""
    return {
        f"{name}.json": json.dumps(model.model_json_schema(), indent=1, sort_keys=True) + "\n"
        for name, model in FILES.items()
    }


def main(folder: Path) -> None:
    """Write them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in schemas().items():
        (folder / name).write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
