"""Tracing: the spans of discussions, for OpenTelemetry. Needs the extra `telemetry`."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import datetime

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from ..core.events import StoredEvent
from ..core.state import State
from ..version import __version__
from .spans import SpanEnded, spans_ended

_KINDS = {"client": SpanKind.CLIENT, "internal": SpanKind.INTERNAL}
_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_SECOND = 1_000_000_000


class Tracing:
    """Tells a processor of every span as it ends."""

    def __init__(self, processor: SpanProcessor, *, content: bool = False) -> None:
        """With `content`, calls carry what was asked and answered."""
        self._ids = _ChosenIds()
        self._content = content
        self._provider = TracerProvider(
            resource=_resource(), id_generator=self._ids, shutdown_on_exit=False
        )
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("roundtable", __version__)

    @classmethod
    def exporting(cls, env: Mapping[str, str]) -> Tracing:
        """To the endpoint that OpenTelemetry's own variables name."""
        content = env.get(_CONTENT, "").strip().lower() == "true"
        return cls(BatchSpanProcessor(OTLPSpanExporter()), content=content)

    def event(self, record: StoredEvent, state: State) -> None:
        """Tell of the spans that this event ends."""
        for span in spans_ended(record, state, content=self._content):
            self._tell(span)

    def close(self) -> None:
        """Send what is left, and end."""
        self._provider.shutdown()

    def _tell(self, ended: SpanEnded) -> None:
        context = None
        if ended.parent_id is not None:
            parent = SpanContext(
                ended.trace_id, ended.parent_id, is_remote=True, trace_flags=TraceFlags(1)
            )
            context = set_span_in_context(NonRecordingSpan(parent))
        self._ids.choose(ended.trace_id, ended.span_id)
        span = self._tracer.start_span(
            ended.name,
            context,
            kind=_KINDS[ended.kind],
            attributes=dict(ended.attributes),
            start_time=_nanoseconds(ended.begun),
        )
        if ended.error:
            span.set_attribute("error.type", ended.error)
            span.set_status(StatusCode.ERROR)
        span.end(_nanoseconds(ended.ended))


class _ChosenIds(IdGenerator):
    """Gives the ids that were chosen for the next span, in this thread."""

    def __init__(self) -> None:
        self._next = threading.local()

    def choose(self, trace_id: int, span_id: int) -> None:
        self._next.trace_id, self._next.span_id = trace_id, span_id

    def generate_trace_id(self) -> int:
        chosen: int = self._next.trace_id
        return chosen

    def generate_span_id(self) -> int:
        chosen: int = self._next.span_id
        return chosen


def _resource() -> Resource:
    """Who tells: as the operator says in OpenTelemetry's variables, otherwise under our name."""
    found = Resource.create({"service.version": __version__})
    if str(found.attributes["service.name"]).startswith("unknown_service"):
        return found.merge(Resource({"service.name": "roundtable"}))
    return found


def _nanoseconds(at: datetime) -> int:
    # By whole parts: a float does not hold today's nanoseconds.
    return int(at.timestamp()) * _SECOND + at.microsecond * 1_000
