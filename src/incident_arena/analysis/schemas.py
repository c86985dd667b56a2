"""JSON Schemas of the files that results are kept in, and the reference page of the report's tables.

`python -m incident_arena.analysis.schemas` writes both into docs/reference/, or into the folder that it is given.
"""

import json
import sys
from pathlib import Path
from typing import get_args

from pydantic import BaseModel

from incident_arena.analysis.attempts import Attempt
from incident_arena.analysis.compare import Compared
from incident_arena.analysis.cost import PriceList
from incident_arena.analysis.judgements import Judgement
from incident_arena.analysis.report import Report
from incident_arena.analysis.rows import ComparedTaskRow, ComparisonRow, Row

FOLDER = Path("docs/reference")
FILES: dict[str, type[BaseModel]] = {
    "report": Report,
    "judgement": Judgement,
    "prices": PriceList,
    "attempt": Attempt,
}


HEAD = """\
# Tables of a report

Made from the code by `python -m incident_arena.analysis.schemas`. Names are those of `report.json`, of `--table` and of
the CSV files. Shares run from 0 to 1; money is US dollars, time seconds.
"""


def schemas() -> dict[str, str]:
    """Each schema as text, by the name of its file."""
    return {
        f"{name}.json": json.dumps(model.model_json_schema(), indent=1, sort_keys=True) + "\n"
        for name, model in FILES.items()
    }


def reference() -> str:
    """The reference page: every table with its columns."""
    parts = [HEAD]
    for name, field in Report.model_fields.items():
        kinds = [kind for kind in (*get_args(field.annotation), field.annotation) if isinstance(kind, type)]
        row = next((kind for kind in kinds if issubclass(kind, Row) and kind is not Compared), None)
        if row is not None:
            parts.append(_table(name, field.title or name, row))
        elif Compared in kinds:
            parts.append(_table("comparison", "Comparison", ComparisonRow))
            parts.append(_table("comparison_tasks", "Comparison by task", ComparedTaskRow))
    return "\n".join(parts)


def _table(name: str, title: str, row: type[Row]) -> str:
    lines = [f"## `{name}`: {title}", "", " ".join((row.__doc__ or "").split()), "", "| field | column | meaning |"]
    lines.append("| --- | --- | --- |")
    lines += [
        f"| {key} | {field.title or key} | {field.description or ''} |" for key, field in row.model_fields.items()
    ]
    return "\n".join(lines) + "\n"


def documents() -> dict[str, str]:
    """All that is written, by its path below docs/reference/."""
    return {f"schemas/{name}": text for name, text in schemas().items()} | {"report.md": reference()}


def main(folder: Path) -> None:
    """Write them."""
    for name, text in documents().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
