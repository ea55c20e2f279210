"""Events: what is stored is for ever. Every type goes to JSON and back, and old ledgers load."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from roundtable.core import events
from roundtable.core.events import (
    UPCASTERS,
    AttemptFinished,
    Event,
    NoteAdded,
    StoredEvent,
    dump,
    load,
)
from roundtable.core.state import fold
from roundtable.core.values import Usage, Value

from .samples import NOON

GOLDENS = Path(__file__).parents[1] / "goldens"
FIRST = (GOLDENS / "v1.jsonl").read_text("utf-8").splitlines()
"""The ledger of one whole discussion."""
LINES = [
    line
    for file in sorted(GOLDENS.glob("*.jsonl"))
    for line in file.read_text("utf-8").splitlines()
]
TYPES = {each.__name__ for each in get_args(get_args(Event)[0])}


def is_newest(line: str) -> bool:
    stored = json.loads(line)
    return (stored["type"], stored["v"]) not in UPCASTERS


NEWEST = [line for line in LINES if is_newest(line)]
OLD = [line for line in LINES if not is_newest(line)]


@pytest.mark.parametrize("line", NEWEST, ids=[json.loads(line)["type"] for line in NEWEST])
def test_a_stored_event_loads_and_dumps_byte_for_byte(line: str) -> None:
    assert dump(load(line)) == line
    assert dump(load(line.encode())) == line


@pytest.mark.parametrize("line", OLD, ids=[json.loads(line)["type"] for line in OLD])
def test_an_event_of_an_earlier_version_is_brought_up_and_keeps_all_it_said(line: str) -> None:
    now = json.loads(dump(load(line)))
    assert dump(load(line.encode())) == dump(load(line))
    assert is_newest(dump(load(line)))
    then = json.loads(line)
    assert now.pop("v") > then.pop("v")
    assert kept(then, now)


def kept(then: object, now: object) -> bool:
    """Whether all that was said then is said now."""
    if isinstance(then, dict) and isinstance(now, dict):
        return all(key in now and kept(value, now[key]) for key, value in then.items())
    if isinstance(then, list) and isinstance(now, list):
        return len(then) == len(now) and all(map(kept, then, now))
    return then == now


def test_the_golden_ledgers_hold_every_event_type_and_use_every_field() -> None:
    stored = [json.loads(line) for line in LINES]
    assert {each["type"] for each in stored} == TYPES
    assert {each["v"] for each in stored} == {1, 2}
    defaults = {name: load_type(name).model_fields for name in TYPES}
    unused = {
        f"{name}.{field}"
        for name, fields in defaults.items()
        for field in fields
        if all(field not in each for each in stored if each["type"] == name)
    }
    assert unused == set()


def load_type(name: str) -> type[Value]:
    found: type[Value] = getattr(events, name)
    return found


@pytest.mark.requirement("Z-10")
def test_the_golden_ledger_folds_to_a_concluded_discussion() -> None:
    records = [
        StoredEvent("rt_0000000a", seq, NOON, load(line)) for seq, line in enumerate(FIRST, 1)
    ]
    state = fold(records)
    assert state.status == "concluded"
    assert state.seq == len(FIRST)
    assert [speech.participant for speech in state.speeches] == ["scholar", "captain"]
    assert [failure.participant for failure in state.failures] == ["muse"]
    assert state.usage == Usage(
        calls=3, input_tokens=900, output_tokens=300, cached_tokens=100, priced_usd=0.02
    )
    assert state.verdict is not None
    assert state.verdict.dissent[0].participant == "scholar"


def test_a_stored_event_with_an_unknown_field_or_type_or_version_is_refused() -> None:
    note = json.loads(dump(NoteAdded(code="n", text="t")))
    for wrong in ({**note, "more": 1}, {**note, "type": "NoteTaken"}, {**note, "v": 2}):
        with pytest.raises(ValidationError):
            load(json.dumps(wrong))


@pytest.mark.requirement("I-09", "I-18")
@given(st.text(), st.floats(0, 1e6), st.integers(0, 10**9))
def test_words_and_numbers_survive_storage_exactly(text: str, cost: float, tokens: int) -> None:
    usage = Usage(input_tokens=tokens, priced_usd=cost)
    event = AttemptFinished(turn_id="1/answer/scholar", attempt=1, text=text, usage=usage)
    assert load(dump(event)) == event


def test_an_older_version_is_brought_up_to_the_present_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def from_nought(fields: dict[str, object]) -> dict[str, object]:
        return {"type": "NoteAdded", "v": 1, "code": "old", "text": fields["words"]}

    monkeypatch.setattr(events, "UPCASTERS", {("NoteAdded", 0): from_nought})
    assert load('{"type":"NoteAdded","v":0,"words":"hello"}') == NoteAdded(code="old", text="hello")
    assert load(dump(NoteAdded(code="new", text="t"))) == NoteAdded(code="new", text="t")


def test_events_cannot_be_changed() -> None:
    note = NoteAdded(code="n", text="t")
    with pytest.raises(ValidationError):
        note.text = "other"  # type: ignore[misc]


def test_values_share_which_fields_were_given_and_stay_apart_in_it() -> None:
    one, two, more = Usage(calls=1), Usage(calls=2), Usage(calls=1, input_tokens=2)
    assert one.model_fields_set is two.model_fields_set
    assert (one.model_fields_set, more.model_fields_set) == ({"calls"}, {"calls", "input_tokens"})
    copy = one.model_copy(update={"output_tokens": 3})
    assert copy.model_fields_set == {"calls", "output_tokens"}
    assert one.model_fields_set == {"calls"}
    assert one == Usage(calls=1, input_tokens=0)
