"""It goes on: a further question to the same table with its record in hand, any earlier discussion
as context, and discussions by the beginning of their ids."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from roundtable.core.assumptions import SOURCE as ASSUMED
from roundtable.core.errors import AmbiguousDiscussion, NotAllowed, UnknownDiscussion
from roundtable.core.events import FollowUpOpened, MaterialAdded, SearchFinished
from roundtable.core.values import Material, SearchHit
from roundtable.procedures.opening import OpenRequest
from roundtable.views.comparison import Comparison
from roundtable.views.prior import LONGEST_POSITION, LONGEST_VERDICT, PRIOR, prior_material
from tests.procedures.deliberation_table import NAMES, ONE, SPLIT, hold
from tests.procedures.deliberation_table import table as deliberating
from tests.rehearsal import Table, Voice, dutiful, run_in_virtual_time


class Found:
    name = "test"

    async def find(self, _query: str, _count: int) -> Any:
        return [SearchHit(title="On tea", url="https://tea.example/leaf", text="Green.")]


@pytest.mark.requirement("Z-30")
@pytest.mark.parametrize("procedure", ["council", "deliberation", "five-round", "adaptive"])
def test_the_same_table_is_asked_with_verdict_positions_dissent_and_sources_in_hand(
    procedure: str,
) -> None:
    table = Table(search=Found())

    async def main() -> Any:
        first = await table.ask("Should we drink tea?", procedure=procedure)
        before = len(table.requests)
        request = OpenRequest("And in winter?", follows="last", same_table=True)
        opened = await table.service.open(request)
        second = await table.service.run(opened.discussion_id)
        return first, second, table.requests[before:], await table.service.read(first.discussion_id)

    first, second, requests, again = run_in_virtual_time(main())
    assert second.status == "concluded"
    assert second.start.procedure == first.start.procedure
    assert second.start.follows == first.discussion_id
    assert again.follow_ups == [second.discussion_id]
    assert second.start.host == first.start.host
    assert [p.id for p in second.voters] == [p.id for p in first.voters]
    assert [p.speakers for p in second.voters] == [p.speakers for p in first.voters]
    (material,) = second.start.context
    assert material.source == f"{PRIOR}: {first.discussion_id}"
    assert "Should we drink tea?" in material.text
    assert first.verdict is not None
    assert first.verdict.answer.split("\n")[0] in material.text
    for seat in first.voters:
        assert seat.name in material.text
    if any(isinstance(search, SearchFinished) for search in first.searches):
        assert "https://tea.example/leaf" in material.text
    assert all(
        "Should we drink tea?" in r.system + r.user
        for r in requests
        if "/answer/" in r.idempotency_key
    )


@pytest.mark.requirement("Z-30")
def test_another_procedure_sets_its_own_table_with_the_record_in_hand() -> None:
    table = Table()

    async def main() -> Any:
        first = await table.ask("Should we drink tea?", search=False)
        request = OpenRequest("And in winter?", "five-round", follows=first.discussion_id)
        return first, await table.service.open(request)

    first, second = run_in_virtual_time(main())
    assert second.start.procedure == "five-round"
    assert second.start.follows == first.discussion_id
    assert second.start.context[0].source == f"{PRIOR}: {first.discussion_id}"


@pytest.mark.requirement("Z-30")
@pytest.mark.parametrize("procedure", ["council", "five-round", "meeting"])
def test_any_discussion_can_be_had_in_hand_by_any_procedure(procedure: str) -> None:
    table = Table()

    async def main() -> Any:
        first = await table.ask("Should we drink tea?", search=False)
        known = (first.discussion_id, "last", "rt_0000")
        own = (Material(source="notes", text="Mine."),)
        request = OpenRequest("Milk?", procedure, context=own, context_from=known)
        return first, await table.service.open(request)

    first, second = run_in_virtual_time(main())
    assert [m.source for m in second.start.context] == [f"{PRIOR}: {first.discussion_id}", "notes"]
    assert second.start.follows == ""


def test_there_must_be_a_verdict_to_go_on_from() -> None:
    broken = Voice(
        lambda request: None if "/answer/" in request.idempotency_key else dutiful(request)
    )
    table = Table({"*": broken})

    async def refused(name: str, kind: type[Exception]) -> str:
        with pytest.raises(kind) as caught:
            await table.service.follow_up(name, "And then?")
        return str(caught.value)

    async def main() -> Any:
        failed = await table.ask("Tea?", search=False)
        running = await table.service.open(OpenRequest("Coffee?", search=False))
        told = [
            await refused(failed.discussion_id, NotAllowed),
            await refused(running.discussion_id, NotAllowed),
        ]
        await table.service.delete(failed.discussion_id)
        told.append(await refused(failed.discussion_id, UnknownDiscussion))
        return told, await table.service.summaries()

    (failed, running, deleted), rows = run_in_virtual_time(main())
    assert "came to no verdict: there is nothing to go on from" in failed
    assert "was interrupted" in running, "nobody drives it"
    assert "There is no discussion" in deleted
    assert len(rows) == 1, "nothing was opened"


@pytest.mark.requirement("Z-30")
def test_conditions_and_assumptions_are_handed_on_and_no_two_sentences_run_together() -> None:
    condition = {"text": "Two engineers are free.", "kind": "demand", "otherwise": "open"}
    votes = {**SPLIT, ONE: ({"choice": "o1", "conditions": [condition]}, "o1")}
    state = hold(deliberating(votes))
    assumed = Material(source=ASSUMED, text="a1: Which country? Assumed: It is Germany.")
    state.added.append(MaterialAdded(material=assumed, by="casting"))
    lines = prior_material(state).text.splitlines()
    (told,) = [each for each in lines if "Two engineers are free." in each and "otherwise" in each]
    assert told.startswith(f"- {NAMES[ONE]}, demand, otherwise open: Two engineers are free. (")
    assert "- Which country? Assumed: It is Germany." in lines
    stood = [each for each in lines if f"The position of {ONE}." in each]
    assert stood
    assert all(f". The position of {ONE}." in each for each in stood)


def test_the_record_is_bounded_whatever_was_said() -> None:
    long = Voice(lambda request: dutiful(request) + "\nMore. " * 20_000)
    state = run_in_virtual_time(Table({"*": long}).ask("Tea? " * 15_000, search=False))
    text = prior_material(state).text
    assert len(text) < 2 * LONGEST_VERDICT + 12 * LONGEST_POSITION


@pytest.mark.requirement("Z-30")
def test_a_discussion_is_found_by_the_beginning_of_its_id_and_as_the_last() -> None:
    table = Table()

    async def main() -> Any:
        ids = [(await table.service.open(OpenRequest(f"Tea {n}?"))).discussion_id for n in range(3)]
        find = table.service.find
        found = [await find("last"), await find(ids[0]), await find(f" {ids[1]} ")]
        await asyncio.sleep(1)
        await table.service.stop(ids[0], by="me")
        found.append(await find("last"))
        with pytest.raises(AmbiguousDiscussion) as caught:
            await find("rt_0000")
        return ids, found, str(caught.value), await find("nonsense"), await find("rt_ffff")

    ids, found, told, nonsense, nobody = run_in_virtual_time(main())
    assert found == [ids[2], ids[0], ids[1], ids[0]]
    assert all(f"{id_} (Tea" in told for id_ in ids)
    assert "could mean 3 discussions" in told
    assert "Write more of the id." in told
    assert (nonsense, nobody) == ("nonsense", "rt_ffff")


@pytest.mark.requirement("Z-30")
def test_two_discussions_side_by_side() -> None:
    table = Table()

    async def main() -> Any:
        one = await table.ask("Should we drink tea?", search=False)
        other = await table.ask("Should we drink tea?", procedure="deliberation", search=False)
        return one, other

    one, other = run_in_virtual_time(main())
    found = Comparison.of(one, other)
    rows = {row.what: row for row in found.rows}
    assert not rows["Question"].differs
    assert rows["Procedure"].cells == ("council", "deliberation")
    assert rows["Cost"].cells == (
        f"${one.usage.priced_usd:,.4f}",
        f"${other.usage.priced_usd:,.4f}",
    )
    assert rows["Votes"].cells[1].startswith("yes:")
    assert {row.what for row in found.positions} == {p.name for p in (*one.voters, *other.voters)}
    assert f"| | {one.discussion_id} | {other.discussion_id} |" in found.markdown()
    assert found.document()["discussions"] == [one.discussion_id, other.discussion_id]


def test_the_link_stands_on_both_sides_once() -> None:
    table = Table()

    async def main() -> Any:
        first = await table.ask("Tea?", search=False)
        for _ in range(2):
            await table.service.follow_up(first.discussion_id, "And then?", key="one")
        return await table.records(first)

    records = run_in_virtual_time(main())
    assert sum(isinstance(record.event, FollowUpOpened) for record in records) == 1
