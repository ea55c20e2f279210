"""A follow-up of the same table: whom the host seated then sits there again, as it was told."""

from __future__ import annotations

from typing import Any

import pytest

from roundtable.core.state import State
from roundtable.ports import SpeakRequest
from roundtable.procedures.opening import OpenRequest
from tests.procedures.test_casting import ASKED, a_table, block, calls, ids
from tests.rehearsal import Table, run_in_virtual_time


def followed(table: Table, procedure: str) -> tuple[State, State, list[SpeakRequest]]:
    """A discussion whose host cast it, its follow-up, and what was asked in that."""

    async def main() -> Any:
        first = await table.ask(procedure=procedure, host_casts=True)
        before = len(table.requests)
        request = OpenRequest("And in winter?", follows="last", same_table=True, host_casts=True)
        opened = await table.service.open(request)
        return first, await table.service.run(opened.discussion_id), table.requests[before:]

    found: tuple[State, State, list[SpeakRequest]] = run_in_virtual_time(main())
    return found


@pytest.mark.requirement("Z-28", "Z-30")
@pytest.mark.parametrize("procedure", ["deliberation", "five-round", "meeting"])
def test_a_follow_up_keeps_whom_the_host_seated_and_only_asks_what_is_open(procedure: str) -> None:
    other = block([{"expert": "nurse", "why": "Other."}, {"expert": "teacher", "why": "Other."}])
    table = a_table(block(), other)
    first, second, requests = followed(table, procedure)

    assert ids(first) == ["baker", "lawyer", "night-porter"]
    assert second.start.participants == first.participants, "from the opening on"
    assert second.participants == first.participants
    assert second.verdict is not None
    (clarifying,) = [each for each in requests if "```casting" in each.user]
    assert '"seats"' not in clarifying.user
    assert "Nearest to the words" not in clarifying.user
    prompts = [each.system + each.user for each in requests]
    assert any("who comes and goes when nobody looks" in each for each in prompts)
    if procedure != "meeting":
        assert any("Argue as a baker would." in each for each in prompts), "its guidance too"
        assert any("doors, keys and habits" in each for each in prompts)


@pytest.mark.requirement("Z-28", "Z-30")
def test_what_the_host_of_a_follow_up_asks_is_assumed_where_nobody_answers() -> None:
    table = a_table(block(), block((), ASKED))
    _, second, _ = followed(table, "deliberation")

    assert any("It is Germany." in each.material.text for each in second.added)
    assert len(calls(table)) == 2


@pytest.mark.requirement("Z-30")
def test_a_table_that_was_not_cast_is_not_asked_what_is_open_in_its_follow_up_either() -> None:
    table = a_table()

    async def main() -> Any:
        await table.ask(procedure="deliberation", host_casts=False)
        opened = await table.service.open(
            OpenRequest("And in winter?", follows="last", same_table=True, host_casts=True)
        )
        return await table.service.run(opened.discussion_id)

    assert run_in_virtual_time(main()).verdict is not None
    assert not calls(table)
