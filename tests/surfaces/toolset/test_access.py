"""Who may use which tools, and the diagnosis for whoever cannot reach them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from roundtable.core.errors import NotAllowed, UnknownName
from roundtable.settings import Choices
from roundtable.surfaces.toolset.access import TOOLSETS, access, diagnosis
from roundtable.surfaces.toolset.toolset import OPERATIONS
from tests.surfaces.desk import Desk

from .tables import SEATS, TOPIC, started, stored, tools


def choices(**profiles: Any) -> Choices:
    return Choices.model_validate({"profiles": profiles})


def test_every_tool_is_in_the_whole_toolset() -> None:
    assert TOOLSETS["roundtable"] == set(OPERATIONS)


@pytest.mark.requirement("D-19")
@pytest.mark.parametrize(
    ("profile", "enabled", "tools_"),
    [
        ("", (), TOOLSETS["roundtable"]),
        (
            "arch",
            (),
            TOOLSETS["roundtable"]
            - {"init", "end", "advance", "notify", "invite", "outcome"}
            - {"pause", "resume", "skip", "material", "extend"},
        ),
        ("mute", (), frozenset()),
        ("mute", ("roundtable-seat",), TOOLSETS["roundtable-seat"]),
        ("looker", (), TOOLSETS["roundtable-read"]),
        ("stranger", (), frozenset()),
        ("coordinator", ("roundtable",), TOOLSETS["roundtable"]),
    ],
)
def test_tools_are_enabled_per_profile_or_per_start(
    profile: str, enabled: tuple[str, ...], tools_: frozenset[str]
) -> None:
    listed = choices(
        arch={"toolsets": ["roundtable"]},
        mute={"toolsets": []},
        looker={"toolsets": ["roundtable-read"]},
    )
    assert access(listed, profile, enabled).tools == tools_


@pytest.mark.requirement("D-19")
async def test_an_agent_speaks_for_its_own_seat_only(tmp_path: Path) -> None:
    async with tools(tmp_path) as host, tools(tmp_path, profile="arch") as agent:
        id_ = await started(host)
        with pytest.raises(NotAllowed, match="'arch' only"):
            await agent.speak(id_, "coordinator", "I am in charge.")
        with pytest.raises(NotAllowed, match="'arch' only"):
            await agent.vote(id_, "back")
        assert (await agent.speak(id_, "arch", "My own view.")).round == 1
        for forbidden in ("advance", "end"):
            with pytest.raises(NotAllowed, match="belongs to the coordinator"):
                await agent.call(forbidden, {"discussion_id": id_})
        assert "end" not in agent.operations


@pytest.mark.requirement("D-19", "D-90")
async def test_an_agent_without_the_toolset_cannot_call_and_is_told_why(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    config = tmp_path / "home" / "config.toml"
    config.write_text("[profiles.arch]\ntoolsets = []\n")
    async with tools(tmp_path, profile="arch") as agent:
        with pytest.raises(NotAllowed, match="No toolset is enabled for 'arch'") as refused:
            await agent.create_discussion(topic=TOPIC, participants=SEATS)
        assert "--toolset roundtable" in refused.value.remedy
    async with tools(tmp_path, profile="back") as agent:
        with pytest.raises(NotAllowed, match="'back' is not registered"):
            await agent.list_discussions()
    config.write_text('[profiles.arch]\ntoolsets = ["roundtable"]\n')
    async with tools(tmp_path, profile="arch") as agent:
        assert (await agent.list_discussions()).total == 0


@pytest.mark.requirement("D-90")
async def test_the_diagnosis_names_a_profile_that_the_discussion_does_not_know(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as toolset:
        state = await stored(toolset, await started(toolset))
    plain = choices()
    (reason,) = diagnosis(access(plain, "Arch"), state)
    assert "'Arch' is not registered" in reason.what
    assert "arch, back, prod" in reason.what
    assert reason.remedy
    assert diagnosis(access(plain, "arch"), state) == []


def test_an_unknown_toolset_is_refused() -> None:
    with pytest.raises(UnknownName, match="rondtable"):
        access(choices(), "arch", ["rondtable"])


@pytest.mark.requirement("D-90")
def test_the_command_line_checks_a_profile(desk: Desk) -> None:
    desk.home.mkdir(exist_ok=True)
    (desk.home / "config.toml").write_text("[profiles.arch]\ntoolsets = []\n")
    mute = desk("mcp", "--check", "--as", "arch")
    assert mute.code == 2
    assert "No toolset is enabled" in mute.err
    stranger = desk("mcp", "--check", "--as", "back")
    assert stranger.code == 2
    assert "not registered" in stranger.err
    fine = desk("mcp", "--check", "--as", "arch", "--toolset", "roundtable-read")
    assert fine.code == 0
    assert "5 tools can be used" in fine.out
