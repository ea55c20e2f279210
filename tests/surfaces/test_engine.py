"""RoundTableEngine: the five rounds by their own name."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import roundtable
from roundtable import RoundTableEngine
from roundtable.core.errors import BadSetting
from roundtable.ports import SpeakRequest
from roundtable.speakers.scripted import ScriptedSpeaker
from tests.procedures.five_round_table import AGENTS, TOPIC, compliant


def engine_run(home: Path, script: Any = None, **arguments: Any) -> tuple[RoundTableEngine, bool]:
    """An engine on a table of scripts, run to its end."""

    async def main() -> tuple[RoundTableEngine, bool]:
        speaker = ScriptedSpeaker(script or compliant)
        async with roundtable.Roundtable(
            home=home, env={}, model="scripted/me", speakers={"me": speaker}
        ) as table:
            engine = RoundTableEngine(table=table, **arguments)
            return engine, await engine.run()

    return asyncio.run(main())


@pytest.mark.requirement("B-01", "B-02", "X-20")
def test_the_sample_of_the_pre_analysis_succeeds_without_a_call(tmp_path: Path) -> None:
    def nobody(request: SpeakRequest) -> str:
        raise AssertionError(f"{request.model} was called")

    engine, ok = engine_run(tmp_path, nobody, topic=TOPIC, agents=list(AGENTS), mode="pre-ac")
    assert ok is True
    assert engine.state is not None
    assert engine.state.usage.calls == 0
    assert [p.name for p in engine.state.participants] == list(AGENTS)
    assert engine.verdict is not None
    assert "at least 14" in engine.verdict.written


@pytest.mark.requirement("B-01", "B-02", "B-06", "B-59")
def test_a_full_run_returns_true_and_leaves_its_reports(tmp_path: Path) -> None:
    out = tmp_path / "out"
    engine, ok = engine_run(tmp_path, topic=TOPIC, agents=list(AGENTS), mode="full", output_dir=out)
    assert ok is True
    assert [path.parent for path in engine.files] == [out, out]
    report = json.loads(engine.files[0].read_text("utf-8"))
    assert report["statistics"]["calls"] == 14
    assert sorted(out.iterdir()) == sorted(engine.files)


@pytest.mark.requirement("B-02")
@pytest.mark.parametrize("mode", ["", "quick", "PRE-AC", "pre_ac"])
def test_any_other_mode_is_an_error(mode: str) -> None:
    with pytest.raises(BadSetting, match="pre-ac or full"):
        RoundTableEngine(topic=TOPIC, mode=mode)


@pytest.mark.requirement("B-52")
def test_without_a_backend_the_run_is_false_and_nothing_is_invented(tmp_path: Path) -> None:
    from roundtable.core.errors import SpeakerError

    engine, ok = engine_run(
        tmp_path,
        lambda _: SpeakerError("not_found", "There is no such backend."),
        topic=TOPIC,
        output_dir=tmp_path / "out",
    )
    assert ok is False
    assert engine.state is not None
    assert (list(engine.state.speeches), engine.verdict, engine.files) == ([], None, ())
    assert not (tmp_path / "out").exists()


@pytest.mark.requirement("B-01")
def test_a_request_that_cannot_be_opened_is_false_with_its_reason(tmp_path: Path) -> None:
    engine, ok = engine_run(tmp_path, topic=" ", agents=["A", "B"])
    assert ok is False
    assert engine.error is not None
    assert "empty" in str(engine.error)
    engine, ok = engine_run(tmp_path, topic=TOPIC, agents=["only one"])
    assert (ok, engine.state) == (False, None)


@pytest.mark.requirement("B-04", "B-29")
def test_without_agents_three_experts_of_several_domains_are_chosen(tmp_path: Path) -> None:
    engine, ok = engine_run(tmp_path, topic=TOPIC, mode="pre-ac")
    assert ok
    assert engine.state is not None
    seats = engine.state.participants
    assert len({seat.id for seat in seats}) == 3
    assert len({seat.role for seat in seats}) >= 2


@pytest.mark.requirement("B-65", "B-04")
def test_a_chinese_topic_finds_its_experts_too(tmp_path: Path) -> None:
    engine, ok = engine_run(tmp_path, topic="智能客服系统技术方案评审", mode="pre-ac")
    assert ok
    assert engine.state is not None
    assert len(engine.state.participants) == 3
