"""What a build takes over from the machine: Debian's mirror, the configuration of pip and npm. Nothing is assumed.

The latter two reach a build as secrets: they are mounted for a step that asks for them, and are in no image and in no
key.
"""

import configparser
import io
import os
import re
from collections.abc import Mapping
from pathlib import Path

DEBIAN = "http://deb.debian.org/debian"
CA_TARGET = "/run/secrets/ca.crt"
"""Where the Dockerfiles mount the machine's certificates."""

_CONFIG_FILES = ("/etc/xdg/pip/pip.conf", "/etc/pip.conf", "~/.pip/pip.conf", "~/.config/pip/pip.conf")
_NPM_FILES = ("/etc/npmrc", "~/.npmrc")
_CA_VARIABLES = ("PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
_NOT_CARRIED = frozenset(
    {"cert", "client-cert", "config-file", "cache-dir", "target", "prefix", "user", "require-virtualenv"}
)


def mirrors(etc_apt: Path) -> tuple[str, str]:
    """Debian's mirror and security mirror, as this machine's apt uses them; Debian's own when it is not a Debian.

    Args:
        etc_apt: the folder of apt's configuration.
    """
    text = "\n".join(path.read_text(errors="replace") for path in sorted(etc_apt.glob("sources.list*/*.sources")))
    uris = [uri for line in re.findall(r"^URIs:(.*)$", text, re.MULTILINE) for uri in line.split()]
    lists = [etc_apt / "sources.list", *sorted(etc_apt.glob("sources.list.d/*.list"))]
    lines = "\n".join(path.read_text(errors="replace") for path in lists if path.exists())
    uris += re.findall(r"^\s*deb\s+(?:\[[^\]]*\]\s+)?(\S+)", lines, re.MULTILINE)
    archives = [uri.rstrip("/") for uri in uris if uri.rstrip("/").endswith("/debian")]
    security = [uri.rstrip("/") for uri in uris if uri.rstrip("/").endswith("/debian-security")]
    archive = archives[0] if archives else DEBIAN
    return archive, security[0] if security else f"{archive}-security"


def pip_configuration(environment: Mapping[str, str], home: Path) -> str:
    """One pip.conf that says what this machine's files and PIP_* variables say.

    Settings that name a local path are left out, since the path is not in the build; certificates come by themselves.

    Args:
        environment: variables.
        home: the user's home folder.
    """
    values: dict[str, str] = {}
    files = [path.replace("~", str(home), 1) for path in _CONFIG_FILES]
    for path in [*files, environment.get("PIP_CONFIG_FILE", "")]:
        if path and Path(path).is_file():
            parser = configparser.RawConfigParser()
            parser.read(path)
            for section in ("global", "install"):
                values |= dict(parser.items(section)) if parser.has_section(section) else {}
    for name, value in environment.items():
        if name.startswith("PIP_"):
            values[name.removeprefix("PIP_").lower().replace("_", "-")] = value
    merged = configparser.RawConfigParser()
    merged["global"] = {k: v for k, v in values.items() if k not in _NOT_CARRIED and not v.lstrip().startswith("/")}
    if certificates(environment):
        merged["global"]["cert"] = CA_TARGET
    text = io.StringIO()
    merged.write(text)
    return text.getvalue()


def npm_configuration(environment: Mapping[str, str], home: Path) -> str:
    """One .npmrc that says what this machine's files and NPM_CONFIG_* variables say; local paths as for pip.

    Args:
        environment: variables.
        home: the user's home folder.
    """
    values: dict[str, str] = {}
    files = [path.replace("~", str(home), 1) for path in _NPM_FILES]
    for path in [*files, environment.get("NPM_CONFIG_USERCONFIG", "")]:
        if path and Path(path).is_file():
            lines = re.findall(r"^\s*([^\s;#=][^=]*?)\s*=\s*(.*?)\s*$", Path(path).read_text(), re.MULTILINE)
            values |= {name: _expanded(value, environment) for name, value in lines}
    for name, value in environment.items():
        if name.upper().startswith("NPM_CONFIG_"):
            values[name[len("NPM_CONFIG_") :].lower().replace("_", "-")] = value
    told = {name: value for name, value in values.items() if not value.startswith(("/", "~"))}
    if certificates(environment):
        told["cafile"] = CA_TARGET
    return "".join(f"{name}={value}\n" for name, value in told.items())


def _expanded(value: str, environment: Mapping[str, str]) -> str:
    """With the variables filled in that npm itself would fill in: they are not there in the build."""
    return re.sub(r"\$\{(\w+)\}", lambda found: environment.get(found[1], found[0]), value)


def certificates(environment: Mapping[str, str]) -> Path | None:
    """The bundle that this machine's clients are told to trust; None when they are told nothing."""
    for variable in _CA_VARIABLES:
        path = Path(environment.get(variable, ""))
        if path.is_file():
            return path
    return None


def environment() -> Mapping[str, str]:
    """This process's variables."""
    return os.environ
