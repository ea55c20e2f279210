"""Likely secrets in a question or its context: nothing is sent before somebody decided."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

from roundtable.core.errors import SecretsFound
from roundtable.surfaces.python import Roundtable
from tests.surfaces.desk import QUICK, Desk
from tests.surfaces.openai.clients import client as openai_client
from tests.surfaces.web.house import QUICK as OPTIONS
from tests.surfaces.web.house import client_token, house

pytestmark = pytest.mark.requirement("Z-39")
SECRET = "sk-proj-q7Zt9LmX2vKp4RwB8sNd"
NOTES = f"# Deployment\nOPENAI_API_KEY={SECRET}\n"


def test_without_a_terminal_nothing_is_sent_and_the_error_says_where_and_what_to_do(
    desk: Desk,
) -> None:
    notes = desk.workspace / "notes.md"
    notes.write_text(NOTES)
    told = desk.ask("--context", str(notes))
    assert told.code == 2
    assert "line 2" in told.err
    assert "--secrets redact" in told.err
    assert SECRET not in told.err
    assert "No discussions yet" in desk("list").err


def test_a_dry_run_says_that_the_run_would_be_refused(desk: Desk) -> None:
    told = desk.ask("--context", "-", "--dry-run", stdin=NOTES.encode())
    assert told.code == 0
    assert "this is refused: the material seems to contain secrets. -, line 2" in told.out
    assert "--secrets redact" in told.out
    assert SECRET not in told.out
    decided = desk.ask("--context", "-", "--dry-run", "--secrets", "send", stdin=NOTES.encode())
    assert "is refused" not in decided.out


@pytest.mark.parametrize("how", ["redact", "send"])
def test_whoever_decides_is_obeyed(desk: Desk, how: str) -> None:
    told = desk.ask("--context", "-", "--secrets", how, "--json", stdin=NOTES.encode())
    assert told.code == 0
    assert (SECRET in desk.stored()) == (how == "send")


def test_the_settings_decide_where_nobody_else_does(desk: Desk) -> None:
    desk.home.mkdir(parents=True, exist_ok=True)
    (desk.home / "config.toml").write_text('secrets = "redact"\n')
    assert desk.ask("--context", "-", stdin=NOTES.encode()).code == 0
    assert SECRET not in desk.stored()


def test_a_document_that_is_added_later_is_looked_at_too(desk: Desk) -> None:
    notes = desk.workspace / "notes.md"
    notes.write_text(NOTES)
    told = desk("add", "rt_00000000", str(notes))
    assert told.code == 2
    assert "line 2" in told.err


async def test_http_and_the_library_refuse_in_the_same_words(tmp_path: Path) -> None:
    body = {
        "topic": "Tea or coffee?",
        "context": [{"source": "notes", "text": NOTES}],
        "options": OPTIONS,
        "run": False,
    }
    async with house(tmp_path) as at:
        refused = await at.client.post("/api/discussions", json=body, headers=dict(at.owner))
        assert refused.status_code == 422
        assert "notes, line 2" in refused.text
        assert SECRET not in refused.text
        taken = await at.client.post(
            "/api/discussions", json={**body, "secrets": "redact"}, headers=dict(at.owner)
        )
        assert taken.status_code == 201
        state = await at.service.read(taken.json()["discussion_id"])
        assert state.start.context[0].text == "# Deployment\nOPENAI_API_KEY=[redacted]\n"
        link = at.at(state, "host")
        late = await at.act(f"{link}/material", source="notes", text=NOTES)
        assert late.status_code == 422
        tool = await at.client.post(
            "/api/tools/ask",
            json={"question": "Tea?", "context": NOTES},
            headers=dict(at.owner),
        )
        assert tool.status_code == 422
        assert SECRET not in tool.text
        async with openai_client(at.url, client_token(at.app.settings.home)) as c:
            with pytest.raises(Exception, match="line 2"):
                await c.chat.completions.create(
                    model="roundtable/quick", messages=[{"role": "user", "content": NOTES}]
                )
    async with Roundtable(home=tmp_path) as table:
        with pytest.raises(SecretsFound, match="line 2"):
            await table.open(NOTES, **OPTIONS)  # type: ignore[arg-type]


def test_the_question_itself_is_looked_at(desk: Desk) -> None:
    told = desk(f"Is {SECRET} a good key?", *QUICK)
    assert told.code == 2
    assert "the question, line 1" in told.err


@pytest.mark.parametrize(
    ("typed", "code"), [(b"\n", 2), (b"n\n", 2), (b"redact\n", 0), (b"s\n", 0)]
)
def test_at_a_terminal_the_person_decides(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, typed: bytes, code: int
) -> None:
    notes = desk.workspace / "notes.md"
    notes.write_text(NOTES)
    monkeypatch.setattr("roundtable.surfaces.cli.ask.is_terminal", lambda _: True)
    told = desk.ask("--context", str(notes), stdin=typed)
    assert told.code == code
    assert "line 2" in told.err
    assert SECRET not in told.err


async def test_colours_of_a_terminal_are_taken_out_first_and_hide_no_secret(tmp_path: Path) -> None:
    half = len(SECRET) // 2
    cut = f"OPENAI_API_KEY={SECRET[:half]}\x1b[0m{SECRET[half:]}\n"
    async with house(tmp_path) as at:

        async def opened(text: str) -> httpx2.Response:
            context = [{"source": "the log", "text": text}]
            body = {"topic": "Tea?", "context": context, "options": OPTIONS, "run": False}
            return await at.client.post("/api/discussions", json=body, headers=dict(at.owner))

        refused = await opened(cut)
        assert refused.status_code == 422
        assert "the log, line 1" in refused.text
        taken = await opened("\x1b[32mok\x1b[0m\n")
        state = await at.service.read(taken.json()["discussion_id"])
        assert state.start.context[0].text == "ok\n"
        assert "the log was read without the colours" in " ".join(n.text for n in state.notes)
        link = at.at(state, "host")
        assert (await at.act(f"{link}/material", source="more", text=cut)).status_code == 422
