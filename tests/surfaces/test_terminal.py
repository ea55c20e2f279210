"""What a terminal shows: it fits every width, speaks every encoding, and obeys nobody but us."""

from __future__ import annotations

import ast
import io
import os
import re
import signal
import unicodedata
from dataclasses import fields, is_dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import pytest

from roundtable.core.events import AttemptFailed, AttemptStarted, NoteAdded, SpeechGiven
from roundtable.core.state import State, fold
from roundtable.engine.tools import Draft
from roundtable.examples import examples
from roundtable.surfaces.cli.board import Board, Seat, short_model
from roundtable.surfaces.cli.encoding import readable_in
from roundtable.surfaces.cli.expected import Expected
from roundtable.surfaces.cli.live import REDRAWS, SETTLED, LiveProgress, Pane, rewraps
from roundtable.surfaces.cli.progress import PlainProgress, told
from roundtable.surfaces.cli.screen import Screen, cells, cut, cut_front, wrapped
from roundtable.surfaces.cli.typeset import Sheet
from roundtable.surfaces.cli.verdict import Verdict, in_short, typeset
from roundtable.views.decision_parts import Cause, Kind
from roundtable.views.notes import notes
from tests.rehearsal import Billed, Table, run_in_virtual_time
from tests.servers import provider_server
from tests.wire import Asked

from .desk import ECHO, QUICK, SOURCES, Desk, obedient
from .pane import Page
from .test_progress import terminal

NAMES = tuple(examples())
WIDTHS = (20, 40, 80, 200)
NARROWER = (3, 8, 13)
HOSTILE = (
    "\x1b]8;;https://leak.invalid\x07here\x1b]8;;\x07 \x1b]52;c;cm0gLXJm\x07 \x1b[2J\x1b[10A"
    " \u202eevil\u202c \u2066x\u2069 \u200b\u200b\u200b\u200b\u200b\u200b \x9b31m \r\x00\x08 "
)
FORBIDDEN = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\u200b{4}")
SEEN = "日本語の長い文章は空白なしで折り返される。 é́ 👨‍👩‍👧 ﷽ العربية السعودية " * 3


def example(name: str) -> State:
    return fold(examples()[name].records())


# It fits


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_a_verdict_fits_every_width(name: str, width: int) -> None:
    verdict = Verdict.of(example(name))
    for lines in (typeset(verdict, Screen(width), question=True), in_short(verdict, Screen(width))):
        wide = [line.strip() for line in lines if cells(line) > width]
        assert [line for line in wide if not line.startswith("roundtable ")] == []
        assert lines[-1] != ""
        assert not any(one == two == "" for one, two in pairwise(lines))


@pytest.mark.parametrize("name", NAMES)
def test_the_answer_stands_first_and_the_votes_right_below_it(name: str) -> None:
    verdict = Verdict.of(example(name))
    lines = typeset(verdict, Screen(100))
    assert verdict.decision.answer.first.startswith(lines[0])
    first = next(n for n, line in enumerate(lines) if not line)
    assert re.match(r"  \d (of|:) \d", lines[first + 1])
    assert in_short(verdict, Screen(100))[: first + 2] == lines[: first + 2]
    assert lines[-1].endswith(f"roundtable show example:{name} --full")


def test_how_it_stood_before_is_said_of_those_who_chose_it() -> None:
    verdict = Verdict.of(example("rails-monolith"))
    vote = verdict.decision.votes[0]
    pieces = (*vote.pieces[:-1], replace(vote.pieces[-1], name="Ann", side="other", held="Wait"))
    vote = replace(vote, pieces=pieces, unchanged=True)
    decision = replace(verdict.decision, votes=(vote,))
    lines = typeset(replace(verdict, decision=decision), Screen(100))
    first = next(n for n, line in enumerate(lines) if "already so before they heard" in line)
    assert "Ann" not in lines[first]
    assert lines[first + 1].strip() == "Ann: Wait"


@pytest.mark.parametrize("width", WIDTHS)
def test_long_words_wide_letters_and_marks_are_broken_between_graphemes(width: int) -> None:
    accented = "e\u0301" * 150
    text = f"{SEEN} https://example.org/{'x' * 300} {accented} {'Donaudampfschiff' * 20}"
    lines = wrapped(text, width)
    assert max(map(cells, lines)) <= width
    assert "".join("".join(lines).split()) == "".join(text.split())
    for line in lines:
        assert not unicodedata.combining(line[0]), "no line begins with a mark"
        assert line[0] not in "。、\u200d"


COMMAND = "roundtable resume rt_8bb8bcdc --max-tokens 21018 --max-calls 10 --max-cost 0.12"


PIP = "pip install 'roundtable-council[demo]'"


@pytest.mark.requirement("Z-35")
@pytest.mark.parametrize("width", [20, 80, 160])
@pytest.mark.parametrize(
    ("before", "command", "after"),
    [
        ("Stopped. Raise the limits to let the table finish: ", COMMAND, ""),
        ("Raise the limits: ", COMMAND, ". Then it goes on where it ended."),
        ("Is it worth it? `", COMMAND, "` lets it finish."),
        ("", 'roundtable follow-up last "Is it. Or not?" --procedure council', ""),
        ("Read it (", "roundtable show last --deliverable our-plan.md", "), it is long."),
        ("Or without a key (", PIP, ")."),
    ],
)
def test_a_command_to_be_pasted_stands_in_one_line_however_narrow_it_is(
    before: str, command: str, after: str, width: int
) -> None:
    text = f"{before}{command}{after}"
    sheet = Sheet(Screen(width))
    sheet.paragraph(text)
    sheet.item(text, "!")
    sheet.entry("3 of 3", "Yes", "high", 8, below=text)
    sheet.rows([("1", "now", text)], (2, 18, 0), ("", "", ""))
    for lines in (wrapped(text, width), wrapped(text, width, chop=False)):
        assert " ".join(lines) == text
        assert sum(command in line for line in lines) == 1
    assert sum(command in line for line in sheet.lines) == 4
    assert all(command in line for line in sheet.lines if cells(line) > width)
    assert all(cells(line) <= width for line in wrapped(text, width, fit=True))


@pytest.mark.requirement("Z-35")
def test_the_command_that_lets_a_run_finish_can_be_copied_wherever_it_stands(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = ("--max-calls", "5", "--max-tokens", "9000")
    asked = desk("Tea or coffee?", "--procedure", "council", *ECHO, "--no-log", *limits)
    assert asked.code == 3, asked.err
    told, remedy = [asked.out, asked.err], desk("show", "last", "--json").document["remedy"]
    command = remedy[remedy.index("roundtable resume") :]
    assert command.count("--max-") == 2, command
    for columns in ("20", "80", "160"):
        monkeypatch.setenv("COLUMNS", columns)
        told.append(desk("show", "last").out)
    with terminal(desk, "show", "last", "--full", COLUMNS="40") as whole:
        assert whole.end() == 0
    told.append(whole.seen)
    for each in told:
        assert any(line.rstrip().endswith(command) for line in each.splitlines()), each


def test_arabic_is_broken_between_words_alone() -> None:
    text = "العربية السعودية دولة كبيرة في غرب آسيا وهي مهمة"
    assert " ".join(wrapped(text, 20)) == text


@pytest.mark.parametrize("text", [SEEN, "plain words that go on and on", "x" * 90, "", "日"])
@pytest.mark.parametrize("width", [1, 2, 5, 17, 400])
def test_what_is_cut_is_never_wider_than_it_may_be(text: str, width: int) -> None:
    for short in (cut(text, width), cut_front(text, width)):
        assert cells(short) <= width
    if cells(text) <= width:
        assert cut(text, width) == cut_front(text, width) == text


def test_code_keeps_its_lines_and_its_indents() -> None:
    sheet = Sheet(Screen(40))
    sheet.prose("Do this:\n\n```python\nfor x in y:\n    print(x)\n```\n\n1. **First**\n2. then\n")
    assert [line for line in sheet.lines if line] == [
        "  Do this:",
        "    for x in y:",
        "        print(x)",
        "  1. First",
        "  2. then",
    ]


def test_the_answer_is_in_the_words_of_its_option(desk: Desk) -> None:
    stubborn = ("--models", "scripted/stubborn", "--host", "scripted/echo", "--no-log")
    choices = ("<dialog>", "__new__ and 2**3**2 in src/**/x.py")
    for choice in choices:
        question = "Is `__a__` or <img src=x.png> the one?"
        ask = ("ask", question, *stubborn, "--experts", "Ann,Bob", "--choices", f"other,{choice}")
        asked = desk(*ask, "--json").document
        assert asked["answer"] == choice
        assert asked["options"]["choices"] == ["other", choice]
        lines = desk("show", "last").out.splitlines()
        assert f"{choice}." in lines, "the first line"
        assert any(line.startswith(f"  2 of 2    {choice}") for line in lines)
        with terminal(desk, "show", "last", COLUMNS="100") as person:
            assert person.end() == 0
        assert question in person.seen, "a terminal loads nothing"


def test_a_figure_that_is_too_wide_for_its_column_stands_above_what_it_stands_for() -> None:
    sheet = Sheet(Screen(80))
    sheet.entry("3 : 1 : 1 : 1", "not settled", "", 8)
    assert [line.strip() for line in sheet.lines] == ["3 : 1 : 1 : 1", "not settled"]


# It obeys nobody


def poisoned(value: Any) -> Any:
    """A value with hostile words in every text of it."""
    if is_dataclass(value) and not isinstance(value, type):
        changed = {f.name: poisoned(getattr(value, f.name)) for f in fields(value) if f.init}
        return replace(value, **changed)
    match value:
        case str() if value in {"decided", "answer", "other", "own", "high", "absent"}:
            return value  # a kind of ours, which decides what is shown
        case str():
            return f"{HOSTILE}{value}"
        case tuple():
            return tuple(poisoned(each) for each in value)
        case _:
            return value


@pytest.mark.requirement("Z-39")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [20, 80])
def test_no_text_of_a_verdict_can_command_a_terminal(name: str, width: int) -> None:
    verdict = poisoned(Verdict.of(example(name), whole_works=True))
    for lines in (typeset(verdict, Screen(width), question=True), in_short(verdict, Screen(width))):
        text = "\n".join(lines)
        assert not FORBIDDEN.search(text), FORBIDDEN.search(text)
        assert "leak.invalid" in text.replace("\n", "").replace(" ", "")


@pytest.mark.requirement("Z-39")
def test_no_text_of_the_board_can_command_a_terminal() -> None:
    board = watched("free-buses")
    board.question = HOSTILE
    for seat in board.seats.values():
        seat.name, seat.model, seat.told = HOSTILE, HOSTILE, HOSTILE
    for width in WIDTHS:
        text = "\n".join(board.lines(Screen(width), 1.0))
        assert not FORBIDDEN.search(text)


def test_only_what_was_made_harmless_is_written_to_a_terminal() -> None:
    """Every way to a stream in the command line is known, and what goes along it was cleaned."""
    cleaned = re.compile(
        r"for_screen|_broken\(|visible\(|outgoing|json\.dumps|^text$|^'\\n'\.join\(lines\)$"
    )
    for path in sorted((SOURCES / "roundtable" / "surfaces" / "cli").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            where = f"{path.name}:{node.lineno}: {ast.unparse(node)}"
            if called == "print_lines":
                assert path.name == "verdict.py", where
            if called.endswith((".write", ".writelines")) and "std" in called:
                assert path.name == "terminal.py", where  # byte for byte, into a pipe
            assert called != "print", where
            if called == "click.echo" and path.name == "terminal.py":
                assert cleaned.search(ast.unparse(node.args[0])), where


@pytest.mark.requirement("Z-39")
def test_hostile_speakers_names_and_questions_get_no_code_through(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hostile(asked: Asked) -> str:
        return obedient(asked).replace(" by ", f" {HOSTILE} by ")

    # What no keyboard writes is refused in a question, with a word on what to do.
    assert desk(f"Tea {HOSTILE} or coffee?", *QUICK).code == 2
    question = "Tea \u202eevil\u202c \u2066x\u2069 or coffee?"
    seats = ("--all=openai/any", "--model=openai/any", "--quick", "--no-log")
    with provider_server(hostile) as server:
        for name, value in server.env().items():
            monkeypatch.setenv(name, value)
        with terminal(desk, question, *seats) as screen:
            assert screen.end() == 0
        with terminal(desk, "show", "last", "--full") as whole:
            assert whole.end() == 0
    for seen in (screen.seen, whole.seen):
        Page(100, 40).feed(seen)  # which knows no codes but ours
        assert not re.search(r"[\u202a-\u202e\u2066-\u2069\x80-\x9f]|\x1b\]|\x07", seen)


# The live view


def watched(name: str, until: int | None = None) -> Board:
    """The board of an example as it stands after so many events."""
    board, state = Board(expected=Expected(150.0, 0.18)), State()
    for record in examples()[name].records()[:until]:
        state.apply(record)
        board.on_event(record, state)
    return board


def stages(name: str) -> list[int]:
    return list(range(2, len(examples()[name].records()), 7))


@pytest.mark.requirement("I-06")
@pytest.mark.parametrize("name", NAMES)
def test_the_board_fits_every_screen_at_every_moment(name: str) -> None:
    for until in stages(name):
        board = watched(name, until)
        for width in (*NARROWER, *WIDTHS):
            for height in (3, 10, 24):
                lines = board.lines(Screen(width, height), 41.0)
                assert len(lines) < height
                assert max(map(cells, lines)) < width


@pytest.mark.requirement("I-06", "D-25")
def test_the_board_says_who_does_what_which_step_it_is_and_what_it_takes() -> None:
    records = examples()["rails-monolith"].records()
    middle = next(n for n, r in enumerate(records) if r.event.type == "SpeechGiven") + 1
    lines = watched("rails-monolith", middle).lines(Screen(120), 41.0)
    text = "\n".join(lines)
    assert "Should we extract services, modularise the monolith" in lines[1]
    assert re.search(r"0:41 of about 2:30", text)
    assert "○ answer" in text
    later = "\n".join(watched("rails-monolith").lines(Screen(120), 41.0))
    assert re.search(r"Software Architect +\S+ +✓ \d+ words +\w+", later)
    assert "✓ answers  ✓ replies  ✓ vote  ✓ answer" in later


@pytest.mark.requirement("I-06")
def test_the_board_tells_what_is_spent_while_somebody_speaks() -> None:
    table = Table({"*": Billed()})
    records = run_in_virtual_time(table.records(run_in_virtual_time(table.ask())))
    board, state = Board(), State()
    for record in records:
        state.apply(record)
        board.on_event(record, state)
        assert board.cost.startswith("$")


@pytest.mark.requirement("I-06")
def test_the_board_leaves_out_an_expectation_that_is_passed_by_far() -> None:
    text = "\n".join(watched("rails-monolith").lines(Screen(120), 1_000.0))
    assert "16:40" in text
    assert "of about 2:30" not in text


@pytest.mark.requirement("I-06")
def test_the_board_tells_no_cost_that_nobody_knows_and_no_time_that_is_over() -> None:
    unpriced = Board(expected=Expected(seconds=6.0), cost="$0.00", far="turn 2 of 4")
    text = "\n".join(unpriced.lines(Screen(120), 7.0))
    assert "$" not in text
    assert "turn 2 of 4    0:07" in text
    assert "about" not in text
    priced = Board(expected=Expected(seconds=6.0, usd=0.2), cost="$0.00")
    assert "0:05 of about 0:06    $0.00 of about $0.20" in priced.lines(Screen(120), 5.0)[-1]


def test_on_a_low_screen_whoever_sits_here_is_shown_before_all_else() -> None:
    board = watched("rails-monolith")
    board.opening = ("Discussion rt_1", "what it takes " * 9)
    names = [seat.name for seat in board.seats.values()]
    for height in (10, 24):
        text = "\n".join(board.lines(Screen(30, height), 1.0))
        assert all(name[:8] in text for name in names)
        assert ("Discussion rt_1" in text) == (height == 24)


@pytest.mark.requirement("I-06")
def test_a_seat_whose_provider_wants_a_pause_is_seen_to_wait() -> None:
    records = examples()["free-buses"].records()
    at = next(
        n
        for n, record in enumerate(records)
        if isinstance(record.event, AttemptStarted) and record.event.round
    )
    board, state = watched("free-buses", at + 1), fold(records[: at + 1])
    begun = records[at].event
    assert isinstance(begun, AttemptStarted)
    failed = AttemptFailed(
        turn_id=begun.turn_id,
        attempt=begun.attempt,
        cause="rate_limited",
        message="Too many requests.",
        retry_after=29.2,
    )
    record = replace(records[at], seq=records[at].seq + 1, event=failed)
    state.apply(record)
    board.on_event(record, state)
    text = "\n".join(board.lines(Screen(160), 1.0))
    assert "○ waits 29 s" in text
    assert "○ waits 10 s" in "\n".join(board.lines(Screen(160), 20.0)), "it is counted down"
    others = [seat.doing for seat in board.seats.values()]
    asks = f"{begun.model.partition('/')[0]} asks to be left alone"
    assert text.count(asks) == others.count("waits") - 1, "whoever has not been let in waits too"
    assert asks not in "\n".join(board.lines(Screen(160), 31.0))
    assert "Too many requests. It asks to be left alone for 30 s." in text
    assert told(record, state).endswith("Too many requests. It asks to be left alone for 30 s.")


@pytest.mark.requirement("I-06")
def test_every_wait_for_a_provider_is_told_however_often_it_is_the_same(
    capsys: pytest.CaptureFixture[str],
) -> None:
    records = examples()["free-buses"].records()
    at = next(n for n, r in enumerate(records) if isinstance(r.event, AttemptStarted))
    begun, state, lines = records[at].event, fold(records[: at + 1]), PlainProgress()
    assert isinstance(begun, AttemptStarted)
    failed = AttemptFailed(
        turn_id=begun.turn_id, attempt=1, cause="rate_limited", message="No.", retry_after=9.0
    )
    for _ in range(2):
        lines.on_event(replace(records[at], event=failed), state)
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 2
    assert all(line.endswith("No. It asks to be left alone for 9 s.") for line in told)


@pytest.mark.requirement("I-06")
def test_turns_that_a_speech_or_a_note_cites_have_names_in_its_line() -> None:
    records = examples()["free-buses"].records()
    at, speech = next(
        (n, record.event)
        for n, record in enumerate(records)
        if isinstance(record.event, SpeechGiven) and record.event.round
    )
    cites = f"As {speech.turn_id} says."
    changed = speech.model_copy(update={"text": cites, "declaration": None})
    record = replace(records[at], event=changed)
    note = NoteAdded(code="condensed/1", text=f"The prompt of turn {speech.turn_id} was condensed.")
    noted = replace(record, seq=record.seq + 1, event=note)
    state = fold((*records[:at], record, noted))
    board = watched("free-buses", at)
    board.on_event(record, state)
    drawn = "\n".join(board.lines(Screen(160), 1.0))
    condensed = next(each.text for each in notes(state) if each.code == note.code)
    for text in (told(record, state), drawn, condensed):
        assert speech.turn_id not in text
        assert ", round 1" in text


@pytest.mark.requirement("I-06")
def test_at_twenty_columns_names_can_be_read() -> None:
    seats = {"a": Seat("HR Business Partner", "m", doing="spoke", words=9, told="Try it first.")}
    board = Board(seats=seats, opening=("Discussion rt_1", "Estimate: 6 calls, free"))
    lines = board.lines(Screen(20, 24), 1.0)
    assert "✓ HR Business…" in lines
    assert "  Try it first." in lines
    assert "Discussion rt_1" in lines


def test_whoever_voted_without_words_has_answered() -> None:
    board = Board(seats={"a": Seat("A", "m", doing="spoke", words=0)})
    text = "\n".join(board.lines(Screen(40, 20), 1.0))
    assert "✓ answered" in text
    assert "0 words" not in text


def test_more_seats_than_lines_are_counted_and_whoever_speaks_is_shown() -> None:
    board = watched("free-buses")
    one = next(iter(board.seats.values()))
    for n in range(60):
        board.seats[f"s{n}"] = replace(one, name=f"Seat {n}", doing="waits", told="")
    board.seats["s59"].doing = "speaks"
    lines = board.lines(Screen(80, 24), 1.0)
    assert len(lines) == 23
    assert any("Seat 59" in line for line in lines)
    assert any(re.match(r"  and \d\d more", line) for line in lines)


@pytest.mark.parametrize(
    "words",
    [
        'I would wait.\n\n```declaration\n{"position": "Wait."',
        'I would wait.\n\n```declaration\n{"position": "Wait."}\n```\n',
        "I would wait.\n\n``",
    ],
)
def test_a_declaration_that_is_being_written_is_not_shown(words: str) -> None:
    records = examples()["free-buses"].records()
    at, begun = next(
        (n, record.event)
        for n, record in enumerate(records)
        if isinstance(record.event, AttemptStarted) and record.event.round
    )
    board = watched("free-buses", at + 1)
    for piece in re.findall(r"\S+|\s+", words):
        board.on_draft(Draft("", begun.turn_id, begun.participant, begun.attempt, piece))
        text = "\n".join(board.lines(Screen(120), 1.0))
        assert not re.search(r"declaration|position|[`{}]", text)
    assert "I would wait." in text


def test_words_that_come_do_not_draw_by_themselves() -> None:
    """However fast they come: the view is drawn by the clock alone."""
    assert REDRAWS <= 8
    paper = io.StringIO()
    live = LiveProgress(paper, Expected(), now=lambda: 0.0)
    live.close()
    before = len(paper.getvalue())
    for _ in range(1000):
        live.on_draft(Draft("", "1/answer/x", "x", 1, "word "))
    assert len(paper.getvalue()) == before


def test_a_view_that_is_redrawn_and_taken_away_leaves_nothing() -> None:
    paper, page = io.StringIO(), Page(80, 24)
    pane = Pane(paper)
    paper.write("before\n")
    for lines in (["one", "two", "three"], ["four"], ["five 日本", "six"], []):
        pane.draw(lines, 80)
    pane.draw(["\x1b[1mlast\x1b[0m", "lines"], 80)
    pane.clear(80)
    paper.write("after\n")
    page.feed(paper.getvalue())
    assert [line for line in page.lines if line] == ["before", "after"]


@pytest.mark.parametrize("columns", [40, 33, 70, 79])
def test_a_view_that_a_narrower_terminal_broke_anew_is_taken_away_whole(columns: int) -> None:
    paper = io.StringIO()
    pane = Pane(paper)
    paper.write(f"{'before ' * 10}\n")
    pane.draw(["", "x" * 70, "日本" * 18, "", "y" * 66], 80)
    page = Page(80, 24)
    page.feed(paper.getvalue())
    page.narrow(columns)
    paper.seek(0)
    paper.truncate(0)
    pane.draw(["one", "two"], columns)
    pane.clear(columns)
    paper.write("after\n")
    page.feed(paper.getvalue())
    assert "".join(page.lines) == f"{'before ' * 10}after"


def test_a_terminal_that_cuts_its_lines_loses_none_of_those_above() -> None:
    paper = io.StringIO()
    pane = Pane(paper, rewraps=False)
    paper.write("before\n")
    pane.draw(["x" * 70, "y" * 10], 80)
    pane.clear(40)
    paper.write("after\n")
    page = Page(80, 24)
    page.feed(paper.getvalue())
    assert page.lines == ["before", "after", ""]
    assert rewraps({"TMUX": "/tmp/x", "XTERM_VERSION": "XTerm(390)"})
    assert not rewraps({"XTERM_VERSION": "XTerm(390)"})


def test_nothing_is_drawn_while_somebody_pulls_at_the_window(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    paper, at = io.StringIO(), [0.0]
    wide = [Screen(80, 24)]
    monkeypatch.setattr(LiveProgress, "_screen", lambda _: wide[0])
    monkeypatch.setattr(LiveProgress, "_tick", lambda _: None)
    live = LiveProgress(paper, Expected(), opening=["Discussion rt_1"], now=lambda: at[0])
    assert "Discussion rt_1" in paper.getvalue(), "at once, before anybody is called"
    for width in (70, 60, 50):
        wide[0], before = Screen(width, 24), paper.getvalue()
        at[0] += SETTLED / 2
        live.draw()
        assert paper.getvalue() == before
    at[0] += SETTLED
    live.draw()
    assert paper.getvalue() != before
    live.close()


@pytest.mark.skipif(not hasattr(signal, "SIGTSTP"), reason="nobody can be stopped here")
def test_whoever_stops_the_program_finds_the_terminal_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    paper, stopped = io.StringIO(), []
    monkeypatch.setattr(signal, "pthread_kill", lambda *sent: stopped.append(sent[1]))
    monkeypatch.setattr(LiveProgress, "_tick", lambda _: None)
    paper.write("before\n")
    live = LiveProgress(paper, Expected())
    signal.raise_signal(signal.SIGTSTP)
    assert stopped == [signal.SIGTSTP]
    paper.write("theirs\n")
    live.draw()
    live.close()
    paper.write("after\n")
    page = Page(80, 24)
    page.feed(paper.getvalue())
    assert [line for line in page.lines if line] == ["before", "theirs", "after"]
    assert signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL


def test_nobody_draws_on_a_terminal_that_is_another_s_now(monkeypatch: pytest.MonkeyPatch) -> None:
    paper = io.StringIO()
    monkeypatch.setattr(LiveProgress, "_tick", lambda _: None)
    monkeypatch.setattr(paper, "fileno", lambda: 2)
    monkeypatch.setattr(os, "tcgetpgrp", lambda _: os.getpgrp() + 1)
    live = LiveProgress(paper, Expected())
    live.draw()
    live.close()
    assert paper.getvalue() == ""


@pytest.mark.requirement("I-07")
def test_an_interruption_leaves_a_clean_terminal_and_says_how_to_go_on(desk: Desk) -> None:
    seats = ("--all=scripted/hang", "--model=scripted/hang", "--quick", "--no-log")
    with terminal(desk, "Tea or coffee?", *seats) as screen:
        screen.wait_for("● speaking")
        screen.process.send_signal(signal.SIGINT)
        assert screen.end() == 130
    page = Page(100, 40)
    page.feed(screen.seen)
    left = [line for line in page.lines if line]
    assert left[-1].startswith("Nothing finished is lost. Go on with: roundtable resume rt_")
    assert not any("speaking" in line for line in left)


@pytest.mark.parametrize(
    ("model", "short"),
    [
        ("anthropic/claude-opus-4-6", "opus-4-6"),
        ("openrouter/google/gemini-3.1-pro:free", "gemini-3.1-pro"),
        ("openai/gpt-5.5-2026-03-01", "gpt-5.5"),
        ("scripted/echo", "echo"),
    ],
)
def test_a_model_is_called_by_its_short_name(model: str, short: str) -> None:
    assert short_model(model) == short


# Every kind of end


@pytest.mark.parametrize("kind", get_args(Kind))
def test_every_kind_of_decision_reads_well(kind: Kind) -> None:
    verdict = Verdict.of(example("free-buses"), "last")
    decision = replace(verdict.decision, kind=kind, cause=Cause("It stopped.", "Raise the limit."))
    lines = typeset(replace(verdict, decision=decision), Screen(80))
    text = "\n".join(lines)
    assert "Raise the limit." in text
    assert lines[-1].startswith("roundtable ") or " roundtable " in lines[-1]
    if kind in ("interrupted", "paused"):
        assert "roundtable resume last" in text
    if kind == "live":
        assert "roundtable show last --follow" in text
    for code in (kind.upper(), "None", "turn_id", "d1", "o1"):
        assert not re.search(rf"\b{code}\b", text)


def test_where_nothing_prevails_every_side_is_heard(desk: Desk) -> None:
    models = "--models=scripted/stubborn,scripted/echo,scripted/hedger"
    outcome = desk("Rent or buy?", models, "--host", "scripted/echo", "--no-log")
    _, _, told = outcome.out.partition("Who disagrees\n")
    lead, *sides = told.partition("\n\n")[0].split("  • ")
    assert "The table is split" in lead
    assert len(sides) == 2, outcome.out
    assert "No: the risk comes first" in told
    assert "Try it on a small scale and see" in told


@pytest.mark.requirement("I-01")
def test_whoever_did_not_answer_stands_under_the_vote_with_what_to_do(desk: Desk) -> None:
    models = "--models=scripted/stubborn,scripted/unauthorised,scripted/echo"
    args = ("--procedure", "deliberation", "--choices", "tea,coffee", "--model", "scripted/echo")
    outcome = desk("Tea or coffee?", models, *args, "--no-log")
    flags = [line for line in outcome.out.splitlines() if line.startswith("  ! ")]
    assert flags[0].startswith("  ! 1 of 3 experts did not answer. ")
    assert "scripted/unauthorised has no key. It never will." in " ".join(outcome.out.split())


# Where it is shown


@pytest.mark.requirement("I-18")
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437"])
def test_what_an_encoding_lacks_is_replaced_by_something_readable(
    desk: Desk, encoding: str
) -> None:
    outcome = desk.beside("Té – “quoted” 茶 🍵?", *QUICK, encoding=encoding)
    shown = desk.beside("show", "example:free-buses", encoding=encoding)
    assert (outcome.code, shown.code) == (0, 0)
    text = outcome.out + outcome.err + shown.out
    assert not re.search(r"â€|Ã|\ufffd", text), "no letter stands for a part of another one"
    assert re.search(r"  [*•] Most added trips replace walking", shown.out)


def test_a_plain_locale_is_no_reason_to_fail(desk: Desk) -> None:
    outcome = desk.command("Té 茶?", *QUICK, LC_ALL="C", LANG="C")
    assert outcome.code == 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("“a” – b…", '"a" - b...'),
        ("● ○ ✓ → •", "* o + -> *"),
        ("Ärger é ﬁ", "Arger e fi"),
        ("茶 🍵️", "? ?"),
    ],
)
def test_letters_that_ascii_lacks(text: str, told: str) -> None:
    assert readable_in("ascii", text) == told


@pytest.mark.requirement("I-06")
@pytest.mark.parametrize(
    ("env", "codes"),
    [
        ({"NO_COLOR": "1"}, r"\x1b\[[\d;]*m"),
        ({"TERM": "dumb"}, r"\x1b"),
        ({}, r"\x1b\[\d+[ABCDEFGHS]{2}"),
    ],
)
def test_a_terminal_gets_only_what_it_takes(desk: Desk, env: dict[str, str], codes: str) -> None:
    with terminal(desk, "Tea or coffee?", *ECHO, "--quick", "--no-log", **env) as screen:
        assert screen.end() == 0
    assert not re.search(codes, screen.seen)
    assert "The table chose no answer." in screen.seen


def test_a_file_gets_the_verdict_alone(desk: Desk) -> None:
    outcome = desk.beside("Tea or coffee?", *QUICK)
    assert outcome.out.startswith("The table chose no answer.\n")
    assert "Estimate" not in outcome.out
    assert "words)" not in outcome.out
    assert Path(desk.home).exists()


def test_verbose_tells_every_event_and_the_whole_answer(desk: Desk) -> None:
    outcome = desk.ask("--verbose")
    events = len(desk("export", desk.last_id(), "--format", "json").document.get("events", []))
    told = [line for line in outcome.err.splitlines() if re.match(r"\[\d+:\d\d\] ", line)]
    assert len(told) >= max(10, events - 5)
    assert "Captain is speaking: scripted/echo" in outcome.err
    assert "**Council Answer**" in outcome.out
