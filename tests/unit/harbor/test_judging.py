"""The judge's sandbox has the one service that Harbor knows."""

from pathlib import Path

import pytest

from incident_arena.errors import InfrastructureError
from incident_arena.harbor.judging import Judging


async def test_other_services_are_refused(tmp_path: Path) -> None:
    place = Judging()
    for asked in (
        place.exec("referee", "true", cwd=None, env=None, deadline_s=5),
        place.upload("referee", tmp_path, "/evidence"),
        place.download("referee", "/evidence", tmp_path),
        place.stop_service("main"),
    ):
        with pytest.raises(InfrastructureError, match="no services"):
            await asked


async def test_main_is_the_sandbox() -> None:
    place = Judging()
    await place.start()
    try:
        assert (await place.exec("main", "echo $A", cwd=None, env={"A": "b"}, deadline_s=30)).stdout == "b\n"
    finally:
        await place.stop(delete=False)
