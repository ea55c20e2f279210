"""Figures of a process, for Prometheus. Needs the extra `telemetry`.

Labels are procedures, providers, models and causes: nothing that somebody asked or said.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from ..core.errors import BadSetting
from ..core.events import (
    AttemptFailed,
    AttemptFinished,
    BudgetExhausted,
    DiscussionClosed,
    ParticipantSubstituted,
    SpeechGiven,
    StoredEvent,
    TurnFailed,
)
from ..core.state import State
from ..core.values import Usage

SETTING = "metrics"
_SECONDS = (0.25, 0.5, 1, 2, 5, 10, 20, 40, 60, 120, 300, 600)

_OF_THE_FLEET = (
    ("workers", "Workers of the fleet"),
    ("discussions_waiting", "Discussions that wait for a worker"),
    ("discussions_set_aside", "Discussions that ended three workers and wait for somebody"),
)


class Figures:
    """Counts what happens in the discussions that this process drives."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        speaker = ("provider", "model")
        self._driven = self._gauge("discussions_driven", "Discussions that are driven now")
        self._fleet = _Fleet()
        self.registry.register(self._fleet)
        self._closed = self._counter(
            "discussions_closed", "Discussions that came to an end", "procedure", "status"
        )
        self._turns = self._counter("turns", "Turns that ended", "procedure", "outcome")
        self._calls = self._counter("calls", "Calls to speakers that ended", *speaker, "outcome")
        self._seconds = Histogram(
            "roundtable_call_seconds",
            "How long answered calls took",
            speaker,
            registry=self.registry,
            buckets=_SECONDS,
        )
        self._tokens = self._counter("tokens", "Tokens read and said", *speaker, "direction")
        self._cost = self._counter("cost_dollars", "Cost of calls whose price is known", *speaker)
        self._unpriced = self._counter("unpriced_calls", "Calls of unknown cost", *speaker)
        self._substituted = self._counter("substitutions", "Speakers that others stood in for")
        self._exhausted = self._counter("budgets_exhausted", "Limits that were reached", "limit")

    def event(self, record: StoredEvent, state: State) -> None:
        """Count what this event tells."""
        match event := record.event:
            case AttemptFinished():
                self._answered(event, state)
            case AttemptFailed():
                self._calls.labels(*_speaker(state, event), event.cause).inc()
                if event.usage is not None:
                    self._used(_speaker(state, event), event.usage)
            case SpeechGiven():
                self._turns.labels(state.start.procedure, "spoken").inc()
            case TurnFailed():
                self._turns.labels(state.start.procedure, event.cause).inc()
            case ParticipantSubstituted():
                self._substituted.inc()
            case BudgetExhausted():
                self._exhausted.labels(event.limit).inc()
            case DiscussionClosed():
                self._closed.labels(state.start.procedure, event.status).inc()
            case _:
                pass

    def fleet(self, workers: int, waiting: int, set_aside: int) -> None:
        """How the whole fleet stands: every process tells the same, so take the largest."""
        self._fleet.stands = (workers, waiting, set_aside)

    def fleet_unknown(self) -> None:
        """How it stands cannot be told; nothing is shown then, for a zero would be a statement."""
        self._fleet.stands = None

    @contextmanager
    def driving(self) -> Iterator[None]:
        """While a discussion is driven."""
        with self._driven.track_inprogress():
            yield

    @contextmanager
    def served(self, address: str) -> Iterator[str]:
        """Show them over HTTP at `HOST:PORT`, and give where. BadSetting if that cannot be."""
        host, _, port = address.strip().rpartition(":")
        if not port.isdecimal() or int(port) > 65_535:
            raise BadSetting(SETTING, address, "an address such as 127.0.0.1:9464")
        host = host.strip("[]") or "127.0.0.1"
        try:
            server, thread = start_http_server(int(port), host, self.registry)
        except OSError as error:
            raise BadSetting(
                SETTING, address, f"an address where this machine can listen ({error.strerror})"
            ) from error
        try:
            yield f"http://{host}:{server.server_port}/metrics"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def _answered(self, event: AttemptFinished, state: State) -> None:
        speaker = _speaker(state, event)
        self._calls.labels(*speaker, "answered").inc()
        self._seconds.labels(*speaker).observe(event.seconds)
        self._used(speaker, event.usage)

    def _used(self, speaker: tuple[str, str], usage: Usage) -> None:
        self._tokens.labels(*speaker, "input").inc(usage.input_tokens)
        self._tokens.labels(*speaker, "output").inc(usage.output_tokens)
        self._cost.labels(*speaker).inc(usage.priced_usd)
        if usage.unpriced_calls:
            self._unpriced.labels(*speaker).inc(usage.unpriced_calls)

    def _counter(self, name: str, told: str, *labels: str) -> Counter:
        return Counter(f"roundtable_{name}", told, labels, registry=self.registry)

    def _gauge(self, name: str, told: str, *labels: str) -> Gauge:
        return Gauge(f"roundtable_{name}", told, labels, registry=self.registry)


class _Fleet(Collector):
    """Figures that are there only while they are known."""

    def __init__(self) -> None:
        self.stands: tuple[int, int, int] | None = None

    def collect(self) -> Iterator[GaugeMetricFamily]:
        for (name, told), value in zip(_OF_THE_FLEET, self.stands or (), strict=False):
            yield GaugeMetricFamily(f"roundtable_{name}", told, value)


def _speaker(state: State, outcome: AttemptFinished | AttemptFailed) -> tuple[str, str]:
    turn = state.turn(outcome.turn_id)
    assert turn is not None, "an outcome follows the beginning of its call"
    provider, _, model = turn.attempts[outcome.attempt - 1].started.model.partition("/")
    return provider, model
