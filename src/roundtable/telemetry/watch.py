"""Whoever looks on for the operator, as the settings and OpenTelemetry's own variables say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ..core.events import StoredEvent
from ..core.extras import needs
from ..core.state import State

if TYPE_CHECKING:
    from .figures import Figures
    from .tracing import Tracing

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


def spans_go_to(env: Mapping[str, str]) -> str:
    """Where spans are wanted; nowhere unless the operator named a place for them."""
    off = env.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    if off or env.get("OTEL_TRACES_EXPORTER", "otlp").strip().lower() != "otlp":
        return ""
    return next((place for name in ENDPOINTS if (place := env.get(name, "").strip())), "")


def installed() -> bool:
    """Whether the extra is there."""
    return all(map(find_spec, ("opentelemetry", "opentelemetry.sdk", "prometheus_client")))


class Watching:
    """Spans and figures of one process, as far as they are wanted."""

    def __init__(self, tracing: Tracing | None, figures: Figures | None, address: str) -> None:
        self._tracing = tracing
        self._figures = figures
        self._address = address

    @classmethod
    def wanted(cls, env: Mapping[str, str], metrics: str | None) -> Watching | None:
        """What is asked for; None where nothing is. UsageError where figures are asked for and
        the extra is missing: the variables of OpenTelemetry may be meant for other programs."""
        if metrics and not installed():
            raise needs("Showing figures (metrics)", "telemetry")
        tracing: Tracing | None = None
        figures: Figures | None = None
        if spans_go_to(env) and installed():
            from .tracing import Tracing

            tracing = Tracing.exporting(env)
        if metrics:
            from .figures import Figures

            figures = Figures()
        return cls(tracing, figures, metrics or "") if tracing or figures else None

    def event(self, record: StoredEvent, state: State) -> None:
        if self._tracing is not None:
            self._tracing.event(record, state)
        if self._figures is not None:
            self._figures.event(record, state)

    def fleet(self, workers: int, waiting: int, set_aside: int) -> None:
        """How the whole fleet stands."""
        if self._figures is not None:
            self._figures.fleet(workers, waiting, set_aside)

    def fleet_unknown(self) -> None:
        """Nobody can say how it stands."""
        if self._figures is not None:
            self._figures.fleet_unknown()

    def driving(self) -> AbstractContextManager[None]:
        return nullcontext() if self._figures is None else self._figures.driving()

    @contextmanager
    def served(self) -> Iterator[str]:
        """Show the figures where the settings say, and give where; nowhere if they do not."""
        if self._figures is None:
            yield ""
            return
        with self._figures.served(self._address) as place:
            yield place

    def close(self) -> None:
        """Send what is left."""
        if self._tracing is not None:
            self._tracing.close()
