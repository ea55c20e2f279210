"""The command line as a person uses it: questions, flags, help, the shape of the answer."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from roundtable.version import __version__

from .desk import ECHO, QUICK, Desk, environment

COMMANDS = (
    *("ask", "resume", "list", "show", "export", "stop", "speak", "delete"),
    *("models", "setup", "config", "help"),
)
KEYS = {"OPENAI_API_KEY": "sk-test-0123456789abcdef", "ANTHROPIC_API_KEY": "sk-ant-0123456789abcd"}


@pytest.mark.requirement("C-63", "C-64", "X-36", "I-02")
def test_a_question_is_discussed_to_an_answer_of_fixed_form(desk: Desk) -> None:
    outcome = desk("Should we drink tea?", *ECHO, "-v")

    assert outcome.code == 0
    verdict, answer, form = outcome.out.partition("🏛️ **Council Answer**")
    assert verdict.startswith("Yes.\n\n  3 of 3    Yes  already so before they heard each other\n")
    lines = (answer + form).splitlines()
    assert lines[0] == "🏛️ **Council Answer**"
    assert lines[2] == "**Yes, 3 of 3.**"
    assert lines[4].startswith("[scripted:echo] ")
    marks = [line.partition(":**")[0] for line in lines if ":** " in line]
    wanted = ["**Confidence", "**Agreement", "**Dissent", "**Round 2"]
    assert [mark for mark in marks if mark in wanted] == wanted
    assert any(line.startswith("**Confidence:** Medium") for line in lines)
    assert "**Round 2:** performed" in lines
    assert lines[-2:] == [
        "---",
        "🔍 Scholar: scripted/echo · 🧮 Engineer: scripted/echo · 🎨 Muse: scripted/echo · "
        f"🎖️ Captain: scripted/echo · roundtable v{__version__}",
    ]


def test_what_follows_the_list_of_dissent_does_not_belong_to_its_last_item(desk: Desk) -> None:
    lines = desk.ask("-v").out.splitlines()

    assert lines[lines.index("**Round 2:** skipped via --quick") - 1] == ""


def test_the_answer_goes_to_stdout_and_everything_else_to_stderr(desk: Desk) -> None:
    outcome = desk.command("Tea or coffee?", *ECHO, "--quick")

    assert outcome.code == 0
    assert outcome.out.startswith("The table chose no answer.\n")
    assert "Scholar: Try it on a small scale and see. (139 words)" in outcome.err
    assert "139 words" not in outcome.out
    assert re.search(r"^Discussion rt_[0-9a-f]{8}, council$", outcome.err, re.MULTILINE)
    assert "Written: memory/roundtable/" in outcome.err


@pytest.mark.requirement("X-02")
@pytest.mark.parametrize(
    "args",
    [
        ["Tea or coffee?", "--all=scripted/echo", "--model=scripted/echo", "--quick"],
        ["--all", "scripted/echo", "--model", "scripted/echo", "--quick", "Tea or coffee?"],
        ["--quick", "Tea or coffee?", "--all", "scripted/echo", "--model=scripted/echo"],
        ["Tea", "or", "--quick", "coffee?", *ECHO],
        [*ECHO, "--quick", "--", "Tea", "or", "coffee?"],
    ],
)
def test_flags_stand_before_or_after_the_question_in_both_forms(
    desk: Desk, args: list[str]
) -> None:
    document = desk("ask", "--json", "--no-log", *args).document

    assert document["topic"] == "Tea or coffee?"
    assert document["options"]["round2_skipped"] == "via --quick"
    assert {p["model"] for p in document["participants"]} == {"scripted/echo"}


@pytest.mark.requirement("X-02")
def test_text_after_two_dashes_is_question_even_if_it_looks_like_flags(desk: Desk) -> None:
    document = desk(*QUICK, "--json", "--", "--help", "me:", "--quick", "or not?").document

    assert document["topic"] == "--help me: --quick or not?"


SAMPLES: list[tuple[list[str], dict[str, Any]]] = [
    (
        ["Should we use Postgres?", "--preset=cheap"],
        {"scholar": "anthropic/claude-haiku-4-5", "muse": "anthropic/claude-haiku-4-5"},
    ),
    (
        ["What's wrong with our team's plan?", "--all=sonnet", "--quick"],
        {"scholar": "anthropic/claude-sonnet-4-5", "round2": False},
    ),
    (
        ["Review this code", "--template=code-review", "--scholar=codex", "--engineer=opus"],
        {
            "scholar": "openai/gpt-5.3-codex",
            "engineer": "anthropic/claude-opus-4-6",
            "muse": "anthropic/claude-sonnet-4-5",
            "template": "code-review",
        },
    ),
    (
        ["Is Bitcoin a good investment?", "--budget=low", "--template=investment", "--confirm"],
        {"muse": "anthropic/claude-haiku-4-5", "round2": False, "template": "investment"},
    ),
    (
        ["Microservices or monolith?", "--preset=diverse", "--template=architecture"],
        {
            "scholar": "openai/gpt-5.3-codex",
            "engineer": "anthropic/claude-sonnet-4-5",
            "muse": "anthropic/claude-opus-4-6",
        },
    ),
    (
        ["Shall I take the job?", "--all=anthropic/claude-opus-4-6", "--template=decision"],
        {"engineer": "anthropic/claude-opus-4-6", "round2": True},
    ),
]


def plan(desk: Desk, *args: str) -> dict[str, Any]:
    """Who would sit where, and the options, without a call."""
    document = desk(*args, "--dry-run", "--json").document
    seats = {each["id"]: each["models"][0] for each in document["participants"]}
    return {**seats, **document["options"], "notes": document["notes"], "document": document}


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("keys")
@pytest.mark.requirement("C-75")
@pytest.mark.parametrize(("args", "expected"), SAMPLES)
def test_sample_commands_work_as_they_are_written(
    desk: Desk, args: list[str], expected: dict[str, Any]
) -> None:
    planned = plan(desk, *args)

    assert planned["document"]["topic"] == args[0]
    assert {key: planned[key] for key in expected} == expected


@pytest.mark.usefixtures("keys")
@pytest.mark.requirement("C-24", "C-25", "C-26", "C-28", "C-29", "C-33", "C-35", "C-36")
@pytest.mark.parametrize(
    ("flags", "seats", "round2"),
    [
        (["--procedure=council"], ("codex", "codex", "sonnet"), True),
        (["--all=opus"], ("opus", "opus", "opus"), True),
        (["--muse=haiku"], ("codex", "codex", "haiku"), True),
        (["--scholar", "anthropic/claude-opus-4-6"], ("opus", "codex", "sonnet"), True),
        (["--preset=premium"], ("opus", "opus", "opus"), True),
        (["--preset=single", "--model=haiku"], ("haiku", "haiku", "haiku"), True),
        (["--budget=low"], ("haiku", "haiku", "haiku"), False),
        (["--budget=medium"], ("codex", "codex", "sonnet"), True),
        (["--budget=high"], ("opus", "opus", "opus"), True),
        (["--budget=low", "--preset=premium"], ("haiku", "haiku", "haiku"), False),
        (["--preset=cheap", "--all=opus"], ("haiku", "haiku", "haiku"), True),
        (["--all=sonnet", "--scholar=opus"], ("sonnet", "sonnet", "sonnet"), True),
        (["--budget=medium", "--quick"], ("codex", "codex", "sonnet"), False),
    ],
)
def test_model_flags_settle_in_the_documented_order(
    desk: Desk, flags: list[str], seats: tuple[str, str, str], round2: bool
) -> None:
    ids = {
        "codex": "openai/gpt-5.3-codex",
        "sonnet": "anthropic/claude-sonnet-4-5",
        "opus": "anthropic/claude-opus-4-6",
        "haiku": "anthropic/claude-haiku-4-5",
    }
    planned = plan(desk, "Tea or coffee?", *flags)

    assert (planned["scholar"], planned["engineer"], planned["muse"]) == tuple(
        ids[name] for name in seats
    )
    assert planned["round2"] is round2


@pytest.mark.usefixtures("keys")
@pytest.mark.requirement("C-37", "C-35")
def test_config_json_gives_defaults_that_flags_override(desk: Desk) -> None:
    desk.config('{"models": {"scholar": "haiku"}, "round2": false, "language": "de"}')

    stored = plan(desk, "Tea or coffee?")
    flagged = plan(desk, "Tea or coffee?", "--scholar=opus")

    assert stored["scholar"] == "anthropic/claude-haiku-4-5"
    assert stored["engineer"] == "openai/gpt-5.3-codex"
    assert stored["round2"] is False
    assert flagged["scholar"] == "anthropic/claude-opus-4-6"


@pytest.mark.usefixtures("keys")
@pytest.mark.requirement("C-34")
def test_a_cap_in_config_json_holds_and_the_user_is_told(desk: Desk) -> None:
    desk.config('{"max_budget": "low"}')

    planned = plan(desk, "Tea or coffee?", "--budget=high")

    assert planned["muse"] == "anthropic/claude-haiku-4-5"
    assert planned["round2"] is False
    assert "budget_capped" in [note["code"] for note in planned["notes"]]


@pytest.mark.requirement("C-44")
def test_an_unknown_template_runs_with_a_note_that_is_shown_once(desk: Desk) -> None:
    outcome = desk.ask("--template=foo")

    assert outcome.code == 0
    assert outcome.err.count("There is no template “foo”") == 1
    assert "Templates: code-review, investment, architecture, research, decision." in outcome.err


@pytest.mark.requirement("D-93")
def test_a_question_may_come_from_stdin_or_as_an_argument_and_context_from_files(
    desk: Desk,
) -> None:
    odd = "Tea 'or' \"coffee\"? <<EOF $HOME\n`rm`\n茶か珈琲か 🍵"
    (desk.workspace / "facts.md").write_text(odd, "utf-8")

    typed = desk(odd, *QUICK, "--json", "--context", "facts.md").document
    piped = desk("-", *QUICK, "--json", stdin=odd.encode()).document
    bare = desk("ask", *QUICK, "--json", stdin=odd.encode()).document
    with_context = desk("Sound?", *QUICK, "--json", "--context", "-", stdin=odd.encode())

    assert typed["topic"] == piped["topic"] == bare["topic"] == odd
    assert with_context.document["topic"] == "Sound?"


def test_stdin_cannot_be_question_and_context_at_once(desk: Desk) -> None:
    outcome = desk("-", *QUICK, "--context", "-", stdin=b"Tea?")

    assert outcome.code == 2
    assert "cannot be both" in outcome.err


def test_the_prompts_of_a_dry_run_hold_the_context_inside_its_fence(desk: Desk) -> None:
    (desk.workspace / "facts.md").write_text("The kettle is broken.", "utf-8")

    outcome = desk("Tea or coffee?", *QUICK, "--context", "facts.md", "--dry-run")

    fence = outcome.out.index("---CONTEXT (untrusted)---")
    assert fence < outcome.out.index("The kettle is broken.") < outcome.out.index("---END CONTEXT")


@pytest.mark.requirement("I-05")
def test_a_dry_run_shows_plan_prompts_and_estimate_and_leaves_nothing(desk: Desk) -> None:
    outcome = desk("Tea or coffee?", *QUICK, "--dry-run")

    assert outcome.code == 0
    assert "🔍 Scholar: scripted/echo" in outcome.out
    assert "📊 Estimate:" in outcome.out
    assert "---USER QUERY (untrusted)---" in outcome.out
    assert outcome.out.index("---USER QUERY") < outcome.out.index("Seats:"), "they stay on a screen"
    for nowhere in (("--notify", "nope"), ("--task", "nope:3")):
        assert desk("Tea or coffee?", *QUICK, "--dry-run", *nowhere).code == 2
    assert desk("list", "--json").document == []
    assert not (desk.workspace / "memory").exists()


@pytest.mark.requirement("C-30", "C-31")
def test_the_estimate_comes_before_the_first_call(desk: Desk) -> None:
    quick = desk.ask("-v").err
    full = desk("Tea or coffee?", *ECHO, "--no-log", "-v").err

    assert quick.index("📊 Estimate: 3 calls to experts") < quick.index("is speaking")
    assert "~3x a single answer" in quick
    assert full.index("📊 Estimate: 6 calls to experts") < full.index("is speaking")
    assert "~6-10x a single answer" in full


@pytest.mark.requirement("C-32")
@pytest.mark.parametrize("typed", [b"N\n", b"no\n", b"\n", b"perhaps\n"])
def test_without_a_yes_a_confirmed_run_spends_nothing(desk: Desk, typed: bytes) -> None:
    outcome = desk.ask("--confirm", "--json", stdin=typed)

    assert outcome.code == 1, "there is no verdict"
    assert "📊 Estimate" in outcome.err
    assert "Nothing was spent." in outcome.err
    assert outcome.document == {"discussion_id": None, "status": "declined"}
    assert desk("list", "--json").document == [], "nothing is left of it"


@pytest.mark.requirement("C-32")
def test_where_nobody_can_be_asked_a_run_to_be_confirmed_is_refused(desk: Desk) -> None:
    outcome = desk.ask("--confirm", "--json")

    assert (outcome.code, outcome.out) == (2, "")
    assert "and nobody can be asked here.\nLeave --confirm out" in outcome.err
    assert "Nothing was spent." in outcome.err
    assert desk("list", "--json").document == []


@pytest.mark.requirement("C-32", "C-36")
@pytest.mark.parametrize("typed", [b"Y\n", b"yes\n", b"y"])
def test_a_yes_lets_a_confirmed_run_begin(desk: Desk, typed: bytes) -> None:
    outcome = desk.ask("--confirm", "--json", stdin=typed)

    assert outcome.document["usage"]["calls"] == 5


@pytest.mark.requirement("C-04")
def test_a_simple_question_gets_a_hint_and_its_council_all_the_same(desk: Desk) -> None:
    outcome = desk("What's 2+2?", *QUICK)

    assert outcome.code == 0
    assert "Hint: this looks like a simple question" in outcome.err
    assert outcome.out


@pytest.mark.requirement("C-11")
def test_asked_for_round_2_without_a_person_there_none_is_held(desk: Desk) -> None:
    desk.config('{"round2": "ask"}')

    outcome = desk("Tea or coffee?", *ECHO, "--no-log", "-v")

    assert "if round 2 is held" in outcome.err
    assert "**Round 2:** skipped: nobody was there to ask" in outcome.out


@pytest.mark.requirement("I-03", "C-31")
def test_help_shows_every_command_and_what_quick_is_for(desk: Desk) -> None:
    text = desk("--help").out

    for name in COMMANDS:
        assert re.search(rf"^  {name} ", text, re.MULTILINE), name
    assert "--quick" in text
    assert "high stakes" in text


@pytest.mark.requirement("I-03")
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_its_own_help(desk: Desk, command: str) -> None:
    for flag in ("--help", "-h"):
        outcome = desk(command, flag)

        assert outcome.code == 0
        assert outcome.out.startswith(f"Usage: roundtable {command}")


@pytest.mark.requirement("I-03")
def test_the_version_is_printed(desk: Desk) -> None:
    outcome = desk("--version")

    assert (outcome.code, outcome.out) == (0, f"roundtable, version {__version__}\n")


def test_without_a_word_the_help_is_shown(desk: Desk) -> None:
    outcome = desk()

    assert outcome.code == 2
    assert 'roundtable "Should a team of five use microservices?"' in outcome.err


@pytest.mark.requirement("I-06")
def test_quiet_leaves_the_answer_alone(desk: Desk) -> None:
    outcome = desk("Tea or coffee?", *ECHO, "--quick", "--quiet")

    assert outcome.out == "The table chose no answer.\n"
    assert outcome.err == ""


@pytest.mark.requirement("I-18")
def test_emoji_survive_a_console_with_another_encoding(desk: Desk) -> None:
    env = {"PYTHONIOENCODING": "cp1252"}
    asked = desk.command("Tee ☕ – Ärger 茶?", *QUICK, encoding="cp1252", **env)
    listed = desk.command("list", encoding="cp1252", **env)
    document = desk.command("list", "--json", encoding="ascii", **env).document

    assert (asked.code, listed.code) == (0, 0)
    assert "Tee ? – Ärger ?" in listed.out, "what cp1252 has is kept, all else is a question mark"
    assert document[0]["topic"] == "Tee ☕ – Ärger 茶?", "nothing is lost in what programs read"


def test_the_command_works_with_its_standard_streams_closed(desk: Desk) -> None:
    line = f'"{sys.executable}" -m roundtable "Tea or coffee?" {" ".join(QUICK)} <&- >&- 2>&-'
    done = subprocess.run(
        ["/bin/sh", "-c", line], cwd=desk.workspace, env=environment({}), timeout=60
    )

    assert done.returncode == 1, "it was held, and nobody got its verdict"
    assert desk("list", "--json").document[0]["status"] == "concluded"


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is full")
@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        (("Tea or coffee?", *QUICK), "roundtable show last"),
        (("list",), "run the command again"),
        (("ask", "--help"), "run the command again"),
    ],
)
def test_output_that_cannot_be_written_is_told_with_where_it_can_be_read(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, line: tuple[str, ...], remedy: str
) -> None:
    desk.ask()
    with FULL.open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        outcome = desk(*line)
        monkeypatch.undo()

    assert outcome.code == 1
    assert "the output could not be written: no space left on device." in outcome.err
    assert remedy in outcome.err
    assert "Traceback" not in outcome.err


def test_closed_output_is_a_failure_only_where_something_was_to_be_written(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", None)
        asked = desk.ask("--quiet")
        deleted = desk("delete", "last", "--yes")

    assert (asked.code, deleted.code) == (1, 0)
    assert "it is closed.\nNothing else is lost. Read the result with: roundtable show last" in (
        asked.err
    )


@pytest.mark.parametrize("stream", ["closed", "full"])
def test_without_a_standard_error_the_document_is_alone_on_standard_output(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, stream: str
) -> None:
    if stream == "full" and not FULL.exists():
        pytest.skip("this system has no device that is full")
    with FULL.open("w") if stream == "full" else nullcontext() as lost, monkeypatch.context() as p:
        p.setattr(sys, "stderr", lost)
        outcome = desk.ask("--json")

    assert outcome.code == 0
    assert outcome.document["status"] == "concluded"


def test_a_reader_that_leaves_early_causes_no_traceback(desk: Desk) -> None:
    unread, pipe = os.pipe()
    os.close(unread)
    with os.fdopen(pipe, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "roundtable", "help"],
            stdout=closed,
            stderr=subprocess.PIPE,
            cwd=desk.workspace,
            env=environment({}),
            timeout=60,
        )

    assert (done.returncode, done.stderr) == (1, b"")


def test_help_imports_nothing_heavy(desk: Desk) -> None:
    heavy = (
        "pydantic",
        "httpx2",
        "openai",
        "anthropic",
        "rich",
        "jinja2",
        "asyncio",
    )
    code = (
        "import sys; from roundtable.surfaces.cli.app import run; run(['--help']); "
        f"print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        cwd=desk.workspace,
        env=environment({}),
        timeout=60,
    )

    assert done.stderr == b"[]\n"


@pytest.mark.requirement("I-35")
@pytest.mark.parametrize(("zone", "short"), [("UTC", "UTC"), ("Asia/Tokyo", "JST")])
def test_times_are_shown_and_files_are_dated_in_local_time_with_its_zone(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, zone: str, short: str
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        desk("Tea or coffee?", *ECHO, "--quick")
        row = desk("list").out
    finally:
        monkeypatch.undo()
        time.tzset()
    [log] = (desk.workspace / "memory" / "roundtable").iterdir()
    [shown] = re.findall(rf"(\d\d\d\d-\d\d-\d\d \d\d:\d\d) {short}  ", row)

    assert log.name.startswith(shown.replace(" ", "-").replace(":", "-"))
    assert f"{short} (" in log.read_text("utf-8")


@pytest.mark.usefixtures("keys")
@pytest.mark.requirement("X-01")
@pytest.mark.parametrize(
    ("flags", "procedure"),
    [
        ([], "deliberation"),
        (["--quick"], "deliberation"),
        (["--preset=cheap"], "council"),
        (["--debate"], "adaptive"),
        (["--strict-rounds"], "five-round"),
        (["--roster=bug-root-cause"], "meeting"),
        (["--procedure=council", "--quick"], "council"),
    ],
)
def test_a_flag_that_only_one_procedure_knows_chooses_it(
    desk: Desk, flags: list[str], procedure: str
) -> None:
    outcome = desk("Should we use Postgres?", *flags, "--dry-run", "--json")

    assert json.loads(outcome.out)["procedure"] == procedure


def test_a_flag_of_another_procedure_is_refused_with_what_it_takes(desk: Desk) -> None:
    outcome = desk("Tea?", "--procedure=five-round", "--preset=cheap")

    assert outcome.code == 2
    assert "--preset does not belong to the procedure five-round." in outcome.err
    assert "It belongs to council: use --procedure council." in outcome.err
    assert "Of its own five-round takes --depth" in outcome.err


@pytest.mark.requirement("Z-36", "I-06")
def test_every_event_is_told_in_plain_words_and_nothing_is_spent_before_it_is(desk: Desk) -> None:
    told = desk("Tea or coffee?", *ECHO, "--no-log", "-v").err

    assert "(0 tokens" not in told
    assert "$0.00" not in told
    for word in ("Attempt finished", "Stage closed", "Decisions tabled", "Note added", "Clerk"):
        assert word not in told
    assert "has finished: scripted/echo" in told
    assert "The discussion is over" in told
