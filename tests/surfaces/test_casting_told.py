"""What a watcher on the terminal is told of the host's casting."""

from __future__ import annotations

from typing import Any

import pytest

from roundtable.experts.methods import METHODS
from roundtable.procedures.opening import OpenRequest
from roundtable.surfaces.cli import terminal
from roundtable.surfaces.cli.progress import PlainProgress
from tests.procedures.test_casting import ASKED, a_table, block, seat
from tests.rehearsal import Table, run_in_virtual_time


def told(table: Table, capsys: pytest.CaptureFixture[str], **request: Any) -> str:
    async def main() -> None:
        opened = await table.service.open(
            OpenRequest("Tea?", procedure="deliberation", host_casts=True, **request)
        )
        await table.service.run(opened.discussion_id, on_event=PlainProgress().on_event)

    run_in_virtual_time(main())
    return capsys.readouterr().err


@pytest.mark.requirement("Z-28")
def test_who_sits_and_who_was_refused_is_told_while_it_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    partly = block([seat("baker"), seat("astronaut"), seat("lawyer")])
    seen = told(a_table(partly, partly), capsys)
    assert "At the table: Baker (Because of the baker.); Lawyer (Because of the lawyer.)" in seen
    assert "Refused: astronaut is not in the library" in seen

    nobody = block([seat("astronaut"), seat("cosmonaut")])
    seen = told(a_table(nobody, nobody), capsys)
    assert "The host named no seats that can be used" in seen
    assert "Refused: astronaut is not in the library" in seen
    assert f"At the table: {METHODS[0].name}" in seen


def test_what_is_assumed_is_told_while_it_runs(capsys: pytest.CaptureFixture[str]) -> None:
    seen = told(a_table(block(questions=ASKED)), capsys)
    assert "Which country? Assumed: It is Germany. · Whose money? Assumed: The asker" in seen


def test_whoever_is_asked_reads_what_an_empty_line_means(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    prompts: list[str] = []

    async def typed(prompt: str) -> str:
        prompts.append(prompt)
        return "In Chile." if "country" in prompt else ""

    monkeypatch.setattr(terminal, "ask_line", typed)
    person = terminal.TerminalAsker(lambda: None, lambda: None)
    seen = told(a_table(block(questions=ASKED), asker=person), capsys, clarify=True)
    assert prompts == [
        "Which country? [Enter: I assume: It is Germany.]",
        "Whose money? [Enter: I assume: The asker pays.]",
    ]
    assert "It is Germany." not in seen
    assert "Whose money? Assumed: The asker pays." in seen
