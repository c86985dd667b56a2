"""Evidence that is bent in any way gives a verdict or one clear error; never a crash, nor a reward by accident."""

import json
import random
from pathlib import Path

import pytest
from tests.support.evidence import build, digest

from incident_arena.errors import ArenaError
from incident_arena.judge.decide import judge
from incident_arena.judge.evidence import OPTIONAL, REQUIRED, load

FILES = (*REQUIRED, *OPTIONAL)


def bend(content: bytes, chance: random.Random) -> bytes:
    """Leave out, repeat or alter some lines or values."""
    lines = content.split(b"\n")
    at = chance.randrange(len(lines))
    match chance.randrange(4):
        case 0:
            del lines[at : at + chance.randrange(1, 400)]
        case 1:
            lines.insert(at, lines[chance.randrange(len(lines))])
        case 2:
            lines = [line.replace(b"true", b"false") for line in lines]
        case _:
            digits = [place for place, byte in enumerate(lines[at]) if chr(byte).isdigit()]
            if digits:
                place = chance.choice(digits)
                lines[at] = lines[at][:place] + str(chance.randrange(10)).encode() + lines[at][place + 1 :]
    return b"\n".join(lines)


@pytest.mark.parametrize("seed", range(30))
def test_bent_evidence(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    folder = build(declared=chance.choice((None, 80.0, 190.0)), saved=chance.random() < 0.5).write(tmp_path)
    manifest = json.loads((folder / "manifest.json").read_text())
    for name in chance.sample(sorted(manifest["files"]), 3):
        content = bend((folder / name).read_bytes(), chance)
        (folder / name).write_bytes(content)
        manifest["files"][name] = digest(content).model_dump()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    try:
        verdict = judge(load(folder))
    except ArenaError as error:
        assert error.reason  # noqa: PT017  # either outcome is right; a crash is not
        return
    assert (verdict.reward == 1) <= all(check.verdict == "pass" for check in verdict.checks)
    assert not any(check.reason.startswith("the check raised") for check in verdict.checks)
