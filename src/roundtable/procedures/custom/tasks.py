"""The turns of a custom procedure: what a speaker is asked, with which contract and how often."""

from __future__ import annotations

from functools import lru_cache

from ...core.budget import HoldBack
from ...core.contracts import Contract
from ...core.effects import (
    OwnTemplate,
    PromptPlan,
    PromptValue,
    SectionShape,
    Task,
    TurnPlan,
    TurnPolicy,
    Untrusted,
    turn_id,
)
from ...core.text import first_sentences
from ...core.values import Participant
from ...prompts import load
from ...prompts.own import variables_of
from .checks import FRAME
from .model import Asking, Extract, Reading
from .schedule import Step
from .sitting import Sitting
from .values import asked_for, contract_of
from .visibility import seen

VERDICT = "verdict"
TASK_PLACE = "<!-- task -->"
PATIENT = TurnPolicy(timeout=600, retries=1)
SMALL_TOKENS = 220
SMALL_SECTIONS = 2
WAITS = 30.0
"""Seconds that a turn may take beyond the time of its attempts."""
LANGUAGES = {"en": "English", "de": "German", "es": "Spanish"}
OPENINGS = ("In my view,", "The main reason is that")
PUT_IN = ("question", "context", "remarks", "seen", "results")
"""What the frame shows where the task itself does not."""


def plans(sitting: Sitting, step: Step) -> list[TurnPlan]:
    """The turns of a step, in their order."""
    return [_plan(sitting, step, speaker) for speaker in sitting.speakers(step)]


def _plan(sitting: Sitting, step: Step, speaker: Participant) -> TurnPlan:
    stage = step.stage
    task = Task(
        _prompt(sitting, stage, stage.name, stage.prompt, speaker, step),
        contract_of(stage),
        max_tokens=stage.max_tokens,
    )
    return TurnPlan(
        turn_id=turn_id(step.round, step.name, speaker.id),
        stage=step.name,
        round=step.round,
        participant=speaker,
        label=f"{sitting.definition.name}-{speaker.id}-{step.name}-r{step.after_round}",
        task=task,
        demo_task=None if stage.by_host else _small(sitting, stage, speaker, step),
        policy=_policy(stage, speaker),
        after_round=step.after_round if stage.by_host else 0,
        hold_back=_for_the_verdict(sitting),
    )


def verdict(sitting: Sitting) -> TurnPlan:
    """The host's last word."""
    ending = sitting.definition.verdict
    body = ending.prompt or load("custom/verdict").body
    return TurnPlan(
        turn_id=turn_id(0, VERDICT, sitting.host.id),
        stage=VERDICT,
        round=0,
        participant=sitting.host,
        label=f"{sitting.definition.name}-{VERDICT}",
        task=Task(
            _prompt(sitting, ending, VERDICT, body, sitting.host, None),
            Contract(
                sections=ending.sections, min_words=ending.min_words, max_words=ending.max_words
            ),
            max_tokens=ending.max_tokens,
        ),
        policy=_policy(ending, sitting.host),
        after_round=sitting.rounds,
    )


def _prompt(
    sitting: Sitting,
    asking: Asking,
    name: str,
    body: str,
    speaker: Participant,
    step: Step | None,
) -> PromptPlan:
    definition = sitting.definition
    start = sitting.state.start
    used = _used(body)
    results = [Untrusted("results", r.text(), "the program") for r in sitting.results]
    variables: dict[str, PromptValue] = {
        **definition.variables,
        **{f"puts_{each}": each in used for each in PUT_IN},
        "question": Untrusted("question", start.topic),
        "context": tuple(Untrusted("context", m.text, m.source) for m in sitting.state.context),
        "remarks": tuple(
            Untrusted("remark", speech.text, "the host")
            for speech in sitting.state.speeches
            if speech.stage == "remark"
        ),
        "seen": seen(sitting, asking, speaker.id, step),
        "results": tuple(results) if asking.sees_results else (),
        "language": LANGUAGES.get(start.language, start.language),
        "name": speaker.name,
        "perspective": speaker.perspective,
        "guidance": _guidance(sitting, speaker),
        "chairs": speaker.id == sitting.host.id,
        "round": str(step.after_round if step else sitting.rounds),
        "pass_number": str(step.number if step else 1),
        "passes": str(step.passes if step else 1),
        "form": _form(asking, step.stage.extract if step else ()),
    }
    template = OwnTemplate(
        id=f"custom:{definition.name}/{name}",
        version=definition.version,
        body=_framed(body),
        variables=frozenset(["nonce", *variables]),
    )
    return PromptPlan(template, variables)


@lru_cache(maxsize=256)
def _used(body: str) -> frozenset[str]:
    return variables_of(body)


@lru_cache(maxsize=256)
def _framed(body: str) -> str:
    """The task inside its frame: the notice on security comes before anything from outside, and
    the form of the answer last, whatever the task says."""
    head, _, tail = load(FRAME).body.partition(TASK_PLACE)
    return f"{head}{body.strip()}{tail}"


def _form(asking: Asking, extracts: tuple[Extract, ...]) -> str:
    """The form of the answer, as code will check it."""
    by_section = {each.section: each for each in extracts if each.section}
    lines: list[str] = []
    if asking.sections:
        lines.append("Answer in these sections and in no other form:")
        for heading in asking.sections:
            hint = by_section.get(heading)
            lines += ["", f"## {heading}", *([_capital(asked_for(hint))] if hint else [])]
    lines += [
        f"\nOne line begins with “{each.line}” and holds {asked_for(each)}"
        for each in extracts
        if each.line
    ]
    if asking.min_words and asking.max_words:
        lines.append(f"\nWrite {asking.min_words} to {asking.max_words} words.")
    elif asking.min_words:
        lines.append(f"\nWrite at least {asking.min_words} words.")
    elif asking.max_words:
        lines.append(f"\nWrite at most {asking.max_words} words.")
    return "\n".join(lines).strip()


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _guidance(sitting: Sitting, speaker: Participant) -> str:
    guidance = sitting.state.start.options.get("guidance")
    return str(guidance.get(speaker.id, "")) if isinstance(guidance, dict) else ""


def _small(sitting: Sitting, stage: Asking, speaker: Participant, step: Step) -> Task:
    """A demonstration model completes openings better than it obeys, and forgets what is long: it
    hears the last others in a sentence each, and nothing it says is counted."""
    headings = stage.sections[:SMALL_SECTIONS] or ("Answer",)
    heard = _heard(sitting, stage, speaker, step)
    return Task(
        PromptPlan(
            "custom/small",
            {
                "question": Untrusted("question", sitting.state.start.topic),
                "name": speaker.name,
                "perspective": first_sentences(speaker.perspective, 1, 200),
                "heard": heard,
            },
        ),
        Contract(sections=tuple(headings)),
        max_tokens=SMALL_TOKENS,
        shape=tuple(
            SectionShape(heading, 2 if place == 0 else 1, OPENINGS[place])
            for place, heading in enumerate(headings)
        ),
    )


def _heard(
    sitting: Sitting, reading: Reading, speaker: Participant, step: Step
) -> tuple[Untrusted, ...]:
    shown = seen(sitting, reading, speaker.id, step)
    others = [each for each in shown if not each.source.startswith("yourself")][-2:]
    return tuple(
        Untrusted(each.kind, first_sentences(_unheaded(each.text), 1, 300), each.source)
        for each in others
    )


def _unheaded(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("#"))


def _policy(asking: Asking, speaker: Participant) -> TurnPolicy:
    if speaker.speaker.demonstration:
        return PATIENT
    tries = 1 + asking.retries + asking.repairs
    return TurnPolicy(
        timeout=asking.timeout,
        deadline=asking.timeout * tries + WAITS,
        retries=asking.retries,
        repairs=asking.repairs,
    )


def _for_the_verdict(sitting: Sitting) -> HoldBack | None:
    """Keep one call, and what it reads and writes, for the host's last word."""
    if not sitting.host_concludes:
        return None
    writes = min(2000, sitting.definition.verdict.max_tokens)
    return HoldBack(sitting.host.speaker, input_tokens=4000, output_tokens=writes)
