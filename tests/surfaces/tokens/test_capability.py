from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roundtable.core.errors import Forbidden, UnknownName
from roundtable.surfaces.tokens.capability import (
    ACTS,
    MOST_HANDS,
    OWNER,
    Act,
    Capability,
    acts_of,
)

pytestmark = pytest.mark.requirement("Z-39")
NOW = datetime(2026, 1, 2, tzinfo=UTC)
ONE = "rt_00000001"
TWO = "rt_00000002"


def held(
    *acts: Act, discussions: frozenset[str] | None = frozenset({ONE}), **more: object
) -> Capability:
    return Capability(frozenset(acts), id="abc", discussions=discussions, **more)  # type: ignore[arg-type]


def test_an_act_brings_along_what_it_needs_and_nothing_else() -> None:
    assert [act for act in ACTS if held("results").may(act, ONE)] == ["results"]
    assert [act for act in ACTS if held("watch").may(act, ONE)] == ["results", "watch"]
    seat = held("speak", seat="tea")
    assert [act for act in ACTS if seat.may(act, ONE)] == ["results", "watch", "speak"]
    assert [act for act in ACTS if held("lead").may(act, ONE)] == list(ACTS[:4])
    assert [act for act in ACTS if held("open").may(act, ONE)] == ["open"]
    assert all(OWNER.may(act, ONE) for act in ACTS)


def test_a_token_is_for_its_discussions_alone() -> None:
    assert not held("lead").may("results", TWO)
    assert held("lead", discussions=None).may("lead", TWO)
    with pytest.raises(Forbidden, match="it is for other discussions") as refused:
        held("lead").check("watch", TWO)
    assert refused.value.remedy


def test_what_it_opened_is_its_own() -> None:
    opener = held("open", discussions=frozenset(), opened=frozenset({TWO}))
    assert opener.may("lead", TWO)
    assert not opener.may("own", TWO)
    assert not opener.may("results", ONE)


def test_a_seat_speaks_for_itself_and_is_told_so() -> None:
    seat = held("speak", seat="tea")
    seat.check_voice("tea")
    with pytest.raises(Forbidden, match="speaks for 'tea' only, not for 'coordinator'"):
        seat.check_voice("coordinator")
    assert not held("speak").may("speak", ONE), "a seat without a name is none"


@pytest.mark.parametrize(
    "wanted",
    [
        held("lead"),
        held("watch", discussions=frozenset({TWO})),
        held("watch", discussions=None),
        held("own"),
        held("open"),
        held("speak", seat="coffee"),
    ],
)
def test_nobody_gives_out_more_than_he_has(wanted: Capability) -> None:
    with pytest.raises(Forbidden):
        held("speak", seat="tea").narrowed(wanted)


def test_nobody_gives_out_more_money_or_channels() -> None:
    giver = held("open", spend=5.0, channels=frozenset({"team"}))
    fine = held("open", spend=5.0, channels=frozenset({"team"}), discussions=frozenset())
    assert giver.narrowed(fine).parents == ("abc",)
    for more in ({"spend": 5.01}, {"spend": None}, {"channels": None}, {"channels": {"x"}}):
        with pytest.raises(Forbidden, match="cannot give more than it has"):
            giver.narrowed(replace(fine, **more))


def test_who_may_send_news_nowhere_gives_no_leader_all_channels() -> None:
    giver = held("lead", channels=frozenset())
    assert giver.narrowed(held("lead", channels=frozenset())).channels == frozenset()
    for more in (None, frozenset({"team"})):
        with pytest.raises(Forbidden, match="more channels"):
            giver.narrowed(held("lead", channels=more))


def test_nothing_outlives_what_it_was_given_out_through() -> None:
    giver = held("lead", expires=NOW)
    for wish in (None, NOW + timedelta(days=1)):
        assert giver.narrowed(held("watch", expires=wish)).expires == NOW
    sooner = NOW - timedelta(days=1)
    assert giver.narrowed(held("watch", expires=sooner)).expires == sooner


def test_hands_come_to_an_end() -> None:
    through = held("lead", parents=tuple(str(n) for n in range(MOST_HANDS - 1)))
    with pytest.raises(Forbidden, match="too many hands"):
        through.narrowed(held("watch"))


CAPABILITIES = st.builds(
    Capability,
    acts=st.frozensets(st.sampled_from(ACTS[:5]), min_size=1),
    id=st.just("abc"),
    discussions=st.none() | st.frozensets(st.sampled_from([ONE, TWO])),
    opened=st.frozensets(st.sampled_from([ONE, TWO])),
    seat=st.sampled_from(["", "tea", "coffee"]),
    spend=st.none() | st.floats(0, 10),
    channels=st.none() | st.frozensets(st.sampled_from(["team", "x"])),
    expires=st.none() | st.datetimes(timezones=st.just(UTC)),
)


@given(giver=CAPABILITIES | st.just(OWNER), wanted=CAPABILITIES)
def test_whatever_is_given_out_allows_nothing_that_its_giver_may_not(
    giver: Capability, wanted: Capability
) -> None:
    try:
        given_out = giver.narrowed(replace(wanted, opened=frozenset()))
    except Forbidden:
        return
    for act in ACTS:
        for place in (ONE, TWO, "rt_00000003"):
            assert giver.may(act, place) or not given_out.may(act, place)
    if giver.seat and not giver.owns and given_out.may("speak"):
        assert given_out.seat == giver.seat
    assert giver.owns or giver.expires is None or given_out.expires is not None
    if giver.channels is not None and not giver.owns:
        assert given_out.channels is not None
        assert given_out.channels <= giver.channels


def test_what_is_the_owners_cannot_be_given() -> None:
    assert acts_of(["watch", "open"]) == {"watch", "open"}
    for name in ("own", "wach"):
        with pytest.raises(UnknownName):
            acts_of([name])
