"""What is seen of an answer while it passes through. Nothing of it is kept but a word and a yes or no.

Formats: Anthropic messages, OpenAI responses and chat completions, Gemini generateContent, plain and as event streams.
In JSON a quotation mark inside a text is escaped, so that no text of a model can look like one of these fields.
"""

import re
import time

TAIL = 512
"""Bytes of a part that are looked at again with the next, since a field may lie across both."""

_REFUSALS = (
    re.compile(rb'(?<!\\)"stop_reason"\s*:\s*"(refusal)"'),
    re.compile(rb'(?<!\\)"finish_reason"\s*:\s*"(content_filter)"'),
    re.compile(rb'(?<!\\)"reason"\s*:\s*"(content_filter)"'),
    re.compile(rb'(?<!\\)"type"\s*:\s*"(refusal)"'),
    re.compile(rb'(?<!\\)"(refusal)"\s*:\s*"[^"]'),
    re.compile(rb'(?<!\\)"(?:finishReason|blockReason)"\s*:\s*"(SAFETY|PROHIBITED_CONTENT|BLOCKLIST|SPII)"'),
)
_ENDS = re.compile(
    rb'(?<!\\)"type"\s*:\s*"(?:message_stop|response\.(?:completed|incomplete|failed)|error)"'
    rb"|^data:\s*\[DONE\]"
    rb'|(?<!\\)"finishReason"\s*:\s*"[A-Z_]+"'
    rb'|(?<!\\)"finish_reason"\s*:\s*"[a-z_]+"'
    rb'|^data:\s*\{\s*"error"',
    re.MULTILINE,
)


class Answer:
    """One answer. `is_stream`: it is an event stream, which says itself when it is over."""

    def __init__(self, *, is_stream: bool) -> None:
        """See the class."""
        self._is_stream = is_stream
        self._tail = b""
        self._ended = False
        self.bytes = 0
        self.refusal = ""
        """The provider's own word when it declined on grounds of safety."""
        self.first: float | None = None
        """When its first byte came, by the monotonic clock."""

    def see(self, part: bytes) -> bytes:
        """Look at a part; returns it as it is."""
        if part and self.first is None:
            self.first = time.monotonic()
        self.bytes += len(part)
        text = self._tail + part
        for pattern in _REFUSALS:
            if found := pattern.search(text):
                self.refusal = found.group(1).decode()
        self._ended = self._ended or bool(_ENDS.search(text))
        self._tail = text[-TAIL:]
        return part

    @property
    def whole(self) -> bool:
        """It came to its end by its own word; one that is no event stream has none, and its framing decides."""
        return self._ended or not self._is_stream
