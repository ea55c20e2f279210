"""Task boards: GitHub's issues, any address, any program. Nothing is written twice."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from roundtable.core.errors import BadSetting, BoardError, UnknownName
from roundtable.ports import BoardTask, TaskBoard
from roundtable.tasks.choose import make_board
from tests.search.server import Answer, always, answer, search_server

from .github import GitHub

ENV = {"GITHUB_TOKEN": "t0ken", "PATH": "/usr/bin:/bin", "OPENAI_API_KEY": "sk-planted"}
HOSTILE = "quotes \" ' $(touch pwned) `id` \n; rm -rf / 中文 🎯"


def board(kind: str, **settings: Any) -> TaskBoard:
    return make_board("board", {"board": {"kind": kind, **settings}}, ENV)


@pytest.mark.requirement("D-96")
async def test_a_comment_and_a_task_reach_github_once_however_often_they_are_sent() -> None:
    github = GitHub()
    with search_server(github) as server:
        there = board("github", repo="shop/site", url=server.url)
        for _ in range(2):
            assert await there.comment("#7", "Done.", mark="m1") == BoardTask(
                "1", "http://127.0.0.1/c"
            )
            made = await there.create("Backend: shop", "- [ ] Measure", owner="bob", mark="m2")
            assert made == BoardTask("#100", "http://127.0.0.1/100")
    assert [comment["body"] for comment in github.comments[7]] == [
        "Done.\n\n<!-- roundtable m1 -->"
    ]
    (issue,) = github.issues
    assert (issue["assignees"], issue["labels"]) == (["bob"], ["roundtable"])


async def test_what_github_wrote_although_its_answer_was_lost_is_found_on_a_later_page() -> None:
    github = GitHub(comments={7: [{"id": n, "body": "chatter"} for n in range(250)]}, forgets=True)
    with search_server(github) as server:
        there = board("github", repo="shop/site", url=server.url)
        with pytest.raises(BoardError, match="status 502"):
            await there.comment("shop/site#7", "Done.", mark="m1")
        await there.comment("shop/site#7", "Done.", mark="m1")
    assert len(github.comments[7]) == 251


@pytest.mark.requirement("I-20")
@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        (401, "GITHUB_TOKEN"),
        (403, "rate limit"),
        (404, "number"),
        (422, "assignee"),
        (500, "later"),
    ],
)
async def test_a_refusal_says_what_to_do_and_never_shows_the_token(
    status: int, remedy: str
) -> None:
    with search_server(GitHub(fails=[status])) as server, pytest.raises(BoardError) as refused:
        await board("github", repo="shop/site", url=server.url).comment("7", "x", mark="m")
    assert str(status) in refused.value.message
    assert remedy in refused.value.remedy
    assert "t0ken" not in str(refused.value)


async def test_a_board_of_this_machine_is_reached_past_the_proxy_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with search_server(always(answer({"task": "T-1"}))) as server:
        made = await board("webhook", url=server.url).comment("1", "x", mark="m")
    assert made == BoardTask("T-1")


async def test_an_address_that_is_none_is_told_before_anything_is_sent() -> None:
    with pytest.raises(BoardError, match="no usable address"):
        await board("webhook", url="http://board:port/x").comment("1", "x", mark="m")


async def test_a_board_that_is_not_there_or_speaks_no_json_is_named() -> None:
    with pytest.raises(BoardError, match=r"cannot be reached at 127\.0\.0\.1"):
        await board("webhook", url="http://127.0.0.1:9/x").comment("1", "x", mark="m")
    with (
        search_server(always(Answer(b"<html>", kind="text/html"))) as server,
        pytest.raises(BoardError, match="not with JSON"),
    ):
        await board("webhook", url=server.url).comment("1", "x", mark="m")


async def test_a_token_is_needed_and_is_read_only_when_something_is_written() -> None:
    there = make_board("b", {"b": {"kind": "github", "repo": "shop/site"}}, {})
    with pytest.raises(BoardError, match=r"needs a token.*GITHUB_TOKEN"):
        await there.comment("7", "x", mark="m")
    odd = make_board("b", {"b": {"kind": "github", "repo": "shop/site"}}, {"GITHUB_TOKEN": "a\nb"})
    with pytest.raises(BoardError, match="no token has"):
        await odd.comment("7", "x", mark="m")
    with pytest.raises(BoardError, match="no GitHub issue"):
        await board("github", repo="shop/site").comment("seven", "x", mark="m")


async def test_a_webhook_gets_everything_and_its_answer_names_the_task() -> None:
    with search_server(always(answer({"task": "T-9", "url": "http://127.0.0.1/T-9"}))) as server:
        there = board("webhook", url=f"{server.url}/hook", token_env="GITHUB_TOKEN")
        assert await there.create("Title", HOSTILE, owner="ops", mark="m") == BoardTask(
            "T-9", "http://127.0.0.1/T-9"
        )
    (asked,) = server.asked
    assert asked.body == {
        "kind": "task", "title": "Title", "body": HOSTILE, "owner": "ops", "mark": "m",
    }  # fmt: skip
    assert asked.headers["idempotency-key"] == "m"
    assert asked.headers["authorization"] == "Bearer t0ken"


async def test_a_webhook_without_an_answer_is_enough() -> None:
    with search_server(always(Answer(b"", 204, kind=""))) as server:
        assert await board("webhook", url=server.url).comment("7", "x", mark="m") == BoardTask("m")


@pytest.mark.requirement("D-96", "I-20")
@pytest.mark.skipif(sys.platform == "win32", reason="a script needs its first line to be honoured")
async def test_a_program_gets_its_words_unchanged_without_a_shell_and_without_keys(
    tmp_path: Path,
) -> None:
    seen = tmp_path / "seen.json"
    script = _script(
        tmp_path,
        "import json, os, sys, pathlib\n"
        f"pathlib.Path({str(seen)!r}).write_text(json.dumps([sys.argv[1:], sys.stdin.read(), "
        "dict(os.environ)]))\n"
        "print('T-1')\nprint('http://127.0.0.1/T-1')\n",
    )
    there = board("command", command=[script, "--first"])
    assert await there.create(HOSTILE, HOSTILE, owner="ops", mark="m") == BoardTask(
        "T-1", "http://127.0.0.1/T-1"
    )
    arguments, body, environment = json.loads(seen.read_text())
    assert arguments == ["--first", "task", "ops", "m", HOSTILE]
    assert body == HOSTILE
    assert "OPENAI_API_KEY" not in environment
    assert not (tmp_path / "pwned").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="a script needs its first line to be honoured")
async def test_a_program_that_fails_or_is_missing_is_an_error_that_says_so(tmp_path: Path) -> None:
    script = _script(tmp_path, "import sys\nprint('no such task', file=sys.stderr)\nsys.exit(3)\n")
    with pytest.raises(BoardError, match="code 3: no such task"):
        await board("command", command=[script]).comment("1", "x", mark="m")
    with pytest.raises(BoardError, match="cannot be started"):
        await board("command", command=[str(tmp_path / "missing")]).comment("1", "x", mark="m")


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"kind": "github", "repo": "shop"}, "repo"),
        ({"kind": "webhook", "url": "ftp://x"}, "url"),
        ({"kind": "command"}, "command"),
    ],
)
def test_settings_that_are_not_enough_are_named(settings: dict[str, Any], key: str) -> None:
    with pytest.raises(BadSetting, match=key):
        make_board("b", {"b": settings}, ENV)
    with pytest.raises(UnknownName, match="Did you mean github"):
        make_board("gihub", {"github": settings}, ENV)


def _script(folder: Path, body: str) -> str:
    path = folder / "board"
    path.write_text(f"#!{sys.executable}\n{body}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)
