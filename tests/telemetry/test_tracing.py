"""Spans of discussions, as an exporter in memory sees them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from roundtable.core.errors import SpeakerError
from roundtable.core.events import StoredEvent
from roundtable.core.state import State
from roundtable.ports import SpeakRequest
from roundtable.procedures.opening import OpenRequest
from roundtable.telemetry.tracing import Tracing
from tests.rehearsal import Cast, Table, Voice, dutiful, run_in_virtual_time

QUESTION = "Should the ferry at Lower Quay run at night?"


class Seen:
    """A tracing whose spans stay here."""

    def __init__(self, *, content: bool = False) -> None:
        self.exporter = InMemorySpanExporter()
        self.tracing = Tracing(SimpleSpanProcessor(self.exporter), content=content)

    @property
    def spans(self) -> Sequence[ReadableSpan]:
        return self.exporter.get_finished_spans()

    def named(self, beginning: str) -> list[ReadableSpan]:
        return [span for span in self.spans if span.name.startswith(beginning)]

    async def hold(self, table: Table) -> State:
        opened = await table.service.open(OpenRequest(topic=QUESTION, procedure="council"))
        return await table.service.run(opened.discussion_id, on_event=self.tracing.event)


def hold(seen: Seen, table: Table) -> State:
    return run_in_virtual_time(seen.hold(table))


def id_of(span: ReadableSpan) -> int:
    assert span.context is not None
    found: int = span.context.span_id
    return found


def told(span: ReadableSpan) -> dict[str, object]:
    return dict(span.attributes or {})


@pytest.mark.requirement("Z-38")
def test_an_exporter_sees_the_tree_of_a_discussion() -> None:
    seen = Seen()
    table = Table()
    state = hold(seen, table)
    (whole,) = seen.named("invoke_workflow")
    turns = {id_of(span): span for span in seen.named("invoke_agent")}
    calls = seen.named("chat")
    assert whole.parent is None
    assert {span.parent.span_id for span in turns.values() if span.parent} == {id_of(whole)}
    assert {span.parent.span_id for span in calls if span.parent} == set(turns)
    assert len({span.context.trace_id for span in seen.spans if span.context}) == 1
    assert len(turns) == len(state.speeches)
    assert len(calls) == state.usage.calls == len(table.requests)
    for call in calls:
        turn = turns[call.parent.span_id if call.parent else 0]
        assert call.start_time is not None
        assert call.end_time is not None
        assert (turn.start_time or 0) <= call.start_time < call.end_time
        assert call.end_time <= (turn.end_time or 0) <= (whole.end_time or 0)


@pytest.mark.requirement("Z-38")
def test_calls_are_told_by_the_conventions_for_generative_ai() -> None:
    seen = Seen()
    state = hold(seen, Table())
    attributes = told(seen.named("chat")[0])
    assert attributes["gen_ai.operation.name"] == "chat"
    assert attributes["gen_ai.provider.name"] == "test"
    assert attributes["gen_ai.request.model"] == "captain"
    assert attributes["gen_ai.response.model"] == "test/captain"
    assert attributes["gen_ai.response.finish_reasons"] == ("stop",)
    assert attributes["gen_ai.usage.input_tokens"] == 100
    assert attributes["gen_ai.usage.output_tokens"] == 50
    assert attributes["gen_ai.conversation.id"] == state.discussion_id
    assert attributes["roundtable.cost_usd"] == pytest.approx(0.01)


@pytest.mark.requirement("Z-38")
def test_no_word_of_the_question_or_the_answers_is_told_unless_it_is_wanted() -> None:
    silent, open_ = Seen(), Seen(content=True)
    hold(silent, Table())
    hold(open_, Table())

    def words(seen: Seen) -> str:
        return " ".join(f"{span.name} {told(span)}" for span in seen.spans)

    assert "ferry" not in words(silent)
    assert "Words of" not in words(silent)
    assert "ferry at Lower Quay" in words(open_)


@pytest.mark.requirement("Z-38")
def test_what_looks_like_a_secret_is_never_told() -> None:
    def leaks(request: SpeakRequest) -> str:
        return f"{dutiful(request)}\n\nsk-ant-api03-{'x' * 40}"

    seen = Seen(content=True)
    hold(seen, Table({"*": Voice(leaks)}))
    assert seen.named("chat")
    assert all("x" * 40 not in str(told(span)) for span in seen.spans)


@pytest.mark.requirement("Z-38")
def test_a_failed_call_is_an_error_by_its_cause_and_its_turn_goes_on() -> None:
    failed = SpeakerError("not_found", "There is no such model.")
    cast = Cast(default="test/gone", fallbacks={"test/gone": ["test/there"]})
    seen = Seen()
    hold(seen, Table({"test/gone": Voice(lambda _: failed), "*": Voice()}, cast=cast))
    errors = [span for span in seen.spans if span.status.status_code is StatusCode.ERROR]
    assert {span.name for span in errors} == {"chat gone"}
    assert {told(span)["error.type"] for span in errors} == {"not_found"}


@pytest.mark.requirement("Z-38", "Z-21")
def test_two_processes_that_drove_one_discussion_tell_one_tree() -> None:
    first, second = Seen(), Seen()
    table = Table()

    async def in_two_parts() -> State:
        opened = await table.service.open(OpenRequest(topic=QUESTION, procedure="council"))
        spoken = 0

        def until_somebody_spoke(record: StoredEvent, state: State) -> None:
            nonlocal spoken
            first.tracing.event(record, state)
            spoken = len(state.speeches)
            if spoken == 2:
                raise InterruptedError

        with pytest.raises(InterruptedError):
            await table.service.run(opened.discussion_id, on_event=until_somebody_spoke)
        return await table.service.run(opened.discussion_id, on_event=second.tracing.event)

    state = run_in_virtual_time(in_two_parts())
    spans = [*first.spans, *second.spans]
    turns = {id_of(span) for span in spans if span.name.startswith("invoke_agent")}
    assert len({span.context.trace_id for span in spans if span.context}) == 1
    assert len(turns) == len(state.speeches)
    (whole,) = second.named("invoke_workflow")
    parents = {span.parent.span_id for span in spans if span.parent}
    assert parents == turns | {id_of(whole)}
