"""The files from which a fleet is set up say what the program understands."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
import yaml

from .test_docs import ROOT, parse

FLEET = ROOT / "examples" / "fleet"


@pytest.mark.requirement("Z-38", "Z-21")
def test_every_service_of_the_compose_file_runs_a_command_there_is() -> None:
    whole: dict[str, Any] = yaml.safe_load((FLEET / "compose.yaml").read_text())
    ours = [each for each in whole["services"].values() if each["image"] == "roundtable"]
    assert len(ours) == 2
    for service in ours:
        parse(shlex.join(["roundtable", *service["command"]]))
        build = service["build"]
        assert (FLEET / build["context"] / build["dockerfile"]).is_file()


@pytest.mark.requirement("Z-38", "Z-21")
def test_the_unit_of_a_worker_runs_a_command_there_is() -> None:
    unit = (FLEET / "roundtable-worker.service").read_text()
    (line,) = [each for each in unit.splitlines() if each.startswith("ExecStart=")]
    _, _, arguments = line.partition(" ")
    parse(f"roundtable {arguments}")


def test_the_image_copies_what_is_there() -> None:
    lines = (FLEET / "Dockerfile").read_text().splitlines()
    copied = [each.split()[1:-1] for each in lines if each.startswith("COPY")]
    for path in (name for names in copied for name in names):
        assert (ROOT / path).exists(), path
