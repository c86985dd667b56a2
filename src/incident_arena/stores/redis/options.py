"""Redis' option file, redis.conf."""

import shlex

from incident_arena.errors import UserError


def read(text: str) -> dict[str, list[list[str]]]:
    """Directive, in small letters, to the arguments of each of its lines, in order.

    Raises:
        UserError: quotes that do not end.
    """
    options: dict[str, list[list[str]]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            words = shlex.split(line, comments=False)
        except ValueError as error:
            raise UserError(f"redis.conf, line {number}", str(error)) from error
        options.setdefault(words[0].lower(), []).append(words[1:])
    return options
