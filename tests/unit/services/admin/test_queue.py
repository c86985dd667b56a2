"""The job queues, in RQ's own layout in a real Redis."""

import zlib

import pytest
import redis

FULL = "home-site:short"


@pytest.fixture
def store(queue_store) -> redis.Redis:
    """Three waiting jobs, two failed ones, one under way."""
    client = redis.Redis(port=queue_store[1], username="admin", password="admin-password")
    client.sadd("rq:queues", f"rq:queue:{FULL}")
    client.sadd("rq:workers:home-site:long", "w1")
    for name in ("w1", "w2", "w3", "f1", "f2", "s1"):
        client.hset(f"rq:job:{name}", mapping={"status": "queued", "description": f"run {name}", "data": b"\x80\x04."})
    client.rpush(f"rq:queue:{FULL}", "w1", "w2", "w3")
    client.zadd(f"rq:failed:{FULL}", {"f1": 1, "f2": 2})
    client.hset("rq:job:f1", mapping={"status": "failed", "exc_info": zlib.compress(b"Traceback\nNo delete for you")})
    client.expire("rq:job:f1", 1000)
    client.zadd(f"rq:wip:{FULL}", {"s1": 1})
    return client


@pytest.mark.usefixtures("store")
async def test_counts_by_state(call) -> None:
    _, answer = await call("GET", "/queues")
    short = answer["queues"]["short"]
    assert (short["queued"], short["failed"], short["started"], short["workers"]) == (3, 2, 1, 0)
    assert answer["queues"]["long"]["workers"] == 1


@pytest.mark.usefixtures("store")
async def test_jobs_of_a_state_with_their_error(call) -> None:
    _, answer = await call("GET", "/queues/short/jobs?state=failed")
    assert [job["id"] for job in answer["jobs"]] == ["f1", "f2"]
    assert "No delete for you" in answer["jobs"][0]["error"]
    _, answer = await call("GET", "/queues/short/jobs?count=2")
    assert [job["description"] for job in answer["jobs"]] == ["run w1", "run w2"]


async def test_requeue_puts_a_failed_job_at_the_end(call, store) -> None:
    assert (await call("POST", "/queues/short/jobs/f1/requeue"))[0] == 200
    assert store.lrange(f"rq:queue:{FULL}", 0, -1) == [b"w1", b"w2", b"w3", b"f1"]
    assert store.zrange(f"rq:failed:{FULL}", 0, -1) == [b"f2"]
    assert store.hget("rq:job:f1", "status") == b"queued"
    assert store.ttl("rq:job:f1") == -1
    assert (await call("POST", "/queues/short/jobs/w1/requeue"))[0] == 404
    assert store.llen(f"rq:queue:{FULL}") == 4


async def test_requeue_all(call, store) -> None:
    _, answer = await call("POST", "/queues/short/requeue-failed")
    assert answer["requeued"] == ["f1", "f2"]
    assert store.llen(f"rq:queue:{FULL}") == 5


async def test_delete_one(call, store) -> None:
    assert (await call("DELETE", "/queues/short/jobs/w2"))[0] == 200
    assert store.lrange(f"rq:queue:{FULL}", 0, -1) == [b"w1", b"w3"]
    assert not store.exists("rq:job:w2")
    assert (await call("DELETE", "/queues/short/jobs/w2"))[0] == 404


async def test_flush_deletes_waiting_jobs_alone(call, store) -> None:
    assert (await call("POST", "/queues/short/flush"))[1] == {"deleted": 3}
    assert store.llen(f"rq:queue:{FULL}") == 0
    assert store.zcard(f"rq:failed:{FULL}") == 2
    assert call.actions()[-1]["what"] == "queue-flush"


@pytest.mark.parametrize("path", ["/queues/none/jobs", "/queues/sh*rt/jobs"])
@pytest.mark.usefixtures("store")
async def test_unknown_queues(call, path: str) -> None:
    status, answer = await call("GET", path)
    assert status == 404
    assert "short" in answer["error"]["remedy"]


@pytest.mark.usefixtures("store")
async def test_unknown_states(call) -> None:
    assert (await call("GET", "/queues/short/jobs?state=../x"))[0] == 400
