"""Events are the same wherever the network cuts them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.core.errors import NetError
from roundtable.speakers.sse import LONGEST_EVENT, MOST_LINES, EventReader

pytestmark = pytest.mark.requirement("I-01")

STREAM = (
    'event: a\ndata: {"text": "Tee — 茶 🫖"}\n\n: keep-alive\n\n'
    'data:{"n": 2}\r\n\r\nid: 7\rretry: 10\rdata: [1,\rdata: 2]\r\r'
    "data\n\ndata: \n\ndata:  two blanks\n\ndata: [DONE]\n\ndata: never ended"
).encode()
EVENTS = [
    '{"text": "Tee — 茶 🫖"}'.encode(),
    b'{"n": 2}',
    b"[1,\n2]",
    b"",
    b"",
    b" two blanks",
    b"[DONE]",
]


def read(*blocks: bytes) -> list[bytes]:
    reader = EventReader()
    return [event for block in blocks for event in reader.feed(block)]


def test_events_are_read_with_every_end_of_line_and_without_comments() -> None:
    assert read(STREAM) == EVENTS


def test_one_byte_at_a_time_makes_no_difference() -> None:
    assert read(*(STREAM[at : at + 1] for at in range(len(STREAM)))) == EVENTS


@given(st.lists(st.integers(0, len(STREAM))))
def test_no_cut_makes_a_difference(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(STREAM)]
    blocks = [STREAM[a:b] for a, b in pairwise(places)]
    assert read(*blocks) == EVENTS


def test_an_event_comes_with_the_first_byte_of_the_blank_line_after_it() -> None:
    assert read(b"data: 1\r", b"\n\r") == [b"1"]


def test_a_mark_of_the_byte_order_is_no_part_of_a_name() -> None:
    assert read(b"\xef\xbb", b"\xbfdata: 1\n\n") == [b"1"]


@pytest.mark.requirement("Z-39")
@pytest.mark.parametrize(
    "endless", [b"x" * 1_000_000, b"data: " + b"x" * 999 + b"\n", b":\n" * 100, b":\r" * 100]
)
def test_an_event_without_end_is_not_gathered(endless: bytes) -> None:
    reader = EventReader()
    blocks = max(LONGEST_EVENT // len(endless), MOST_LINES) + 2
    with pytest.raises(NetError) as caught:
        [reader.feed(endless) for _ in range(blocks)]
    assert caught.value.cause == "too_large"


def test_many_events_of_a_usual_size_are_no_large_one() -> None:
    reader = EventReader()
    for _ in range(3 * MOST_LINES):
        assert reader.feed(b"data: " + b"x" * 9_000 + b"\n\n")
