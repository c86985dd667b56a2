"""What is seen of an answer: each protocol's way to decline, and texts that only look like one."""

import pytest

from incident_arena.services.gateway.answers import Answer


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        (b'{"stop_reason": "refusal"}', "refusal"),
        (b'{"choices": [{"finish_reason": "content_filter", "message": {"content": null}}]}', "content_filter"),
        (b'{"choices": [{"finish_reason": "stop", "message": {"content": null, "refusal": "I cannot."}}]}', "refusal"),
        (b'data: {"choices": [{"delta": {"refusal": "I"}}]}\n\n', "refusal"),
        (b'{"output": [{"content": [{"type": "refusal", "refusal": "I cannot."}]}]}', "refusal"),
        (b'{"candidates": [{"finishReason": "SAFETY"}]}', "SAFETY"),
        (b'{"choices": [{"finish_reason": "stop", "message": {"content": "yes", "refusal": null}}]}', ""),
        (b'{"choices": [{"message": {"content": "", "refusal": ""}}]}', ""),
        (b'{"choices": [{"message": {"content": "say \\"refusal\\": \\"no\\""}}]}', ""),
    ],
)
def test_a_refusal_is_the_providers_own_word(body: bytes, refusal: str) -> None:
    answer = Answer(is_stream=body.startswith(b"data"))
    assert answer.see(body) == body
    assert answer.refusal == refusal
