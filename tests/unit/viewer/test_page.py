import base64
import hashlib
import re
from importlib import metadata
from pathlib import Path

import pytest

from incident_arena.errors import InfrastructureError
from incident_arena.viewer import page as module
from incident_arena.viewer.page import page


def inline(text: str) -> list[str]:
    return re.findall(r"<script>(.*?)</script>", text, re.DOTALL)


def test_the_policy_allows_exactly_the_pages_own_script_and_style():
    text = page("t", "aW5kZXg=", {})
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy
    [style] = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in [*inline(text), style]]

    allowed = re.findall(r"sha256-([A-Za-z0-9+/=]+)", policy[1])
    assert len(inline(text)) == 2
    assert allowed == digests
    assert "default-src &#39;none&#39;" in policy[1]
    assert "unsafe" not in policy[1]


def test_the_library_keeps_its_notice():
    assert "https://github.com/leeoniya/uPlot" in inline(page("t", "", {}))[0]


def test_no_script_ends_early_or_loads_from_elsewhere():
    text = page("t", "aW5kZXg=", {3: "cGFjaw=="})

    assert text.count("</script>") == 4
    assert not re.search(r'(src|href)="https?:', text)
    assert '<script type="text/plain" id="pack-3">cGFjaw==</script>' in text


def test_the_title_is_escaped():
    assert "<title>&lt;b&gt;" in page("<b>", "", {})


def test_without_the_library_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch):
    def missing(_: str) -> None:
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(module.metadata, "files", missing)

    with pytest.raises(InfrastructureError, match="install again"):
        page("t", "", {})


def test_every_static_file_is_used():
    folder = Path(module.__file__).parent / "static"

    assert {path.name for path in folder.iterdir()} == {*module.SCRIPTS, *module.STYLES, "page.html"}
