"""`roundtable tokens`, and the server for agents with a token."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from roundtable.core.errors import UsageError
from roundtable.surfaces.cli.tokens import when
from roundtable.surfaces.tokens.capability import Capability, acts_of
from roundtable.surfaces.web.found import Found
from roundtable.surfaces.web.links import load_links
from tests.surfaces.desk import QUICK, Desk

pytestmark = pytest.mark.requirement("Z-39")
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def test_tokens_are_added_listed_and_ended(desk: Desk) -> None:
    assert "There are no tokens" in desk("tokens").err
    added = desk("tokens", "add", "laptop", "--spend", "5", "--expires", "30d")
    assert added.code == 0, added.err
    token = added.out.strip()
    assert re.fullmatch(r"rtk_[A-Za-z0-9_-]{32}", token)
    listed = desk("tokens").out
    assert "laptop: may start discussions for up to $5 until" in listed
    assert "$5.00 left" in listed
    assert token not in listed
    id_ = listed.split()[0]
    assert f"Ended: {id_}" in desk("tokens", "end", id_).err
    assert "ended before" in desk("tokens", "end", id_).err
    assert "ended before" in desk("tokens", "end", token).err
    assert desk("tokens").out == ""
    assert load_links(desk.home).read(token, now=NOW) is None


def test_a_seat_is_named_with_its_discussion_and_must_be_there(desk: Desk) -> None:
    asked = desk("ask", "Tea?", *QUICK, "--json", "--no-web")
    id_ = asked.document["discussion_id"]
    seat = asked.document["participants"][0]["id"]
    added = desk("tokens", "add", "bob", "--seat", seat, "--discussion", id_)
    assert added.code == 0, added.err
    held = load_links(desk.home).read(added.out.strip(), now=NOW)
    assert held is not None
    assert (held.only, held.seat) == (id_, seat)
    wrong = desk("tokens", "add", "bob", "--seat", "nobody", "--discussion", id_)
    assert (wrong.code, seat in wrong.err) == (2, True)
    for flags in (
        ("--seat", seat),
        ("--seat", seat, "--discussion", id_, "--may", "lead"),
        ("--discussion", "rt_00000000"),
        ("--may", "own"),
        ("--may", "wach"),
        ("--expires", "yesterday"),
        ("--expires", "2020-01-01"),
        ("--spend", "-1"),
    ):
        refused = desk("tokens", "add", "x", *flags)
        assert refused.code == 2, flags
        assert len(refused.err.strip().splitlines()) >= 2, refused.err


def test_the_page_of_a_new_token_is_told_as_it_can_be_opened(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    id_ = desk("ask", "Tea?", *QUICK, "--json", "--no-web").document["discussion_id"]
    found = Found("http://localhost:8199", 8199, 1)
    monkeypatch.setattr("roundtable.surfaces.cli.tokens.running", lambda _: found)
    added = desk("tokens", "add", "wall", "--discussion", id_)
    assert added.code == 0, added.err
    assert f"Its page: http://localhost:8199/r/{added.out.strip()}\n" in added.err


def test_the_list_says_what_is_left_once_something_is_over(desk: Desk) -> None:
    id_ = desk("ask", "Tea?", *QUICK, "--json", "--no-web").document["discussion_id"]
    tokens = load_links(desk.home).tokens
    _, held = tokens.add(Capability(acts_of(["open"]), discussions=frozenset(), spend=5.0))
    tokens.set_aside(held, "opening", 5.0)
    tokens.opened(held, "opening", id_)
    assert "$5.00 left" in desk("tokens").out


def test_a_link_that_no_list_shows_is_ended_by_its_address(desk: Desk) -> None:
    links = load_links(desk.home)
    link = links.token("rt_00000001", "host")
    desk("tokens", "end", f"http://localhost:8199/r/{link}")
    assert links.read(link, now=NOW) is None
    other = links.token("rt_00000001", "host")
    desk("tokens", "end", "all")
    assert links.read(other, now=NOW) is None
    unknown = desk("tokens", "end", "123")
    assert (unknown.code, "roundtable tokens" in unknown.err) == (2, True)


def test_times_are_written_as_people_write_them() -> None:
    assert when("12h", NOW) == NOW + timedelta(hours=12)
    assert when("4w", NOW) == NOW + timedelta(weeks=4)
    assert when("2026-12-31T18:00+00:00", NOW) == datetime(2026, 12, 31, 18, tzinfo=UTC)
    assert when("2026-12-31", NOW).tzinfo is not None
    for wrong in ("", "h", "12", "soon", "999999w"):
        with pytest.raises(UsageError):
            when(wrong, NOW)


@pytest.mark.parametrize("given", ["rtk_unknown", "x", "owner"])
def test_the_server_for_agents_does_not_start_with_a_token_that_opens_nothing(
    desk: Desk, given: str
) -> None:
    token = load_links(desk.home).owner_key if given == "owner" else given
    refused = desk("mcp", "--token", token)
    assert refused.code == 2
    assert "roundtable tokens add" in refused.err
    both = desk("mcp", "--http", "--token", token)
    assert both.code == 2
