"""Figures of a process, as Prometheus reads them."""

from __future__ import annotations

import socket
import urllib.request
from pathlib import Path

import pytest

from roundtable.bootstrap import start
from roundtable.core.errors import BadSetting, SpeakerError
from roundtable.procedures.opening import OpenRequest
from roundtable.telemetry.figures import Figures
from tests.rehearsal import Cast, Table, Voice, run_in_virtual_time
from tests.surfaces.desk import wait_for
from tests.surfaces.web.house import QUICK, Process, house_settings


def held(table: Table) -> Figures:
    figures = Figures()

    async def hold() -> None:
        opened = await table.service.open(OpenRequest(topic="Ferry?", procedure="council"))
        with figures.driving():
            await table.service.run(opened.discussion_id, on_event=figures.event)

    run_in_virtual_time(hold())
    return figures


def value(figures: Figures, name: str, **labels: str) -> float | None:
    return figures.registry.get_sample_value(f"roundtable_{name}", labels)


@pytest.mark.requirement("Z-38")
def test_calls_tokens_and_costs_are_counted_by_model() -> None:
    table = Table()
    figures = held(table)
    captain = {"provider": "test", "model": "captain"}
    calls = sum(request.model == "test/captain" for request in table.requests)
    assert value(figures, "calls_total", **captain, outcome="answered") == calls
    assert value(figures, "tokens_total", **captain, direction="input") == 100 * calls
    assert value(figures, "tokens_total", **captain, direction="output") == 50 * calls
    assert value(figures, "cost_dollars_total", **captain) == pytest.approx(0.01 * calls)
    assert value(figures, "call_seconds_sum", **captain) == pytest.approx(calls, abs=0.01)
    ended = value(figures, "discussions_closed_total", procedure="council", status="concluded")
    assert ended == 1
    assert value(figures, "discussions_driven") == 0


@pytest.mark.requirement("Z-38")
def test_failures_are_counted_by_their_cause() -> None:
    failed = SpeakerError("not_found", "There is no such model.")
    cast = Cast(default="test/gone", fallbacks={"test/gone": ["test/there"]})
    figures = held(Table({"test/gone": Voice(lambda _: failed), "*": Voice()}, cast=cast))
    count = value(figures, "calls_total", provider="test", model="gone", outcome="not_found")
    assert count is not None
    assert count >= 1


@pytest.mark.requirement("Z-38")
def test_prometheus_reads_them_over_http_and_no_topic_is_among_them() -> None:
    figures = held(Table())
    with (
        figures.served("127.0.0.1:0") as place,
        urllib.request.urlopen(place) as answer,
    ):
        text = answer.read().decode()
    assert "roundtable_discussions_closed_total" in text
    assert "Ferry" not in text


@pytest.mark.parametrize("address", ["nowhere", "127.0.0.1:99999", "192.0.2.1:0", ":http"])
def test_an_address_that_cannot_be_is_told(address: str) -> None:
    with pytest.raises(BadSetting), Figures().served(address):
        pass


@pytest.mark.requirement("Z-38")
def test_of_a_fleet_nothing_is_told_but_what_is_known() -> None:
    figures = Figures()
    assert value(figures, "discussions_waiting") is None  # a zero would be a statement
    figures.fleet(workers=0, waiting=2, set_aside=1)
    assert value(figures, "workers") == 0
    assert value(figures, "discussions_waiting") == 2
    assert value(figures, "discussions_set_aside") == 1
    figures.fleet_unknown()
    assert value(figures, "discussions_waiting") is None


@pytest.mark.requirement("Z-38")
async def test_a_server_tells_what_waits_also_where_no_worker_is(
    tmp_path: Path, postgres_url: str
) -> None:
    home = tmp_path / "home"
    async with start(house_settings(home, ROUNDTABLE_DB=postgres_url), env={}) as app:
        await app.service.open(OpenRequest("Why?", options=QUICK), queued=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        place = f"127.0.0.1:{free.getsockname()[1]}"
    env = {"ROUNDTABLE_DB": postgres_url, "ROUNDTABLE_METRICS": place}

    def shown() -> str:
        with urllib.request.urlopen(f"http://{place}/metrics") as answer:
            return str(answer.read().decode())

    with Process(home, "--port", "0", **env):
        wait_for(lambda: "roundtable_discussions_waiting" in shown())
        told = shown()
    assert "roundtable_discussions_waiting 1.0" in told
    assert "roundtable_workers 0.0" in told
