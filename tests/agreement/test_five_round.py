"""The scripts through all five rounds: with everybody saying the same twice, the debate would end
after the second one."""

from __future__ import annotations

from typing import Any

import pytest

from roundtable.core.standing import standing_of
from tests.agreement.script import Cast
from tests.agreement.test_scripts import SCRIPTS, held, named


@pytest.mark.requirement("Z-22", "Z-23", "Z-24")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda each: f"{each['kind']}-{each['id']}")
def test_all_five_rounds_end_as_a_careful_person_calls_it(script: dict[str, Any]) -> None:
    state = held(Cast(script, "honest", "hasty"), "five-round", strict_rounds=True)
    assert ("revision", 4) in state.stages
    assert ("ballot", 2) not in state.stages
    standing = standing_of(state)
    assert named(standing) == script["end"], standing.question
