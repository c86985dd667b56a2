import asyncio
import time

import pytest

from incident_arena.workload.effects import EffectWatch


async def test_one_look_serves_all_who_wait():
    looks: list[set[str]] = []

    async def look(marks):
        looks.append(set(marks))
        return {"a", "b"} if len(looks) > 1 else set()

    watch = EffectWatch(look, every_s=0.02)
    started = time.time()
    seen = await asyncio.gather(watch.seen("a", 1), watch.seen("b", 1), watch.seen("c", 0.2))
    assert all(moment is not None and started < moment <= time.time() for moment in seen[:2])
    assert seen[2] is None
    assert looks[0] == {"a", "b", "c"}
    assert looks[2] == {"c"}
    assert len(looks) < 20
    await watch.close()


async def test_nobody_looks_when_nobody_waits():
    looks = 0

    async def look(marks):
        nonlocal looks
        looks += 1
        return marks

    watch = EffectWatch(look, every_s=0.01)
    assert await watch.seen("a", 1) is not None
    before = looks
    await asyncio.sleep(0.1)
    assert looks == before == 1
    assert await watch.seen("b", 1) is not None


async def test_a_fault_of_the_look_reaches_those_who_wait():
    async def look(_):
        raise KeyError("ours")

    watch = EffectWatch(look, every_s=0.01)
    with pytest.raises(KeyError, match="ours"):
        await watch.seen("a", 1)
