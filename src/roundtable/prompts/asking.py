"""What a call of a turn is asked with: its task, a repair of it, or its declaration alone."""

from __future__ import annotations

from dataclasses import replace

from ..core.contracts import sections_to_mend
from ..core.effects import PromptPlan, PromptValue, Task, TurnPlan, Untrusted
from ..core.fence import labels_in
from ..core.text import estimate_tokens
from ..core.turns import Call
from . import Rendered, render


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


def _asked_again(task: Task, call: Call, nonce: str, room: int) -> Rendered:
    """The short prompt for a declaration alone, with the speech that it belongs to."""
    assert task.again is not None, "only a task that can be asked again is"
    told: dict[str, PromptValue] = {
        "speech": Untrusted("speech", call.broken_text, "yourself"),
        "problems": "\n".join(f"- {each.message}" for each in call.repair),
    }
    plan = replace(task.again, variables={**task.again.variables, **told})
    return render(plan, nonce=nonce, limit_tokens=room)
