import pytest

from incident_arena.errors import UserError
from incident_arena.harbor.endpoints import merge, route


@pytest.mark.parametrize(
    ("url", "in_pod", "upstreams"),
    [
        ("https://api.example.com/v1", "https://api.example.com/v1", {}),
        ("https://api.example.com:443/v1", "https://api.example.com/v1", {}),
        ("https://API.example.com", "https://api.example.com", {}),
        (
            "http://127.0.0.1:8000/v1",
            "https://model.arena.internal/v1",
            {"model.arena.internal": "http://127.0.0.1:8000"},
        ),
        ("http://localhost/v1/", "https://model.arena.internal/v1/", {"model.arena.internal": "http://localhost:80"}),
        ("https://localhost/v1", "https://model.arena.internal/v1", {"model.arena.internal": "https://localhost:443"}),
        ("http://[::1]:9", "https://model.arena.internal", {"model.arena.internal": "http://[::1]:9"}),
        ("http://10.1.2.3:8000/a", "https://model.arena.internal/a", {"model.arena.internal": "http://10.1.2.3:8000"}),
        ("http://lab.example:8000/a?b=c", "https://lab.example/a?b=c", {"lab.example": "http://lab.example:8000"}),
        ("http://lab.example/a", "https://lab.example/a", {"lab.example": "http://lab.example:80"}),
        ("https://lab.example:8443/a#x", "https://lab.example/a", {"lab.example": "https://lab.example:8443"}),
    ],
)
def test_a_url_becomes_one_that_the_gateway_opens(url: str, in_pod: str, upstreams: dict[str, str]) -> None:
    assert route(url) == (in_pod, upstreams)
    assert route(in_pod)[0] == in_pod


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("127.0.0.1:8000", "is no http or https URL"),
        ("ftp://host/", "is no http or https URL"),
        ("https:///v1", "is no http or https URL"),
        ("https://host:port/v1", "(?i)port"),
        ("https://me:secret@host/v1", "holds a password"),
    ],
)
def test_what_is_no_url_is_refused_and_a_password_not_repeated(url: str, told: str) -> None:
    with pytest.raises(UserError, match=told) as refused:
        route(url)
    assert refused.value.remedy
    assert "secret" not in str(refused.value)


def test_one_name_stands_for_one_server() -> None:
    first, second = route("http://127.0.0.1:1/v1")[1], route("http://127.0.0.1:2/v1")[1]
    lab = route("http://lab.example:8000")[1]
    assert merge([first, lab, first]) == first | lab
    with pytest.raises(UserError, match="would both be model"):
        merge([first, second])
