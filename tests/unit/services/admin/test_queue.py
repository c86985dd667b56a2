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


async def test_started_jobs_are_named_without_their_execution(call, store) -> None:
    store.zadd(f"rq:wip:{FULL}", {"s2:4711": 2})
    _, answer = await call("GET", "/queues/short/jobs?state=started")
    assert [job["id"] for job in answer["jobs"]] == ["s1", "s2"]


@pytest.fixture
def left(store: redis.Redis) -> redis.Redis:
    """Besides: one job that was taken and one that was started, by a worker that was killed in between."""
    store.rpush(f"rq:queue:{FULL}:intermediate", "t1")
    for name in ("t1", "s2"):
        store.hset(f"rq:job:{name}", mapping={"status": "started", "worker_name": "dead", "data": b"\x80\x04."})
    store.zadd(f"rq:wip:{FULL}", {"s2:4711": 5_000_000_000})
    store.zadd("rq:executions:s2", {"4711": 5_000_000_000})
    store.hset("rq:execution:s2:4711", mapping={"id": "4711"})
    worker(store, "dead", current_job="s2", ip_address="192.0.2.9:41000")
    return store


def worker(store: redis.Redis, name: str, host: str = "", birth: str = "2026-01-01T00:00:00Z", **told: str) -> None:
    key = f"rq:worker:{name}"
    store.sadd(f"rq:workers:{FULL}", key)
    store.hset(key, mapping={"hostname": host or name, "birth": birth, **told})


async def test_jobs_that_a_worker_left_are_shown_and_put_back(call, left) -> None:
    assert (await call("GET", "/queues"))[1]["queues"]["short"]["taken"] == 1
    assert [job["id"] for job in (await call("GET", "/queues/short/jobs?state=taken"))[1]["jobs"]] == ["t1"]
    _, answer = await call("POST", "/queues/short/requeue-left")
    assert answer["requeued"] == ["s1", "s2", "t1"]
    assert {b"s2", b"t1"} <= set(left.lrange(f"rq:queue:{FULL}", 3, -1))
    assert left.llen(f"rq:queue:{FULL}:intermediate") == left.zcard("rq:wip:" + FULL) == 0
    assert not left.exists("rq:execution:s2:4711")
    assert left.hget("rq:job:s2", "status") == b"queued"
    assert call.actions()[-1]["what"] == "queue-requeue-left"
    assert (await call("POST", "/queues/short/requeue-left"))[1] == {"requeued": []}


async def test_one_that_was_left_is_put_back(call, left) -> None:
    assert (await call("POST", "/queues/short/jobs/t1/requeue"))[0] == 200
    assert left.lrange(f"rq:queue:{FULL}", 0, -1)[-1] == b"t1"


@pytest.mark.parametrize("told", [{"ip_address": "127.0.0.1:5"}, {"ip_address": "unknown"}, {}])
async def test_what_a_living_worker_does_is_not_put_back(call, left, told: dict[str, str]) -> None:
    worker(left, "alive", current_job="s1", **told)
    assert (await call("POST", "/queues/short/jobs/s1/requeue"))[0] == 404
    assert sorted((await call("POST", "/queues/short/requeue-left"))[1]["requeued"]) == ["s2", "t1"]
    assert left.zrange(f"rq:wip:{FULL}", 0, -1) == [b"s1"]


async def test_a_worker_that_another_followed_on_its_host_lives_no_more(call, left) -> None:
    worker(left, "before", "host", current_job="s1", ip_address="127.0.0.1:5")
    worker(left, "after", "host", birth="2026-01-01T00:00:09Z", ip_address="127.0.0.1:6")
    assert (await call("POST", "/queues/short/jobs/s1/requeue"))[0] == 200


async def test_delete_takes_a_job_from_wherever_it_is(call, left) -> None:
    for job in ("t1", "s2"):
        assert (await call("DELETE", f"/queues/short/jobs/{job}"))[0] == 200
    assert left.llen(f"rq:queue:{FULL}:intermediate") == 0
    assert left.zrange(f"rq:wip:{FULL}", 0, -1) == [b"s1"]


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
