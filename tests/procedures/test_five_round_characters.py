"""Five rounds with every scripted character at every seat, through the hub."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from roundtable.speakers.characters import CHARACTERS
from roundtable.speakers.hub import SpeakerHub
from roundtable.speakers.scripted import ScriptedSpeaker
from tests.covering import every_value
from tests.rehearsal import Cast, Table

from .five_round_table import AGENTS, hold


def scripted() -> Table:
    def speaker() -> ScriptedSpeaker:
        return ScriptedSpeaker(sleep=asyncio.sleep)

    table = Table(cast=Cast("scripted/echo"))
    hub = SpeakerHub(api=speaker, others={"scripted": speaker})
    table.service._tools = replace(table.service._tools, speakers=hub)
    return table


@pytest.mark.requirement("Z-11", "B-52", "X-32")
@pytest.mark.parametrize(
    ("character", "place"), [*every_value(CHARACTERS, AGENTS), *every_value(CHARACTERS, ["host"])]
)
def test_every_scripted_character_at_a_seat_and_as_the_host(character: str, place: str) -> None:
    state = hold(scripted(), models={place: f"scripted/{character}"})
    assert state.status == "concluded"
    assert state.verdict is not None
    for speech in state.speeches:
        if speech.stage not in ("clerk", "ballot"):
            assert "[scripted:" in speech.text  # nobody's words were invented


@pytest.mark.requirement("Z-11", "B-52")
@pytest.mark.parametrize("character", ["mute", "hang", "unauthorised", "failing", "empty"])
def test_a_table_of_dead_speakers_fails_without_a_word(character: str) -> None:
    state = hold(scripted(), model=f"scripted/{character}")
    assert (state.status, list(state.speeches), state.verdict) == ("failed", [], None)
    assert state.closed is not None
    assert state.closed.remedy
