"""What the charts are told for one episode: images, fresh passwords, the task, where the API server is."""

import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from incident_arena.formats.task import TaskSpec

PASSWORD_BYTES = 18

type Values = dict[str, Any]


def make(
    task: TaskSpec,
    task_folder: Path,
    *,
    episode: str,
    images: Mapping[str, str],
    api_address: str,
    egress: Values | None = None,
) -> Values:
    """Values for the substrate's chart; `global` reaches the harness chart in it.

    Args:
        task: as it will be played.
        task_folder: with the task's overlay `values.yaml`, if it has one.
        episode: its name.
        images: image name to full reference.
        api_address: the API server's own address, for the network policies.
        egress: the agent's way out, as `way_out.Relay.values` has it; None: there is none.
    """
    shared = {
        "images": dict(images),
        "accounts": {name: secrets.token_urlsafe(PASSWORD_BYTES) for name in accounts(task_folder / "chart")},
        "task": json.loads(task.model_dump_json()),
        "episode": episode,
        "egress": egress or {},
    }
    computed = {**shared, "global": shared, "harness": {"cluster": {"apiServer": {"addresses": [api_address]}}}}
    return merge(overlay(task_folder), computed)


def accounts(chart: Path) -> tuple[str, ...]:
    """Accounts that a chart names in its values, and those of the charts in it."""
    files = [chart / "values.yaml", *sorted(chart.glob("charts/*/values.yaml"))]
    values: list[Values] = [yaml.safe_load(file.read_text()) or {} for file in files if file.is_file()]
    return tuple(dict.fromkeys(name for each in values for name in each.get("accounts") or {}))


def overlay(task_folder: Path) -> Values:
    """The task's own values over the chart's; empty when it has none."""
    file = task_folder / "values.yaml"
    return (yaml.safe_load(file.read_text()) if file.exists() else None) or {}


def merge(under: Values, over: Values) -> Values:
    """`over` laid on `under`: mappings are merged, everything else is replaced."""
    merged = dict(under)
    for key, value in over.items():
        below = merged.get(key)
        merged[key] = merge(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return merged
