"""Delivery: the reports of a five-round discussion, with the prompts where only those were asked
for."""

from __future__ import annotations

from datetime import datetime

from ...core.fence import discussion_nonce
from ...core.state import State
from ...core.values import Prompt
from ...prompts import render
from ...views.five_round import files, report
from ...views.five_round.rounds import PROPOSAL
from ...views.output_file import OutputFile
from .tasks import FiveRoundTable, round_turn


def deliver(state: State, version: str) -> str:
    """What a person reads at the end."""
    return report.delivery(state, version, _prompts(state))


def outputs(state: State, at: datetime) -> tuple[OutputFile, ...]:
    """The files for the workspace."""
    return files.outputs(state, at, _prompts(state))


def _prompts(state: State) -> tuple[tuple[str, Prompt], ...]:
    """Of a pre-analysis: what each expert would be asked first."""
    table = FiveRoundTable(state, state.start.procedure)
    if table.option("depth") != "pre-ac":
        return ()
    found = []
    for participant in state.participants:
        plan = round_turn(table, 1, PROPOSAL, participant)
        task = plan.task_for(participant.speaker)
        room = plan.prompt_room(participant.speaker, state.start.pace)
        nonce = discussion_nonce(state.discussion_id, state.start.seed)
        prompt = render(task.prompt, nonce=nonce, limit_tokens=room).prompt
        found.append((plan.label, prompt))
    return tuple(found)
