"""`roundtable ask --questions FILE`: several questions, each a discussion of its own.

What was answered before is not asked and paid again: the key under which a question is opened
follows from the file, the question and what the table is asked for, and the ledger knows it. So
the same command, given again, goes on where it was killed, and tries again what failed; given
with a higher limit, it goes on where the lower one ended it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ...bootstrap import App, start
from ...core.errors import LedgerError, NotAllowed, RoundtableError, UsageError
from ...core.events import NoteAdded, StoredEvent
from ...core.limits import Limits, is_cap
from ...core.state import State
from ...core.text import listed
from ...core.values import Budget, Material
from ...documents.gather import gather
from ...documents.gathered import Gathered
from ...engine.moderation import limits_raised
from ...ledger.memory import MemoryLedger
from ...procedures import OPTIONS
from ...procedures.hosting import HOST_ELSEWHERE
from ...procedures.opening import OpenRequest
from ...procedures.options import find
from ...rehearsal.estimate import estimate_line, over_budget
from ...settings import Settings
from ...views.cost import Cost
from ...views.delivery import Delivery
from ...views.notes import Note, notes
from ..limits import CAPPED, LIMIT_WORDS, OLDER_WORDS
from ..tokens.capability import OWNER
from ..tokens.opening import open_as
from .ask import (
    files_of,
    leaves_files,
    refuse_idle_priority,
    refuse_what_cannot_be_told,
    request_of,
    settings_of,
    write_files,
)
from .board import cost_in_short
from .dry_run import estimate_document, notes_document
from .exits import BUDGET, FAILED
from .interruption import Left, interruptible
from .progress import NoProgress, make_progress
from .question_file import KEYS, Line, read_lines
from .terminal import echo, echo_error, on_one_line, print_json, read_text
from .verdict import Verdict, cost_told, print_verdict


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that will be put to a table."""

    question: str
    request: OpenRequest
    key: str
    line: int
    repeats: int = 0
    """The line that says the same before it, if there is one."""


@dataclass(frozen=True, slots=True)
class Before:
    """What earlier calls left of a question."""

    state: State | None
    """The discussion that was opened for it last."""
    number: int
    """Of the discussion that would be opened for it next."""


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a question."""

    question: str
    state: State | None = None
    before: bool = False
    """Whether it was answered by an earlier call."""
    error: str = ""
    broken_off: str = ""
    """The discussion that was begun and whose database could not be used any more: what it came to
    is not known here."""

    @property
    def discussion_id(self) -> str | None:
        return self.state.discussion_id if self.state else self.broken_off or None

    @property
    def ended(self) -> str:
        if self.broken_off:
            return "interrupted"
        if self.error or self.state is None or self.state.verdict is None:
            return "failed"
        closed = self.state.closed
        if closed is not None and closed.stop_reason == "budget":
            return "cut short"
        if Delivery.of(self.state).nobody_voted:
            return "failed"
        return "answered before" if self.before else "answered"

    @property
    def remedy(self) -> str:
        """What helps where it did not come to its end, with the command last."""
        wanted = self.ended in ("failed", "cut short") and not self.error
        return self.state.closed.remedy if wanted and self.state and self.state.closed else ""

    @property
    def told(self) -> str:
        """The answer in a line, or why there is none."""
        if self.error or self.state is None:
            return self.error
        if self.state.verdict is None:
            return self.state.closed.detail if self.state.closed else ""
        return Delivery.of(self.state).headline


def batch_command(flags: Mapping[str, Any]) -> int:
    """Everything is checked before the first question is asked."""
    for name in ("confirm", "detach", "task", "question"):
        if flags[name]:
            told = "A question" if name == "question" else f"--{name}"
            raise UsageError(
                f"{told} and --questions do not go together.",
                "See what all of them would cost with --dry-run, or ask one alone.",
            )
    refuse_idle_priority(flags)
    settings = settings_of(flags)
    asked = _asked(flags, settings)

    async def held(left: Left) -> int:
        return await _hold(asked, flags, settings, left)

    return interruptible(
        held, _FRESH_AGAIN if flags["fresh"] else _AGAIN, kept="What was answered is kept."
    )


_AGAIN = "give the same command again to go on"
_AGAIN_DOES = {"interrupted": "goes on with what was interrupted", "failed": "tries what failed"}
_FRESH_AGAIN = (
    "give the same command without --fresh to go on; with it, all would be asked and paid for "
    "again, and without it a question that was not reached keeps an earlier answer"
)


# --- what is asked -----------------------------------------------------------------------------


def _asked(flags: Mapping[str, Any], settings: Settings) -> list[Asked]:
    """The requests of all questions. UsageError says what is wrong with every one of them."""
    source = flags["questions"]
    if source == "-" and "-" in flags["context"]:
        raise UsageError("Standard input cannot be both questions and context.", "Name a file.")
    lines, wrong = read_lines(read_text(source))
    documents = gather(flags["context"], lambda: read_text("-"))
    place = source if source == "-" else str(Path(source).resolve())
    seen: dict[str, list[int]] = {}
    found: list[Asked] = []
    for line in lines:
        try:
            request = _request(line, flags, settings, documents)
        except RoundtableError as error:
            wrong.setdefault(str(error), []).append(line.number)
            continue
        key = _key(place, request)
        same = seen.setdefault(key, [])
        same.append(line.number)
        repeats = same[0] if len(same) > 1 else 0
        own = f"{key}/{len(same)}"
        found.append(Asked(line.question, request, own, line.number, repeats))
    if wrong:
        first = sorted(wrong.items(), key=lambda each: each[1][0])
        told = [f"{_numbered(numbers)}: {what}" for what, numbers in first]
        raise UsageError(
            "Nothing was asked. " + " ".join(told),
            "Correct it and run again. Each line is a question, or JSON such as "
            '{"question": "…", "procedure": "council"}.',
        )
    return found


async def _tell_of_repeats(app: App, asked: Sequence[Asked], *, fresh: bool) -> None:
    """Which of the lines that will be asked say the same as others."""
    found: dict[int, list[int]] = {}
    for each in asked:
        if each.repeats and (fresh or not _is_answered((await _before(app, each)).state)):
            found.setdefault(each.repeats, []).append(each.line)
    for known, again in found.items():
        echo_error(
            f"Note: {_repeat(again)} line {known}, and every line is asked and paid for. "
            "Leave out what you do not want twice."
        )


def _repeat(lines: Sequence[int]) -> str:
    if len(lines) == 1:
        return f"Line {lines[0]} repeats"
    return f"Lines {listed([str(each) for each in lines])} repeat"


def _numbered(lines: Sequence[int]) -> str:
    if len(lines) == 1:
        return f"Line {lines[0]}"
    return f"Line {lines[0]} and {len(lines) - 1} more"


def _request(
    line: Line, flags: Mapping[str, Any], settings: Settings, documents: Gathered
) -> OpenRequest:
    if text := line.more.get("context"):
        given = Material(source=f"line {line.number}", text=str(text))
        documents = replace(documents, materials=(*documents.materials, given))
    own = {key: line.more[key] for key in ("procedure", "language") if key in line.more}
    _refuse_what_is_everybodys(line.more.get("options", {}), flags)
    return request_of(
        line.question,
        {**flags, "no_clarify": True, **own},
        settings,
        documents=documents,
        options=line.more.get("options", {}),
    )


def _refuse_what_is_everybodys(options: Mapping[str, Any], flags: Mapping[str, Any]) -> None:
    """UsageError for what is no option of a procedure, but of the line or of the command."""
    for name in options:
        word = name.removeprefix("--").replace("-", "_")
        word = OLDER_WORDS.get(word, word)
        if any(find(model, word) for model in OPTIONS.values()) or word not in flags:
            continue
        instead = f"Give it on the command line, for all questions: --{word.replace('_', '-')}."
        if word in KEYS:
            instead = f'Write "{word}" beside "options".'
        raise UsageError(f"{name} is no option of a procedure.", instead)


def _key(place: str, request: OpenRequest) -> str:
    """What makes it the same question. The limits are not part of it: whoever raises one wants to
    go on, and not to pay again."""
    told = [
        place,
        request.topic,
        request.procedure,
        {name: str(value) for name, value in sorted(request.options.items())},
        [(each.source, each.text) for each in request.context],
        request.language or "",
        request.host_model,
        request.search,
    ]
    return hashlib.sha256(json.dumps(told, ensure_ascii=False).encode()).hexdigest()[:32]


# --- holding them ---------------------------------------------------------------------------------


async def _hold(
    asked: Sequence[Asked], flags: Mapping[str, Any], settings: Settings, left: Left
) -> int:
    async with start(settings, delivery=files_of(flags, settings), progress=echo_error) as app:
        refuse_what_cannot_be_told(app, asked[0].request, flags)
        await _tell_of_repeats(app, asked, fresh=flags["fresh"])
        if flags["dry_run"]:
            return await _estimated(app, asked, flags)
        at_once = asyncio.Semaphore(flags["at_once"])

        async def one(number: int, each: Asked) -> Done:
            async with at_once:
                if not flags["quiet"]:
                    asking = on_one_line(each.question, 90)
                    echo_error(f"Question {number} of {len(asked)}: {asking}")
                return await _one(app, each, flags, left)

        tasks = [asyncio.ensure_future(one(n, each)) for n, each in enumerate(asked, 1)]
        try:
            done = await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
    return _summed_up(done, flags, left)


async def _one(app: App, asked: Asked, flags: Mapping[str, Any], left: Left) -> Done:
    """A question to its end. What goes wrong with it is no matter of the others'."""
    begun = ""
    try:
        state, before = await _opened(app, asked, flags)
        begun = state.discussion_id
        if not before:
            state = await _run(app, state, flags, left)
            if state.verdict is not None and leaves_files(state, flags):
                write_files(app, state, flags)
    except RoundtableError as error:
        if not isinstance(error, LedgerError):
            return Done(asked.question, error=str(error))
        left.failed(error)
        echo_error(str(error))  # in full: it says what is kept where
        return Done(asked.question, error=str(error), broken_off=begun)
    return Done(asked.question, state, before)


async def _opened(app: App, asked: Asked, flags: Mapping[str, Any]) -> tuple[State, bool]:
    """The discussion of this question, and whether it is over: the one that was opened for it
    last, unless that failed or all are wanted anew."""
    before = await _before(app, asked)
    if (last := before.state) is not None and not flags["fresh"]:
        # Refused where it ended otherwise, or the limit that ended it is no higher.
        with suppress(NotAllowed):
            limits = _limits(last, asked.request, flags)
            last = await app.service.raise_limits(last.discussion_id, limits, by="the user")
        if last.closed is None or _is_answered(last):
            return last, last.closed is not None
    opened, _ = await open_as(app, OWNER, asked.request, key=f"{asked.key}/{before.number}")
    for note in opened.notes:
        if note.code == HOST_ELSEWHERE:
            echo_error(f"Note: {note.text} {note.remedy}")
    return opened, False


async def _before(app: App, asked: Asked) -> Before:
    last, number = None, 1
    while (known := await app.service.opened_with(f"{asked.key}/{number}")) is not None:
        last, number = known, number + 1
    return Before(last, number)


def _is_answered(state: State | None) -> bool:
    return state is not None and state.closed is not None and state.verdict is not None


def _limits(state: State, request: OpenRequest, flags: Mapping[str, Any]) -> Limits:
    """Those of the discussion, with what is said now."""
    given = {limit for word, limit in LIMIT_WORDS.items() if flags[word] is not None}
    budget, origins = state.budget.model_dump(), dict(state.limits_from)
    for name, most in request.budget.model_dump(exclude_none=True).items():
        cap, before = is_cap(request.limits_from.get(name, "")), is_cap(origins.get(name, ""))
        if cap and not before and name not in given and budget[name] is not None:
            continue  # that there is a cap raises nothing that somebody limited
        budget[name], origins[name] = most, request.limits_from.get(name, "")
    return Limits.of(Budget.model_validate(budget), origins)


async def _run(app: App, state: State, flags: Mapping[str, Any], left: Left) -> State:
    seats = (*state.start.participants, state.start.host)
    if any(seat.speaker.demonstration for seat in seats):
        await app.ensure_weights()
    alone = flags["at_once"] == 1
    progress = make_progress(quiet=flags["quiet"], plain=True) if alone else NoProgress()
    try:
        return await app.service.run(
            state.discussion_id,
            on_event=progress.on_event,
            on_draft=progress.on_draft,
            on_notice=left.telling(
                lambda told: echo_error(f"{state.discussion_id}: {told}"), quiet=not alone
            ),
        )
    finally:
        progress.close()


async def _estimated(app: App, asked: Sequence[Asked], flags: Mapping[str, Any]) -> int:
    """What each of them would be, from where it stands. Nobody is called."""
    rows: list[dict[str, Any]] = []
    noted: list[list[str]] = []
    for number, each in enumerate(asked, 1):
        if not flags["as_json"]:
            echo(f"{number:>3}  {on_one_line(each.question, 90)}")
        known = None
        if not flags["fresh"]:
            known = _as_it_would_go_on(each, await _before(app, each), flags)
        id_ = known.discussion_id if known else None
        row: dict[str, Any] = {"question": each.question, "discussion_id": id_, "estimate": None}
        over: list[str] = []
        found: Sequence[Note | NoteAdded] = ()
        if known is not None and known.closed is not None:
            row["status"] = ended = Done(each.question, known, before=True).ended
            told = f"{ended.capitalize()} ({id_}): not asked again, at no cost."
        else:
            service = app.service.with_ledger(MemoryLedger())
            state = known or await service.open(each.request)
            takes = await app.service.estimate(state)
            row["status"] = "goes on" if known else "to be asked"
            row["estimate"] = estimate_document(takes, state)
            told, over = estimate_line(takes, state), over_budget(takes, state.budget)
            found = notes(state)
            if known is not None:
                told = f"Goes on ({id_}). What is left of it: {told}"
                # What else is noted there was told when it was opened.
                found = [note for note in each.request.notes if note.code == CAPPED]
            noted.append([f"Note: {note.text} {note.remedy}".rstrip() for note in found])
        row["notes"] = notes_document(found)
        rows.append(row)
        if not flags["as_json"]:
            echo(f"     {told}")
            for limit in over:
                echo(f"     This may exceed the limits ({limit}).")
    if flags["as_json"]:
        print_json({"dry_run": True, "questions": rows})
        return 0
    for line in dict.fromkeys(line for lines in noted for line in lines):
        echo(line)
    return 0


def _as_it_would_go_on(asked: Asked, before: Before, flags: Mapping[str, Any]) -> State | None:
    """The discussion of this question with the limits of this call; None if another would be
    opened for it."""
    if before.state is None:
        return None
    state = before.state.branch()
    with suppress(NotAllowed):
        for event, _ in limits_raised(state, _limits(state, asked.request, flags), "the user"):
            at = state.updated_at or datetime.now(UTC)
            state.apply(StoredEvent(state.discussion_id, state.seq + 1, at, event))
    return state if state.closed is None or _is_answered(state) else None


# --- the end --------------------------------------------------------------------------------------


def _summed_up(done: Sequence[Done], flags: Mapping[str, Any], left: Left) -> int:
    if flags["as_json"]:
        print_json({"questions": [_row(each) for each in done]})
    else:
        for number, each in enumerate(done, 1):
            if flags["quiet"]:
                _show_in_short(number, each, plain=flags["plain"])
            else:
                _show(number, each)
    ended = Counter(each.ended for each in done)
    told = ", ".join(f"{count_} {word}" for word, count_ in ended.items())
    failed = ended["failed"] or ended["interrupted"]
    if flags["quiet"] and not failed and not ended["cut short"]:
        return 0  # all that there is to say has been said
    echo_error(f"{len(done)} {'question' if len(done) == 1 else 'questions'}: {told}.")
    if ended["answered before"]:
        echo_error("Those answered before were not asked again; --fresh asks them anew.")
    if failed:
        same = "the same command without --fresh" if flags["fresh"] else "the same command"
        if left.first():
            does = [_AGAIN_DOES[word] for word in ("interrupted", "failed") if ended[word]]
            left.say_how_to_go_on(then=f"give {same} again, which {listed(does)}")
        else:
            echo_error(f"{same[0].upper()}{same[1:]} tries again what failed.")
        return FAILED
    return BUDGET if ended["cut short"] else 0


def _show_in_short(number: int, done: Done, *, plain: bool) -> None:
    """The answer and the votes alone, as `-q` shows them of one question; with many, which."""
    if number > 1:
        echo("")
    echo(f"{number}. {on_one_line(done.question, 90)}")
    if done.state is None or done.state.verdict is None:
        echo_error(f"Error: {number}. {done.told} {done.remedy}".rstrip())
        return
    print_verdict(Verdict.of(done.state), quiet=True, plain=plain)
    if done.ended == "cut short" and done.state.closed is not None:
        echo_error(f"{number}. {done.state.closed.detail} {done.state.closed.remedy}".strip())


def _show(number: int, done: Done) -> None:
    state = done.state
    id_ = done.discussion_id or "-"
    spent = cost_told(cost_in_short(state)) if state else ""
    echo(f"{number:>3}  {id_:<11}  {done.ended:<15}  {spent:>7}  {on_one_line(done.question, 60)}")
    if done.told:
        echo(f"     {on_one_line(done.told, 110)}")
    if done.remedy:
        echo(f"     {on_one_line(done.remedy)}")  # whole: a command that is cut is none


def _row(done: Done) -> dict[str, Any]:
    from ...views.result import result

    state = done.state
    cost = Cost.of(state) if state else Cost()
    return {
        "question": done.question,
        "discussion_id": done.discussion_id,
        "ended": done.ended,
        "answer": Delivery.of(state).answer if state and state.verdict else None,
        "headline": Delivery.of(state).headline if state and state.verdict else None,
        "error": f"{done.told} {done.remedy}".strip()
        if done.ended in ("failed", "interrupted")
        else None,
        "cost_usd": cost.usd if state else None,
        **(dict.fromkeys(cost.document) if done.broken_off else cost.document),
        "result": result(state) if state else None,
    }
