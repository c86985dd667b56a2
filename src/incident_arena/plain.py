"""Text that others wrote (agents, trials, endpoints, names of folders), made harmless for a terminal and a document.

A terminal obeys escape sequences, C1 controls do the same in one character, and marks of direction show a line in
another order than it is in. None of them is text, so each is shown as a mark that something stood there.
"""

import json
import re
import unicodedata

MARK = "\N{REPLACEMENT CHARACTER}"
_ODD = re.compile("[^\n -~]+")


def plain(text: str) -> str:
    """The text with its line breaks and tabs, without control, format, surrogate or unassigned characters."""
    if text.isprintable():
        return text
    return "".join(one if one in "\n\t" or unicodedata.category(one)[0] != "C" else MARK for one in text)


def one_line(text: str) -> str:
    """The same on one line, runs of white space as one blank."""
    return plain(" ".join(text.split()))


def json_safe(document: str) -> str:
    """A JSON document with its control characters written as escapes: nothing is lost, and nothing moves a terminal."""
    return _ODD.sub(lambda found: "".join(map(_escaped, found[0])), document)


def _escaped(one: str) -> str:
    return one if unicodedata.category(one)[0] != "C" else json.dumps(one)[1:-1].replace("\x7f", "\\u007f")
