"""Connection settings of the application."""

import base64

import pytest


async def test_secrets_are_not_shown(call) -> None:
    _, answer = await call("GET", "/connections")
    assert answer["connections"]["db-user"]["value"] == "site"
    assert "secret" not in str(answer["connections"]["db-password"].get("value", ""))
    assert "c2VjcmV0" not in str(answer)


async def test_a_change_reaches_the_object_and_restarts_its_readers(call, cluster) -> None:
    status, answer = await call("PUT", "/connections/db-user", {"value": "operator"})
    assert (status, answer["restarted"]) == (200, ["web"])
    assert cluster.objects["configmaps/connection"]["data"]["DB_USER"] == "operator"
    assert ("PATCH", "deployments/web") in cluster.calls


async def test_a_secret_is_replaced_and_kept_out_of_the_audit(call, cluster) -> None:
    assert (await call("PUT", "/connections/db-password", {"value": "new-word"}))[0] == 200
    assert base64.b64decode(cluster.objects["secrets/connection"]["data"]["DB_PASSWORD"]) == b"new-word"
    assert "new-word" not in str(call.actions())


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("nothing", "x", 404),
        ("db-user", "", 400),
        ("db-user", "a\nb", 400),
        ("db-user", "$(id)", 400),
        ("db-user", 1, 400),
    ],
)
async def test_odd_ones_are_refused(call, cluster, name: str, value: object, status: int) -> None:
    assert (await call("PUT", f"/connections/{name}", {"value": value}))[0] == status
    assert cluster.calls == []
