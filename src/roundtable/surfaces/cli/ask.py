"""`roundtable QUESTION` and `roundtable resume`: hold a discussion in the terminal."""

from __future__ import annotations

import asyncio
import errno
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ...bootstrap import App, start
from ...core.condensing import CODE as CONDENSED
from ...core.condensing import SPREAD
from ...core.cut_short import CUT_SHORT
from ...core.errors import (
    BadTopic,
    NotAllowed,
    RoundtableError,
    SecretsFound,
    UsageError,
)
from ...core.events import NewsPlanned, NoteAdded, StoredEvent
from ...core.limits import Limits
from ...core.notifications import announcement
from ...core.notifications_plan import CONFIDENTIAL
from ...core.state import STANDS, State
from ...core.text import clip_words
from ...core.values import Pace
from ...documents.gathered import CODE as DOCUMENTS
from ...documents.gathered import NOTHING, UNREAD, Gathered
from ...engine.find import LAST
from ...procedures import procedure_spec
from ...procedures.checking import checked
from ...procedures.endings import to_ask_again
from ...procedures.hosting import HOST_ELSEWHERE
from ...procedures.opening import OpenRequest
from ...procedures.options import Surface
from ...rehearsal.estimate import estimate_line, over_budget
from ...settings import Settings
from ...version import __version__
from ...views.notes import Note, notes
from ..advice import simple_question_hint
from ..files import WorkspaceFiles, write_outputs
from ..limits import LIMIT_WORDS, higher_limits
from ..opening import open_request
from ..tokens.capability import OWNER
from ..tokens.opening import again_as, open_as, raise_to
from ..web.drafts import posting
from .ask_options import given
from .exits import BUDGET, FAILED
from .expected import expected_of
from .here import settings_here
from .interruption import Left, interruptible
from .page import show_page
from .person import Awaited, at_the_keyboard
from .progress import NOTHING_EXPECTED, TOLD_AT_ONCE, Progress, is_live, make_progress
from .stray_words import refuse_stray_words
from .tasks import linked_task
from .terminal import (
    TerminalAsker,
    ask_line,
    confirmed,
    echo,
    echo_error,
    is_terminal,
    print_json,
    print_markdown,
    read_text,
)

TOLD_BY_THE_ERROR = ("missing", "timed_out", "budget")
"""Notes whose words stand in the error of a discussion that came to nothing."""
LONGEST_NOTE = 300
"""Characters; all of it stands in the report."""
MOST_DOCUMENTS = 12
"""Lines on documents that were not read, or not wholly."""
TOLD_ANYWAY = ("demonstration", "keys_unread", HOST_ELSEWHERE, UNREAD, CONDENSED, SPREAD)
"""Notes on what the answer rests on: who wants it alone has to know, in a line each."""
PRIORITIES = {"low": -1, "normal": 0, "high": 1}


def ask_command(flags: Mapping[str, Any]) -> int:
    refuse_idle_priority(flags)
    _refuse_words_of_a_batch(flags)
    settings = settings_of(flags)
    refuse_stray_words(flags, settings)
    question = _question(flags["question"], flags["context"])
    request = _decided(question, flags, settings)
    return interruptible(lambda left: _ask(request, flags, settings, left))


def _refuse_words_of_a_batch(flags: Mapping[str, Any]) -> None:
    """UsageError for what only means something with several questions."""
    given = (("--at-once", flags.get("at_once", 1) > 1), ("--fresh", flags.get("fresh", False)))
    if word := next((word for word, said in given if said), ""):
        raise UsageError(
            f"{word} is for several questions from a file.",
            f"Add --questions FILE, or leave {word} out.",
        )


def refuse_idle_priority(flags: Mapping[str, Any]) -> None:
    """UsageError where it is said what a question is to come before, and it waits for nobody."""
    if PRIORITIES[flags["priority"]] and not flags["detach"]:
        raise UsageError(
            f"--priority {flags['priority']} is for a question that waits for a worker.",
            "Add --detach, or leave --priority out: here it begins at once.",
        )


def _decided(question: str, flags: Mapping[str, Any], settings: Settings) -> OpenRequest:
    """The request. Where it seems to hold secrets, a person at the terminal decides."""
    documents = NOTHING
    if flags["context"]:
        from ...documents.gather import gather

        watched = is_terminal(sys.stderr) and not flags["quiet"]
        tell = (lambda name: echo_error(f"Reading {name}…")) if watched else lambda _: None
        documents = gather(flags["context"], lambda: read_text("-"), tell)
    try:
        return request_of(question, flags, settings, documents=documents)
    except SecretsFound as found:
        if flags["dry_run"] and flags["secrets"] is None:
            # Nothing is sent, and what is shown is redacted.
            shown = request_of(
                question, {**flags, "secrets": "send"}, settings, documents=documents
            )
            return replace(shown, notes=(*shown.notes, _refused(found)))
        asked = flags["as_json"] or not is_terminal(sys.stdin) or not is_terminal(sys.stderr)
        if flags["secrets"] is not None or asked:
            raise
        echo_error(found.message)
        answer = asyncio.run(
            ask_line("Send it without the secrets, send it as it is, or stop? [redact/send/N]")
        )
        wanted = (answer or "").strip().lower()
        how = next(
            (each for each in ("redact", "send") if wanted and each.startswith(wanted)), None
        )
        if how is None:
            raise
        return request_of(question, {**flags, "secrets": how}, settings, documents=documents)


def _refused(found: SecretsFound) -> NoteAdded:
    return NoteAdded(
        code="secrets",
        text=f"Without --dry-run this is refused: the material seems to contain secrets. "
        f"{'; '.join(found.found)}.",
        remedy=found.remedy,
    )


def resume_command(flags: Mapping[str, Any]) -> int:
    settings = settings_here(tell=False)
    # What was opened with it remembers it; said only now, it is of this run.
    same = " --no-log" if flags["no_log"] else ""
    return interruptible(lambda left: _resume(flags, settings, left), same=same)


async def _ask(
    request: OpenRequest, flags: Mapping[str, Any], settings: Settings, left: Left
) -> int:
    async with start(settings, delivery=files_of(flags, settings), progress=echo_error) as app:
        refuse_what_cannot_be_told(app, request, flags)
        if flags["dry_run"]:
            from .dry_run import dry_run

            return await dry_run(app, request, as_json=flags["as_json"], verbose=flags["verbose"])
        # What is only to be confirmed does not wait for a worker yet.
        at_once = flags["detach"] and not flags["confirm"]
        if flags["detach"]:
            app.service.check_queue()
        request = replace(request, priority=PRIORITIES[flags["priority"]])
        state, _ = await open_as(app, OWNER, request, queued=at_once)
        left.begun.append(state.discussion_id)
        hint = simple_question_hint(state.start.topic)
        advised = any(note.code == "fit" for note in state.notes)  # by the procedure itself
        if hint and not advised and not flags["quiet"]:
            echo_error(hint)
        _tell(notes(state), flags)
        opening: tuple[str, ...] = ()
        if flags["confirm"] or not flags["quiet"]:
            told = await app.service.tell_estimate(state, left.telling(echo_error))
            opening = (
                f"Discussion {state.discussion_id}, {state.start.procedure}",
                estimate_line(told, state),
            )
            if flags["confirm"] or flags["detach"] or not is_live(**_shown(flags)):
                for line in opening:
                    echo_error(line)
                opening = ()  # where somebody watches, it is part of the view and goes with it
            for over in over_budget(told, state.budget):
                echo_error(f"Note: this may exceed the limits ({over}).")
            if state.notification_plan is not None or flags["verbose"]:
                echo_error(announcement(state))
        if flags["confirm"]:
            try:
                agreed = await confirmed("Go ahead?", "Leave --confirm out to begin unasked.")
            except UsageError:
                await _decline(app, state, left)
                raise
            if not agreed:
                await _decline(app, state, left)
                if flags["as_json"]:
                    print_json({"discussion_id": None, "status": "declined"})
                return FAILED
        if flags["detach"]:
            return await _left_to_a_worker(app, state, flags, left, request.priority)
        return await _run(app, state, flags, left, opening)


async def _decline(app: App, state: State, left: Left) -> None:
    """What was opened and is not to begin leaves nothing behind."""
    if state.notification_plan is not None:  # what did not take place is no news
        await app.service.record(state.discussion_id, NewsPlanned(plan=CONFIDENTIAL))
    await app.service.delete(state.discussion_id)
    left.begun.clear()
    echo_error("Nothing was spent.")


async def _left_to_a_worker(
    app: App, state: State, flags: Mapping[str, Any], left: Left, priority: int = 0
) -> int:
    """Say which discussion it is, and how to follow it."""
    discussion_id = state.discussion_id
    await app.service.enqueue(discussion_id, priority=priority)
    left.begun.clear()
    if flags["as_json"]:
        print_json({"discussion_id": discussion_id, "status": "queued"})
    else:
        echo(discussion_id)
    if not flags["quiet"]:
        if not await app.service.has_workers():
            echo_error("No worker is there yet. Start one, on any machine: roundtable worker")
        echo_error(
            f"Follow it, and leave whenever you like: roundtable show {discussion_id} --follow"
        )
    return 0


def refuse_what_cannot_be_told(app: App, request: OpenRequest, flags: Mapping[str, Any]) -> None:
    """UsageError for channels and boards that somebody names on this line and that nothing can be
    sent to: before anything is spent. Those of the settings are warned of, and wait."""
    wrong: list[tuple[str, str]] = []
    if flags["notify"]:
        notes = app.notifier.warnings(request.news)
        wrong += [(note.text, _now(note.remedy)) for note in notes if note.remedy]
    if request.task is not None:
        try:
            app.check_board(request.task.board)
        except RoundtableError as error:
            wrong.append((error.message, error.remedy))
    if wrong:
        raise UsageError(
            " ".join(text for text, _ in wrong), " ".join(remedy for _, remedy in wrong)
        )


def _now(remedy: str) -> str:
    """The remedy of a warning, for whoever has not begun."""
    return remedy.partition(", then:")[0].rstrip(".") + ", or leave --notify out."


async def _resume(flags: Mapping[str, Any], settings: Settings, left: Left) -> int:
    async with start(settings, delivery=files_of(flags, settings), progress=echo_error) as app:
        if flags["again"] and not flags["discussion_id"]:
            raise UsageError("--again needs a discussion.", "Such as: roundtable resume last …")
        discussion_id = flags["discussion_id"] or await _newest_interrupted(app)
        here = flags["here"]
        if flags["detach"]:
            _refuse_here_for_a_worker(flags)
            await app.service.check_room(discussion_id)
        stage, limits = flags["again"], await _higher_limits(app, discussion_id, flags)
        if stage:
            again = partial(again_as, app, OWNER, discussion_id, stage, by="the user", here=here)
            await again(limits=limits)
        elif limits is not None:
            state = await app.service.read(discussion_id)
            await raise_to(app, OWNER, state, limits, by="the user", here=here)
        state = await app.service.read(discussion_id)
        if state.closed is not None:
            echo_error(f"{discussion_id} came to its end before; this is what it said.")
            return _deliver(state, flags)
        if flags["detach"]:
            left.begun.append(discussion_id)
            if state.paused is not None:
                state = await app.service.resume(discussion_id, by="the user")
            return await _left_to_a_worker(app, state, flags, left)
        if not await app.service.is_driven(discussion_id):
            await app.service.check_ways(discussion_id, here=here)
        left.begun.append(discussion_id)
        if state.paused is not None:
            state = await app.service.resume(discussion_id, by="the user")
            if await app.service.is_driven(state.discussion_id):
                left.begun.clear()
                echo_error("It continues: another process is running it.")
                return 0
        done = sum(1 for turn in state.turns.values() if turn.over)
        echo_error(f"Resuming {discussion_id}: {_stay_done(done)}")
        _tell(notes(state), flags)
        code = await _run(app, state, flags, left)
        if stage and code == 0 and _stands(state := await app.service.read(discussion_id), stage):
            remedy = f" {to_ask_again(state, stage)}" if state.kept_by else ""
            echo_error(f"{stage} could not be asked again: what was said before stands.{remedy}")
            return BUDGET if state.kept_by else FAILED
        return code


def _stands(state: State, stage: str) -> bool:
    """Whether nothing came of asking a stage again, so that what was said there before counts."""
    if state.kept_by:
        return True
    asked = {turn for at in state.stages.values() for turn in at.opened.turns}
    here = {f"{STANDS}/{turn}" for turn in asked if turn.split("/")[1] == stage}
    return any(note.code in here for note in state.notes)


def _refuse_here_for_a_worker(flags: Mapping[str, Any]) -> None:
    if flags["here"]:
        raise UsageError(
            "--here means the addresses of this shell; a worker has its own.",
            "Leave out --here or --detach.",
        )


def _stay_done(turns: int) -> str:
    if turns == 1:
        return "1 turn is done and is not repeated."
    return f"{turns} turns are done and are not repeated." if turns else "no turn is done yet."


async def _higher_limits(app: App, discussion_id: str, flags: Mapping[str, Any]) -> Limits | None:
    """As far as the discussion may go on, where limits are given."""
    state = await app.service.read(discussion_id)
    given = {word: flags[word] for word in LIMIT_WORDS}
    higher = higher_limits(app.settings, state, given, surface="cli")
    if higher is None:
        return None
    limits, lowered = higher
    for note in lowered:
        echo_error(f"Note: {note.text}")
    return limits


async def _newest_interrupted(app: App) -> str:
    for row in await app.service.summaries():
        if row.interrupted:
            return row.discussion_id
    raise NotAllowed("No discussion was interrupted.", "`roundtable list` shows all of them.")


async def _run(
    app: App,
    state: State,
    flags: Mapping[str, Any],
    left: Left,
    opening: Sequence[str] = (),
) -> int:
    """Drive it to its end, and deliver what came of it. `opening`: what whoever watches should see
    of it before anybody speaks."""
    if state.closed is None and any(
        seat.speaker.demonstration for seat in (*state.start.participants, state.start.host)
    ):
        await app.ensure_weights()
    await show_page(app.settings, state, flags)
    told = notes(state)
    how = _shown(flags)
    # Only who watches wants to know, and earlier discussions are looked at for it.
    expected = await expected_of(app.service, state) if is_live(**how) else NOTHING_EXPECTED
    progress = make_progress(**how, expected=expected, opening=opening)
    asker = _asker(flags, progress)
    awaited = Awaited(state, asker, progress.say)

    def on_event(record: StoredEvent, now: State) -> None:
        progress.on_event(record, now)
        awaited.look(now)

    try:
        awaited.look(state)
        async with (
            at_the_keyboard(app, state, asker),
            posting(app.settings.home, progress.on_draft, app.exchange) as on_draft,
        ):
            state = await app.service.run(
                state.discussion_id,
                on_draft=on_draft,
                on_event=on_event,
                on_notice=left.telling(
                    echo_error if flags["quiet"] else progress.say, quiet=flags["quiet"]
                ),
                asker=asker,
                # What was opened a moment ago is held where it was opened.
                here=flags.get("here", False),
            )
    finally:
        progress.close()
    new = [note for note in notes(state) if note not in told]
    trace = progress.trace()
    said = (*TOLD_AT_ONCE, *(() if state.verdict is not None else TOLD_BY_THE_ERROR))
    _tell(
        [n for n in new if (_beside_the_verdict(n) if trace else n.code not in said)],
        flags,
    )
    if trace:
        echo_error(f"{trace}\n")
    code = _deliver(state, flags)
    written: list[str] = []
    if state.verdict is not None and leaves_files(state, flags):
        written = write_files(app, state, flags)
    if state.task is not None:
        await _comment_on_task(app, state, written)
    return code


def _shown(flags: Mapping[str, Any]) -> dict[str, bool]:
    """How it is to be shown while it is held."""
    return {each: bool(flags[each]) for each in ("quiet", "plain", "verbose")}


async def _comment_on_task(app: App, state: State, written: Sequence[str]) -> None:
    """A board that cannot be reached must not take the answer away."""
    assert state.task is not None, "only a linked discussion is reported"
    try:
        reporter = app.reporter(state.task.board)
        document = next((path for path in written if path.endswith(".md")), "")
        reported = await reporter.report(state.discussion_id, document=document, create=False)
        problems: Sequence[str] = reported.problems
    except RoundtableError as error:
        problems = [str(error)]
    for problem in problems:
        echo_error(f"Note: {problem}")
    if not problems:
        echo_error(f"Told {state.task.board}: {state.task.task}")


def _deliver(state: State, flags: Mapping[str, Any]) -> int:
    """The result on stdout, how it ended on stderr, and the exit code."""
    from ...views.delivery import Delivery
    from .verdict import Verdict, print_verdict

    if flags["as_json"]:
        _print_json(state)
    elif state.verdict is not None:
        # Without files a long work would be nowhere to be seen.
        verdict = Verdict.of(state, LAST, whole_works=not leaves_files(state, flags))
        print_verdict(verdict, quiet=flags["quiet"], plain=flags["plain"])
        if flags["verbose"]:
            print_markdown(f"\n{procedure_spec(state.start.procedure).deliver(state, __version__)}")
    closed = state.closed
    assert closed is not None, "a discussion that was driven to its end is closed"
    if state.verdict is None:
        echo_error(f"Error: {closed.detail}")
        echo_error(closed.remedy)
        return FAILED
    if closed.detail:
        echo_error(f"{closed.detail} {closed.remedy}".strip())
    if closed.stop_reason == "budget":
        return BUDGET
    if unvoted := Delivery.of(state).nobody_voted:
        echo_error(f"Error: nobody chose an answer. {unvoted}")
        echo_error("Ask again with other models: `roundtable models` shows which can be used now.")
        return FAILED
    return 0


def _print_json(state: State) -> None:
    from ...views.result import result

    print_json(result(state))


def leaves_files(state: State, flags: Mapping[str, Any]) -> bool:
    """Whether the workspace gets files of it: not if this line or the one that asked says no."""
    return state.start.files and not flags["no_log"]


def files_of(flags: Mapping[str, Any], settings: Settings) -> WorkspaceFiles | None:
    return None if flags["no_log"] else WorkspaceFiles(settings.workspace)


def _not_written(error: OSError | RoundtableError) -> str:
    """Why, and what to do."""
    if not isinstance(error, OSError):
        return str(error)
    where = f"{error.filename}: " if error.filename else ""
    remedy = "Make the folder writable."
    if error.errno in (errno.ENOTDIR, errno.EEXIST, errno.EISDIR):
        remedy = "Something else has the name of a folder or a file there: move it away."
    elif error.errno in (errno.ENOSPC, errno.EDQUOT):
        remedy = "Make room there."
    return f"{where}{error.strerror or error}. {remedy} roundtable export writes the report later."


def write_files(app: App, state: State, flags: Mapping[str, Any]) -> list[str]:
    """Where the files are. One that cannot be written must not take the answer away."""
    try:
        chosen = flags.get("output_dir")
        folder = Path(chosen).expanduser() if chosen else None
        written = write_outputs(state, app.settings.workspace, folder=folder)
    except (OSError, RoundtableError) as error:
        echo_error(f"Note: not everything could be written to the workspace: {_not_written(error)}")
        return []
    places: list[str] = []
    for path in written:
        shown = path
        with suppress(ValueError):
            shown = path.relative_to(app.settings.workspace.resolve())
        places.append(str(shown))
        if not flags["quiet"]:
            echo_error(f"Written: {shown}")
    return places


def _tell(found: Sequence[Note], flags: Mapping[str, Any]) -> None:
    """Each in a line of its own; of many documents the first, and how to see the others."""
    told = [note for note in found if not flags["quiet"] or note.code in TOLD_ANYWAY]
    of_documents = [note for note in told if note.code in (UNREAD, DOCUMENTS)]
    folded = [] if flags["verbose"] else of_documents[MOST_DOCUMENTS:]
    for note in told:
        if folded and note in folded:
            if note is folded[0]:
                show = f"roundtable show {LAST} --full"
                echo_error(f"Note: And {len(folded)} more of the documents: {show}")
            continue
        text = note.text if flags["verbose"] else clip_words(note.text, LONGEST_NOTE)
        demonstrates = note.code == "demonstration"
        echo_error(f"{'⚠️  ' if demonstrates else 'Note: '}{text}")
        if note.remedy and (demonstrates or not flags["quiet"]):
            echo_error(f"   {note.remedy}")


def _beside_the_verdict(note: Note) -> bool:
    """Whether a note says what the verdict, which stands right below it, does not say itself."""
    from ...views.decision_flags import NOTES, ONE_FAMILY

    said = (*NOTES, ONE_FAMILY, CUT_SHORT, "missing", "substituted", "budget", "extracted_verdict")
    return note.code.partition("/")[0] not in said


def settings_of(flags: Mapping[str, Any]) -> Settings:
    settings = settings_here(tell=False)  # the discussion's notes do
    return settings.with_model(flags["model"]) if flags["model"] else settings


def request_of(
    question: str,
    flags: Mapping[str, Any],
    settings: Settings,
    *,
    surface: Surface = "cli",
    usual: str | None = None,
    documents: Gathered = NOTHING,
    options: Mapping[str, Any] | None = None,
) -> OpenRequest:
    """The request of a command line, or of a chat that uses its words. `usual` is the procedure
    where nothing tells another; `options` are further ones, stronger than those of the line."""
    for name, value in flags.items():
        if value == "":  # as from a variable that is not set: not a wish for the default
            raise UsageError(
                f"--{name.replace('_', '-')} is empty.", "Give it a value, or leave it out."
            )
    if flags.get("follows") and flags["model"] and not (flags["procedure"] or given(flags)):
        raise UsageError(
            "The same table keeps its models: --model is for one that is set anew.",
            "Name a procedure as well, such as --procedure council, or leave --model out.",
        )
    request = open_request(
        settings,
        question,
        surface=surface,
        procedure=flags["procedure"],
        usual=usual,
        options={**given(flags), **(options or {})},
        context=documents.materials,
        notes=documents.notes,
        language=flags["language"],
        budget={word: flags[word] for word in LIMIT_WORDS},
        follows=flags.get("follows", ""),
        here=flags.get("here", False),
        context_from=flags.get("context_from") or (),
        pace=checked(
            Pace, {name: flags[name] for name in Pace.model_fields if name in flags}, surface
        ),
        search=not flags["no_search"],
        created_by="command line",
        news=flags["notify"],
        confidential=flags["confidential"],
        task=linked_task(flags["task"]) if flags["task"] else None,
        secrets=flags["secrets"],
        clarify=surface == "cli" and not flags["no_clarify"] and _somebody_is_there(flags),
    )
    _refuse_news_in_json(request, flags, settings)
    return replace(request, files=not flags["no_log"])


def _refuse_news_in_json(
    request: OpenRequest, flags: Mapping[str, Any], settings: Settings
) -> None:
    told = request.news or settings.notifications_for(request.procedure)
    if flags["as_json"] and told and any(each.platform == "stdout" for each in told.channels):
        raise UsageError(
            "With --json, standard output carries one document and no news.",
            "Send the news elsewhere, such as --notify stderr.",
        )


def _question(words: Sequence[str], context: Sequence[str]) -> str:
    if list(words) != ["-"]:
        if words or "-" in context or is_terminal(sys.stdin):
            return " ".join(words)
        return read_text("-")
    if "-" in context:
        raise BadTopic("Standard input cannot be both question and context.", "Give one by file.")
    return read_text("-")


def _asker(flags: Mapping[str, Any], progress: Progress) -> TerminalAsker | None:
    if not _somebody_is_there(flags):
        return None
    return TerminalAsker(progress.pause, progress.go_on)


def _somebody_is_there(flags: Mapping[str, Any]) -> bool:
    return not flags["as_json"] and is_terminal(sys.stdin)
