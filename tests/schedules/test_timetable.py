"""Times by cron expression and zone, also when clocks are moved."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roundtable.core.errors import BadSetting, UnknownName, UsageError
from roundtable.schedules.timetable import Timetable, find_zone, moment_of

BERLIN = "Europe/Berlin"


def times(cron: str, zone: str, after: str, count: int) -> list[str]:
    timetable, moment = Timetable.of(cron, zone), datetime.fromisoformat(after)
    found = []
    for _ in range(count):
        moment = timetable.after(moment)
        found.append(f"{moment.astimezone(timetable.zone):%m-%d %H:%M%z}")
    return found


def test_a_time_of_the_week_is_that_of_its_zone() -> None:
    assert times("0 8 * * 1", BERLIN, "2026-10-20T00:00+00:00", 2) == [
        "10-26 08:00+0100",
        "11-02 08:00+0100",
    ]
    assert times("0 8 * * mon", "America/New_York", "2026-10-27T00:00+00:00", 2) == [
        "11-02 08:00-0500",
        "11-09 08:00-0500",
    ]


def test_a_time_that_is_skipped_comes_when_the_clock_jumps() -> None:
    assert times("30 2 * * *", BERLIN, "2026-03-28T12:00+00:00", 2) == [
        "03-29 03:00+0200",
        "03-30 02:30+0200",
    ]
    assert times("0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00+00:00", 1) == [
        "11-04 01:00-0200"
    ]


def test_a_time_that_comes_twice_counts_once() -> None:
    assert times("30 2 * * *", BERLIN, "2026-10-24T12:00+00:00", 2) == [
        "10-25 02:30+0200",
        "10-26 02:30+0100",
    ]


def test_what_comes_every_half_hour_goes_by_real_time() -> None:
    assert times("*/30 * * * *", BERLIN, "2026-03-29T00:15+00:00", 3) == [
        "03-29 01:30+0100",
        "03-29 03:00+0200",
        "03-29 03:30+0200",
    ]
    assert times("*/30 * * * *", BERLIN, "2026-10-24T23:45+00:00", 5) == [
        "10-25 02:00+0200",
        "10-25 02:30+0200",
        "10-25 02:00+0100",
        "10-25 02:30+0100",
        "10-25 03:00+0100",
    ]


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["*/15 * * * *", "0 * * * *", "30 2 * * *", "0 8 * * 1", "0 0 1 * *"]),
    st.sampled_from([BERLIN, "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC"]),
    st.integers(0, 3 * 365 * 24 * 60),
)
def test_times_only_go_forward_and_what_goes_by_real_time_is_even(
    cron: str, zone: str, minutes: int
) -> None:
    timetable = Timetable.of(cron, zone)
    moment = start = datetime(2025, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
    found = [moment := timetable.after(moment) for _ in range(12)]
    assert all(one < other for one, other in pairwise([start, *found]))
    if cron.startswith("*/15") and zone != "Australia/Lord_Howe":
        assert {other - one for one, other in pairwise(found)} == {timedelta(minutes=15)}


@pytest.mark.parametrize(
    "wrong",
    ["", "0 8 * *", "* * * * * *", "61 * * * *", "0 25 * * *", "H 8 * * *", "R 8 * * *",
     "@reboot", "0 0 30 2 *", "eight o'clock", "0 8 * * 1; rm -rf /", "0 8 * * ?", "-1 * * * *"],
)  # fmt: skip
def test_what_is_no_cron_expression_is_told(wrong: str) -> None:
    with pytest.raises(BadSetting, match="expected"):
        Timetable.of(wrong, "UTC")


@pytest.mark.parametrize("zone", ["Europe/Berln", "Mars/Phobos", "", "../../etc/passwd", "CET+1"])
def test_a_zone_that_does_not_exist_is_told(zone: str) -> None:
    with pytest.raises(UnknownName, match="time zone"):
        find_zone(zone)


def test_a_zone_is_found_in_whatever_case() -> None:
    assert find_zone("europe/berlin").key == BERLIN


def test_a_time_without_an_offset_is_that_of_the_zone() -> None:
    now = datetime(2026, 11, 1, tzinfo=UTC)
    assert moment_of("2026-12-01T08:00", BERLIN, now) == datetime(2026, 12, 1, 7, tzinfo=UTC)
    at = moment_of("2026-12-01T08:00-05:00", BERLIN, now)
    assert at == datetime(2026, 12, 1, 13, tzinfo=UTC)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [("2020-01-01", "past"), ("tomorrow", "no time"), ("2027-03-28T02:30", "skip that time")],
)
def test_a_time_that_will_not_come_is_told(wrong: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        moment_of(wrong, BERLIN, datetime(2026, 11, 1, tzinfo=UTC))
