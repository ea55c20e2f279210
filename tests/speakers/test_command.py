"""Command-line agents: their real forms, what they may see, and every way in which they fail."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from roundtable.core.agents import BUILT_IN, CommandAgent
from roundtable.core.errors import SpeakerError
from roundtable.leftovers import SCRATCH
from roundtable.ports import Reply, SpeakRequest
from roundtable.speakers.command import CommandSpeaker
from roundtable.speakers.command_words import PlainWords, plain

from .agents import (
    TEXT,
    claude_lines,
    codex_lines,
    gemini_lines,
    on_path,
    opencode_lines,
    put_agent,
    speaks,
)

pytestmark = [
    pytest.mark.requirement("Z-18"),
    pytest.mark.skipif(os.name == "nt", reason="the agents of these tests are POSIX scripts"),
]


def asked(model: str, *, timeout: float = 60.0, user: str = "Should we wait?") -> SpeakRequest:
    return SpeakRequest(model, "Be brief.", user, 300, timeout, "rt_1/1/opening/a/1")


class Stage:
    """A folder of agents, and calls to them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.own: dict[str, CommandAgent] = {}
        self.env = on_path(folder)
        self.heard: list[str] = []

    def put(self, name: str, body: str) -> None:
        put_agent(self.folder, name, body)

    def configure(self, name: str, **row: Any) -> None:
        self.own[name] = CommandAgent.model_validate(row)

    async def call(self, model: str, **more: Any) -> Reply:
        speaker = CommandSpeaker({**BUILT_IN, **self.own}, self.env, most_output=200_000)
        return await speaker.speak(asked(model, **more), self.heard.append)

    async def failure(self, model: str, **more: Any) -> SpeakerError:
        with pytest.raises(SpeakerError) as caught:
            await self.call(model, **more)
        return caught.value


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    return Stage(tmp_path / "bin")


def left_behind() -> list[Path]:
    return list(Path(tempfile.gettempdir()).glob(f"{SCRATCH}*"))


FORMS: dict[str, tuple[list[dict[str, Any]], tuple[int, int, int], str]] = {
    "claude": (claude_lines(), (143, 25, 100), "claude-opus-5-5"),
    "codex": (codex_lines(), (120, 30, 80), "cmd/codex"),
    "gemini": (gemini_lines(), (50, 20, 5), "gemini-4-argon"),
    "opencode": (opencode_lines(), (72, 20, 10), "cmd/opencode"),
}


@pytest.mark.parametrize("name", FORMS)
async def test_the_forms_of_the_known_agents_are_understood(stage: Stage, name: str) -> None:
    lines, (read, written, cached), served_by = FORMS[name]
    stage.put(name, speaks(lines))

    reply = await stage.call(f"cmd/{name}")

    assert reply.text == TEXT
    assert "".join(stage.heard) == TEXT
    assert reply.served_by == served_by
    usage = reply.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (read, written, cached)
    assert usage.cost_usd == 0
    assert left_behind() == []


@pytest.mark.requirement("I-23")
@pytest.mark.parametrize("name", FORMS)
async def test_a_known_agent_gets_no_tools_no_session_and_no_screen(
    stage: Stage, name: str
) -> None:
    seen = stage.folder / "seen"
    look = "json.dumps([sys.argv[1:], os.listdir(), dict(os.environ)])"
    stage.put(name, f"open({str(seen)!r}, 'w').write({look})\n{speaks(FORMS[name][0])}")

    await stage.call(f"cmd/{name}")

    arguments, files, environment = json.loads(seen.read_text())
    assert files == []
    assert environment["TERM"] == "dumb"
    match name:
        case "claude":
            assert arguments[arguments.index("--tools") + 1] == ""
            assert {"-p", "--strict-mcp-config", "--no-session-persistence"} <= set(arguments)
        case "codex":
            assert arguments[0] == "exec"
            assert arguments[arguments.index("--sandbox") + 1] == "read-only"
            assert {"features.shell_tool=false", "--ignore-user-config", "--ephemeral"} <= set(
                arguments
            )
        case "gemini":
            assert arguments[arguments.index("--approval-mode") + 1] == "default"
            assert arguments[arguments.index("--extensions") + 1] == "none"
        case "opencode":
            assert arguments[0] == "run"
            assert environment["OPENCODE_PERMISSION"] == '{"*":"deny"}'


async def test_instructions_and_question_reach_the_agent_by_file_or_by_standard_input(
    stage: Stage,
) -> None:
    echo = "say(json.dumps([prompt, *[open(a).read() for a in sys.argv[1:]]]))"
    for name in ("joined", "apart", "by-file"):
        stage.put(name, echo)
    stage.configure("joined", command=["joined"])
    stage.configure("apart", command=["apart", "{system_file}"])
    stage.configure("by-file", command=["by-file", "{prompt_file}"], prompt="file")
    hostile = "Should we '; rm -rf $(HOME) \x00 等?"

    texts = {
        name: json.loads((await stage.call(f"cmd/{name}", user=hostile)).text)
        for name in ("joined", "apart", "by-file")
    }

    assert texts["joined"] == [f"Be brief.\n\n{hostile}"]
    assert texts["apart"] == [hostile, "Be brief."]
    assert texts["by-file"] == ["", f"Be brief.\n\n{hostile}"]


@pytest.mark.requirement("Z-39")
async def test_what_is_said_to_an_agent_is_in_no_file_that_it_was_not_told_of(stage: Stage) -> None:
    stage.put("look", "say(json.dumps(sorted(os.listdir('..'))))")
    stage.configure("look", command=["look"])

    assert json.loads((await stage.call("cmd/look")).text) == ["empty"]


@pytest.mark.requirement("I-23")
async def test_no_credential_reaches_an_agent_unless_it_is_named(stage: Stage) -> None:
    stage.put("nosy", "say(json.dumps(dict(os.environ)))")
    stage.configure("nosy", command=["nosy"], env=["NOSY_TOKEN"], set_env={"MODE": "quiet"})
    stage.env |= {
        "HOME": "/somewhere",
        "LC_ALL": "C.UTF-8",
        "ANTHROPIC_API_KEY": "sk-ant-secret",
        "OPENAI_API_KEY": "sk-secret",
        "ROUNDTABLE_DB": "postgresql://u:p@host/db",
        "CLAUDECODE": "1",
        "NOSY_TOKEN": "its own",
    }

    seen = json.loads((await stage.call("cmd/nosy")).text)

    assert {"HOME", "LC_ALL", "PATH", "NOSY_TOKEN", "MODE"} <= set(seen)
    assert not {"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ROUNDTABLE_DB", "CLAUDECODE"} & set(seen)


async def test_an_agent_works_where_the_user_wants_it_to(stage: Stage, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "README").write_text("Hello.")
    stage.put("reader", "say(open('README').read())")
    stage.configure("reader", command=["reader"], folder=str(project))
    stage.configure("lost", command=["reader"], folder=str(tmp_path / "nowhere"))

    assert (await stage.call("cmd/reader")).text == "Hello."
    failure = await stage.failure("cmd/lost")
    assert failure.cause == "bad_request"
    assert "commands.lost.folder" in failure.remedy


async def test_a_model_can_be_chosen_where_the_agent_lets_it(stage: Stage) -> None:
    stage.put("claude", "events({'type': 'result', 'result': ' '.join(sys.argv[-2:])})")
    stage.put("plain", "say('Yes.')")
    stage.configure("plain", command=["plain"])

    assert (await stage.call("cmd/claude:opus")).text == "--model opus"
    assert "model_args" in (await stage.failure("cmd/plain:large")).remedy
    assert (await stage.failure("cmd/claude:--dangerous")).cause == "bad_request"


async def test_json_is_read_at_its_path(stage: Stage) -> None:
    stage.put("doc", "say(json.dumps({'choices': [{'text': ' Yes. '}]}))")
    stage.put("rows", "events({'part': {'text': 'Ye'}}, {'other': 1}, {'part': {'text': 's.'}})")
    stage.configure("doc", command=["doc"], output="json", path="choices.0.text")
    stage.configure("rows", command=["rows"], output="jsonl", path="part.text")
    stage.configure("elsewhere", command=["doc"], output="json", path="answer")

    assert (await stage.call("cmd/doc")).text == "Yes."
    assert (await stage.call("cmd/rows")).text == "Yes."
    assert (await stage.failure("cmd/elsewhere")).cause == "garbled"


async def test_words_are_heard_while_the_agent_still_speaks(stage: Stage, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    stage.put("slow", f"say('First. ')\nopen({str(gate)!r}).read()\nsay('Second.')")
    stage.configure("slow", command=["slow"])
    first = asyncio.Event()
    speaker = CommandSpeaker(stage.own, stage.env)
    call = asyncio.create_task(speaker.speak(asked("cmd/slow"), lambda _: first.set()))

    async with asyncio.timeout(60):
        await first.wait()
        assert not call.done()
        await asyncio.to_thread(gate.write_text, "go on")
        reply = await call

    assert reply.text == "First. Second."


async def test_what_is_meant_for_a_terminal_is_left_out(stage: Stage) -> None:
    stage.put(
        "gaudy", r"say('\n\x1b[1;32mYes\x1b[0m, \x1b]8;;http://x\x07wait\x1b]8;;\x07.\r\nNo')"
    )
    stage.configure("gaudy", command=["gaudy"])

    assert (await stage.call("cmd/gaudy")).text == "Yes, wait.\nNo"


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_plain_words_do_not_depend_on_how_they_were_cut(size: int) -> None:
    raw = " \x1b[1mYes\x1b[0m,\r\n\x1b]0;title\x1b\\ 等一等\x1b(B  now\rlater \n ".encode()
    words = PlainWords()
    pieces = [words.take(raw[at : at + size]) for at in range(0, len(raw), size)]

    assert "".join([*pieces, words.finish()]) == "Yes,\n 等一等  now\nlater"
    assert plain(raw.decode()).strip() == "Yes,\n 等一等  now\nlater"


# ------------------------------------------------------------------------------------ faults


async def test_an_agent_that_is_not_installed_is_named_with_what_to_do(stage: Stage) -> None:
    stage.env = {"PATH": str(stage.folder)}

    failure = await stage.failure("cmd/claude")

    assert failure.cause == "not_found"
    assert "no 'claude' on PATH" in failure.message
    assert "Install Claude Code" in failure.remedy


async def test_an_agent_that_cannot_be_started_is_a_failure(stage: Stage) -> None:
    stage.put("odd", "")
    (stage.folder / "odd").write_text("#!/no/such/interpreter\n")
    stage.configure("odd", command=["odd"])

    assert "cannot be started" in (await stage.failure("cmd/odd")).message


async def test_an_agent_that_writes_without_end_is_cut_off(stage: Stage) -> None:
    stage.put("flood", "while True: say('All work and no play. ' * 4000)")
    stage.configure("flood", command=["flood"])
    stage.put("claude", "while True: events({'type': 'ping', 'x': 'y' * 50000})")

    reply = await stage.call("cmd/flood")
    assert reply.finish_reason == "length"
    assert reply.text.startswith("All work and no play.")
    assert 190_000 < len(reply.text) <= 200_000
    assert (await stage.failure("cmd/claude")).cause == "garbled"
    assert left_behind() == []


async def test_an_agent_that_never_ends_is_ended_with_its_children(
    stage: Stage, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    stage.put(
        "stuck",
        "import signal, time\n"
        "child = os.fork()\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"with open({str(pids)!r}, 'a') as f: f.write(f'{{os.getpid()}}\\n')\n"
        "say('Hm. ')\n"
        "time.sleep(600)",
    )
    stage.configure("stuck", command=["stuck"], timeout=2)

    failure = await stage.failure("cmd/stuck")

    assert failure.cause == "timeout"
    assert "2 s" in failure.message
    running = [int(pid) for pid in pids.read_text().split()]
    assert len(running) == 2
    await gone(running)
    assert left_behind() == []


async def test_a_cancelled_call_leaves_no_process(stage: Stage, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    stage.put("stuck", f"open({str(pid)!r}, 'w').write(str(os.getpid()))\nsay('Hm. ')\n"
              "import time; time.sleep(600)")  # fmt: skip
    stage.configure("stuck", command=["stuck"])
    heard = asyncio.Event()
    speaker = CommandSpeaker(stage.own, stage.env)
    call = asyncio.create_task(speaker.speak(asked("cmd/stuck"), lambda _: heard.set()))
    async with asyncio.timeout(60):
        await heard.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    await gone([int(pid.read_text())])
    assert left_behind() == []


async def test_a_child_that_keeps_the_output_open_does_not_hold_the_answer_up(
    stage: Stage, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    stage.put(
        "parent",
        "child = os.fork()\n"
        "if child == 0:\n"
        "    import time; time.sleep(600)\n"
        f"open({str(pid)!r}, 'w').write(str(child))\n"
        "say('Done.')\n"
        "os._exit(0)",
    )
    stage.configure("parent", command=["parent"])

    assert (await stage.call("cmd/parent")).text == "Done."
    await gone([int(pid.read_text())])


async def test_an_agent_that_asks_for_input_finds_none(stage: Stage) -> None:
    stage.put("curious", "say(repr(sys.stdin.read(1)) + repr(sys.stdin.isatty()))")
    stage.configure("curious", command=["curious"])

    assert (await stage.call("cmd/curious")).text == "''False"


async def test_an_agent_that_dies_says_why_in_its_last_line_without_secrets(stage: Stage) -> None:
    stage.put(
        "dying",
        "say('I th')\n"
        "print('Traceback', file=sys.stderr)\n"
        "print('Fatal: no use for \\x1b[31msk-ant-abcdefgh12345678\\x1b[0m.', file=sys.stderr)\n"
        "sys.exit(7)",
    )
    stage.configure("dying", command=["dying"])

    failure = await stage.failure("cmd/dying")

    assert failure.cause == "unavailable"
    assert failure.message == "dying ended with code 7: Fatal: no use for [redacted]."
    assert "`dying`" in failure.remedy


@pytest.mark.parametrize(
    ("told", "cause", "words"),
    [
        ("Not logged in · Please run /login", "auth", "log in"),
        ("", "unavailable", "claude"),
        ("You've hit your session limit", "rate_limited", ""),
        ("Prompt is too long", "too_long", "Shorten"),
    ],
)
async def test_what_an_agent_reports_as_an_error_is_never_its_answer(
    stage: Stage, told: str, cause: str, words: str
) -> None:
    stage.put("claude", speaks(claude_lines("", is_error=True, result=told)))

    failure = await stage.failure("cmd/claude")

    assert failure.cause == cause
    assert words in failure.remedy


FAILURES: dict[str, list[dict[str, Any]]] = {
    "codex": [
        {"type": "error", "message": "Reconnecting... 1/5"},
        {"type": "turn.failed", "error": {"message": "You've hit your usage limit."}},
    ],
    "gemini": [{"type": "result", "status": "error", "error": {"message": "Quota exceeded"}}],
    "opencode": [{"type": "error", "error": {"name": "X", "data": {"message": "Rate limited"}}}],
}


@pytest.mark.parametrize("name", FAILURES)
async def test_limits_of_a_subscription_are_told_apart(stage: Stage, name: str) -> None:
    stage.put(name, speaks(FAILURES[name]))

    assert (await stage.failure(f"cmd/{name}")).cause == "rate_limited"


@pytest.mark.parametrize(
    ("body", "cause"),
    [("", "empty"), ("say(' \\n ')", "empty"), ("say('usage: claude [options]\\n')", "garbled")],
)
async def test_silence_and_gibberish_are_failures(stage: Stage, body: str, cause: str) -> None:
    stage.put("claude", body)

    assert (await stage.failure("cmd/claude")).cause == cause


async def gone(pids: list[int]) -> None:
    """Waits, within bounds, until none of these processes lives."""

    def alive(pid: int) -> bool:
        with contextlib.suppress(ProcessLookupError, FileNotFoundError):
            os.kill(pid, 0)
            stat = Path(f"/proc/{pid}/stat")
            # A child of the agent is reaped by init, in its own time.
            return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
        return False

    await _until(lambda: not any(map(alive, pids)))


async def _until(reached: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not reached():  # noqa: ASYNC110 - another process does not tell us
            await asyncio.sleep(0.02)
