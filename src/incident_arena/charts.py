"""What an application's chart says of it, for those who need no cluster to know."""

from pathlib import Path
from typing import Any

import yaml


def application(chart: Path) -> dict[str, Any]:
    """What a chart tells the harness of its application; empty without such a chart."""
    values = chart / "values.yaml"
    told = yaml.safe_load(values.read_text()) if values.is_file() else None
    found = ((told or {}).get("harness") or {}).get("application")
    return found if isinstance(found, dict) else {}


def kinds(chart: Path) -> dict[str, str]:
    """Kind of each store of a chart's application, by its name."""
    return {str(each["name"]): str(each["kind"]) for each in application(chart).get("stores") or []}
