"""Adaptive runs for tests: voices that keep to every form, and do as they are told in one turn."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from roundtable.core.errors import SpeakerError, UnknownName
from roundtable.core.events import AttemptStarted, Event, NoteAdded
from roundtable.core.state import State
from roundtable.core.values import SpeakerRef
from roundtable.ports import SpeakerChain, SpeakRequest
from roundtable.views.adaptive import delivery
from tests.declaring import declared
from tests.rehearsal import Cast, Table, Voice, run_in_virtual_time

from .council_table import events, sections, turn_of

Act = str | SpeakerError | float | None | Callable[[SpeakRequest], str]

OPUS, CODEX, GEMINI, GROK = (
    "anthropic/claude-opus-4-6",
    "openai/gpt-5.3-codex",
    "google/gemini-3.1-pro-preview",
    "xai/grok-4",
)
SONNET = "anthropic/claude-sonnet-4-5"
ONE_DOOR: dict[str, Any] = {"doors": {model: [] for model in (OPUS, CODEX, GEMINI, GROK)}}
"""Each model can be reached in one way only, so that the next in its chain is its fallback."""
DEAD = SpeakerError("auth", "The key was refused.", "Check the key.")
DEBATERS = ("advocate", "devils-advocate", "analyst", "contrarian")
NAMES = {
    "advocate": "Advocate",
    "devils-advocate": "Devil's Advocate",
    "analyst": "Analyst",
    "contrarian": "Contrarian",
}
DEBATE = "Should we drink tea because it is better than coffee?"
"""A question that its words make a debate."""


def design(
    workflow: str = "parallel_debate",
    rounds: int | str = 2,
    first: Sequence[tuple[str, str]] = (
        ("Advocate", OPUS),
        ("Devil's Advocate", CODEX),
        ("Analyst", GEMINI),
        ("Contrarian", GROK),
    ),
    second: Sequence[tuple[str, str]] = (),
    synthesiser: str = SONNET,
) -> str:
    """A meta-analyst's recommendation in the form that is asked for."""
    rows = [f"1 | {role} | {model} | Task of {role}." for role, model in first]
    rows += [f"2 | {role} | {model} | Second task of {role}." for role, model in second]
    return (
        f"## Workflow\n{workflow}\n\n## Rounds\n{rounds}\n\n## Stages\n"
        + "\n".join(rows)
        + f"\n\n## Synthesiser\n{synthesiser}"
    )


def dutiful_panelist(request: SpeakRequest) -> str:
    """Keeps to every form: digests, declared scores of 4, the first option, ACCURATE."""
    turn = turn_of(request)
    if request.form is not None and request.form.alone:
        return declared(request.form)
    if "/meta-panel/" in turn:
        return design()
    if "/clerk/" in turn:
        return listing(("Tea", "ABCD"), ("Coffee", ""))
    if "/answer/" in turn or "/second-stage/" in turn:
        return answer(request)
    if "/critique/" in turn:
        return critique(request)
    if "/validation/" in turn or "/recheck/" in turn:
        return sections(Verdict="ACCURATE", Correction="none")
    return spoken(request, synthesis())


def spoken(request: SpeakRequest, text: str, **fields: Any) -> str:
    """These words with a dutiful declaration, in which `fields` are as given. The block alone where
    nothing else is asked for."""
    if request.form is None:
        return text
    ending = declared(request.form, request.user, **fields)
    return ending if request.form.alone else f"{text}\n\n{ending}"


def answer(request: SpeakRequest, text: str = "", **fields: Any) -> str:
    turn = turn_of(request)
    words = text or sections(
        Position=f"Position in {turn}.",
        Reasoning=f"Reasoning in {turn}.",
        Risks_and_Unknowns="None that matter.",
        **{"SELF-DIGEST": f"Digest of {turn}."},
    )
    return spoken(request, words, **fields)


def critique(request: SpeakRequest, score: int = 4, more: str = "", **fields: Any) -> str:
    """A cross-critique with one score for all; `more` follows its words."""
    turn = turn_of(request)
    words = sections(
        Critique=f"Criticism in {turn}.",
        Updated_Position=f"Updated position in {turn}.",
        **{"SELF-DIGEST": f"New digest of {turn}."},
    )
    if request.form is not None:
        fields.setdefault("scores", dict.fromkeys(request.form.scored, score))
    return spoken(request, f"{words}\n\n{more}".strip(), **fields)


def undeclared(text: str) -> Callable[[SpeakRequest], str]:
    """These words and no declaration, however often it is asked for."""
    return lambda _: text


def listing(*options: tuple[str, str]) -> str:
    """What the clerk lists: options, each with the letters of those who seem to hold it."""
    listed = [{"text": text, "holders": list(letters)} for text, letters in options]
    decisions = [{"question": "?", "options": listed}]
    found = {"shared": [], "decisions": decisions, "clashes": []}
    return f"```decisions\n{json.dumps(found)}\n```"


def synthesis(**bodies: str) -> str:
    whole = {
        "Answer": "Drink tea [1/answer/analyst].",
        "Agreement": "All are thirsty.",
        "Dissent": "none",
        "Open_Questions": "none",
        "Sources": "none",
    }
    return sections(**{**whole, **bodies})


def panelist(turns: Mapping[str, Act] | None = None) -> Voice:
    """A voice that acts so in the turns whose ids contain the key, and is dutiful in all others.
    Words are said with a dutiful declaration; a function says all there is to say."""

    def script(request: SpeakRequest) -> str | SpeakerError | float | None:
        for part, act in (turns or {}).items():
            if part in turn_of(request):
                if isinstance(act, str) and act.strip():
                    return spoken(request, act)
                return act(request) if callable(act) else act
        return dutiful_panelist(request)

    return Voice(script)


def adaptive(
    turns: Mapping[str, Act] | None = None,
    *,
    dead: Sequence[str] = (),
    **table: Any,
) -> Table:
    """A table whose voices are dutiful; the models in `dead` refuse every call."""
    voices = {"*": panelist(turns), **{model: Voice(lambda _: DEAD) for model in dead}}
    return Table(voices, **table)


def hold(table: Table, topic: str = DEBATE, **request: Any) -> State:
    return run_in_virtual_time(table.ask(topic, procedure="adaptive", **request))


def calls(table: Table, state: State) -> list[AttemptStarted]:
    """Every call in the order in which they began."""
    return [e for e in events(table, state) if isinstance(e, AttemptStarted)]


def labels(table: Table, state: State) -> list[str]:
    return [call.label for call in calls(table, state)]


def events_of(table: Table, state: State) -> list[Event]:
    return events(table, state)


def note(state: State, code: str) -> NoteAdded:
    (found,) = [each for each in state.notes if each.code == code]
    return found


def codes(state: State) -> list[str]:
    return [each.code for each in state.notes]


def meta_section(state: State) -> list[str]:
    """The lines of the META section."""
    text = delivery(state, "0")
    assert text.count("## META") == 1
    body = text.split("## META\n\n")[1].split("\n\n---")[0]
    return [line.removeprefix("- ") for line in body.splitlines()]


class Market(Cast):
    """Models of which only some can be used: another one stands in, with a note."""

    def __init__(
        self,
        usable: Sequence[str],
        *,
        default: str | None = None,
        unknown: Sequence[str] = (),
        **rest: Any,
    ) -> None:
        super().__init__(default=default or usable[0], **rest)
        self.usable = usable
        self.unknown = unknown

    def seat(self, name: str, seat: str) -> SpeakerChain:
        if name in self.unknown:
            raise UnknownName("model", name, self.usable)
        if name in self.usable:
            return super().seat(name, seat)
        instead = super().seat(self.default, seat)
        remedy = f"Get a key for {name}."
        text = f"PANEL DEGRADED: {seat}: {self.default} speaks in place of {name}."
        return SpeakerChain(
            instead.speakers, (NoteAdded(code="substituted", text=text, remedy=remedy),)
        )


class Families(Cast):
    """Every model can be used, and has the family that its provider makes."""

    def seat(self, name: str, seat: str) -> SpeakerChain:
        found = super().seat(name, seat)
        makers = {"anthropic": "claude", "openai": "gpt", "google": "gemini", "xai": "grok"}
        return SpeakerChain(
            tuple(
                SpeakerRef.model_validate(
                    {**ref.model_dump(), "family": makers.get(ref.model.partition("/")[0], "")}
                )
                for ref in found.speakers
            )
        )
