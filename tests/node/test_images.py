"""Images built by buildah itself: once, by one process at a time, and whole after a build that was killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from incident_arena.images import build, store
from incident_arena.settings import Settings
from incident_arena.wait import until

pytestmark = pytest.mark.node

BUILD = (
    "import sys; from pathlib import Path; from incident_arena.images import build; "
    "from incident_arena.settings import Settings; "
    "root = Path(sys.argv[2]); say = lambda text: print(text, flush=True); "
    "settings = Settings(home=Path(sys.argv[1])); "
    "build.build_images(settings, build.plain_names(settings, root), say, root)"
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in {"low": "FROM scratch\n", "high": "FROM arena.local/low\n"}.items():
        folder = tmp_path / "checkout/images/recipes" / name
        folder.mkdir(parents=True)
        (folder / "Dockerfile").write_text(f"{text}COPY content /{name}\nUSER 1000:1000\n")
        (folder / "content").write_bytes(os.urandom(1 << 20))
    return tmp_path / "checkout"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home")


def run(settings: Settings, root: Path) -> list[str]:
    said: list[str] = []
    build.build_images(settings, build.plain_names(settings, root), said.append, root)
    return [line.split()[2] for line in said if line.startswith("building image")]


def start(settings: Settings, root: Path) -> subprocess.Popen[str]:
    argv = [sys.executable, "-c", BUILD, str(settings.home), str(root)]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, start_new_session=True)


def test_unchanged_is_not_rebuilt_and_changed_is(settings: Settings, root: Path) -> None:
    assert run(settings, root) == ["low", "high"]
    assert run(settings, root) == []
    (root / "images/recipes/high/content").write_bytes(b"other")
    assert run(settings, root) == ["high"]
    for image in build.find_images(settings, build.plain_names(settings, root), root).values():
        store.verify(image.archive, image.reference)


def test_two_processes_build_once(settings: Settings, root: Path) -> None:
    both = [start(settings, root), start(settings, root)]
    said = "".join(process.communicate(timeout=120)[0] for process in both)
    assert [process.returncode for process in both] == [0, 0]
    assert said.count("building image") == 2


def test_a_killed_build_leaves_a_store_that_goes_on(settings: Settings, root: Path) -> None:
    (root / "images/recipes/low/content").write_bytes(os.urandom(1 << 27))
    process = start(settings, root)

    def working() -> tuple[bool, str]:
        seen = [path.name for path in settings.images.glob("context-*/Dockerfile")]
        return bool(seen), f"{seen}"

    until("a build is under way", working, deadline_s=30)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert not list(settings.images.glob("*.tar"))
    assert run(settings, root)[-1] == "high"
    assert not [path for path in settings.images.iterdir() if path.name.startswith("context-") or path.suffix == ".tmp"]
    assert str(settings.images) not in Path("/proc/self/mounts").read_text()
    for image in build.find_images(settings, build.plain_names(settings, root), root).values():
        store.verify(image.archive, image.reference)
