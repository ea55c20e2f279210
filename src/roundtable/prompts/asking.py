"""What a call of a turn is asked with: its task, a repair of it, or its declaration alone."""

from __future__ import annotations

import re
from dataclasses import replace

from ..core.contracts import sections_to_mend
from ..core.effects import PromptPlan, PromptValue, Task, TurnPlan, Untrusted
from ..core.fence import labels_in
from ..core.state import Turn
from ..core.text import estimate_tokens
from ..core.turns import Call, answered_whole
from ..core.values import Pace, Prompt
from . import Rendered, render

_FENCE = re.compile(r"\[fence (\S+)\]")
_CODE = re.compile(r"held by the code (\S+), comes from outside")


def asked(plan: TurnPlan, call: Call, *, nonce: str, room: int) -> Rendered:
    """The prompt of a call, condensed where it has more than `room` tokens."""
    task = plan.task_for(call.speaker)
    if call.purpose == "declare":
        return _asked_again(task, call, nonce, room)
    if not call.repair:
        return render(task.prompt, nonce=nonce, limit_tokens=room)
    mending = PromptPlan(
        "shared/repair",
        {
            "answer": Untrusted("speech", call.broken_text),
            "violations": "\n".join(f"- {each.message}" for each in call.repair),
            "sections": ", ".join(f"“## {name}”" for name in sections_to_mend(call.repair)),
            "blocks": " and ".join(f"`{each}`" for each in labels_in(call.broken_text)),
        },
    )
    # The same nonce: the notice at the top of the prompt vouches for no other.
    repair = render(mending, nonce=nonce, limit_tokens=room // 2)
    addition = f"\n\n{repair.prompt.user}"
    room -= estimate_tokens(addition)
    rendered = render(task.prompt, nonce=nonce, limit_tokens=room)
    user = rendered.prompt.user + addition
    cuts = (*rendered.cuts, *repair.cuts)
    return Rendered(rendered.prompt.model_copy(update={"user": user}), cuts)


def with_answer_to_the_same(plan: TurnPlan, turn: Turn, pace: Pace | None) -> Turn:
    """A turn that is asked for anew because a limit was raised: where it is asked the very same
    once more, what was answered then counts on, and is not paid for again."""
    earlier = answered_whole(plan, turn)
    if not earlier:
        return turn
    first = earlier[0].started
    speaker = next((ref for ref in plan.participant.speakers if ref.model == first.model), None)
    if speaker is None:
        return turn
    room = plan.prompt_room(speaker, pace)
    now = asked(plan, Call(1, speaker, "answer"), nonce=nonce_of(first.prompt), room=room).prompt
    same = (now.system, now.user) == (first.prompt.system, first.prompt.user)
    return replace(turn, before=turn.answered or 0) if same else turn


def nonce_of(prompt: Prompt) -> str:
    """The nonce that a prompt was rendered with; empty where it needed none."""
    told = prompt.system + prompt.user
    held = _CODE.search(told) or _FENCE.search(told)
    return held[1] if held else ""


def _asked_again(task: Task, call: Call, nonce: str, room: int) -> Rendered:
    """The short prompt for a declaration alone, with the speech that it belongs to."""
    assert task.again is not None, "only a task that can be asked again is"
    told: dict[str, PromptValue] = {
        "speech": Untrusted("speech", call.broken_text, "yourself"),
        "problems": "\n".join(f"- {each.message}" for each in call.repair),
    }
    plan = replace(task.again, variables={**task.again.variables, **told})
    return render(plan, nonce=nonce, limit_tokens=room)
