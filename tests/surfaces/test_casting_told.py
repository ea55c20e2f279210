"""What a watcher on the terminal is told of the host's casting."""

from __future__ import annotations

from typing import Any

import pytest

from roundtable.experts.methods import METHODS
from roundtable.procedures.opening import OpenRequest
from roundtable.surfaces.cli.progress import PlainProgress
from tests.procedures.test_casting import a_table, block, seat
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
    assert "The host did not name seats that can be used" in seen
    assert "Refused: astronaut is not in the library" in seen
    assert f"At the table: {METHODS[0].name}" in seen
