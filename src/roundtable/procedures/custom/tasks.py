"""The turns of a custom procedure: what a speaker is asked, with which contract and how often."""

from __future__ import annotations

from functools import lru_cache

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
from .. import verdicts
from ..table import PATIENT
from ..work import declaring_work, wants_work, works_to_judge
from .checks import FRAME
from .model import Asking, Reading
from .schedule import Step
from .table import CustomTable, hears_others
from .values import peers_by_name
from .visibility import seen

VERDICT = "verdict"
TASK_PLACE = "<!-- task -->"
SMALL_TOKENS = 220
SMALL_SECTIONS = 2
WAITS = 30.0
"""Seconds that a turn may take beyond the time of its attempts."""
OPENINGS = ("In my view,", "The main reason is that")
PUT_IN = ("question", "context", "remarks", "seen", "results")
"""What the frame shows where the task itself does not."""


def plans(table: CustomTable, step: Step) -> list[TurnPlan]:
    """The turns of a step, in their order."""
    return [_plan(table, step, speaker) for speaker in table.speakers(step)]


def _plan(table: CustomTable, step: Step, speaker: Participant) -> TurnPlan:
    stage = step.stage
    contract = Contract(stage.sections, stage.min_words, stage.max_words)
    prompt = _prompt(table, stage, stage.name, stage.prompt, speaker, step)
    form = table.form_of(step, speaker, anonymous=stage.anonymous)
    task = declaring_work(
        table,
        speaker,
        step.round,
        prompt.template,
        prompt.variables,
        form,
        contract,
        wanted=not stage.by_host and wants_work(table),
        max_tokens=stage.max_tokens,
        peers=None if stage.anonymous else peers_by_name(table.seats, speaker.id),
        alone=not hears_others(stage),
    )
    return TurnPlan(
        turn_id=turn_id(step.round, step.name, speaker.id),
        stage=step.name,
        round=step.round,
        participant=speaker,
        label=f"{table.definition.name}-{speaker.id}-{step.name}-r{step.after_round}",
        task=task,
        demo_task=None if stage.by_host else _small(table, stage, speaker, step),
        policy=_policy(stage, speaker),
        after_round=step.after_round if stage.by_host else 0,
        independent=not stage.by_host and table.independent(step, speaker),
    )


def verdict(table: CustomTable) -> TurnPlan:
    """The host's last word."""
    ending = table.definition.verdict
    body = ending.prompt or load("custom/verdict").body
    prompt = _prompt(table, ending, VERDICT, body, table.host, None)
    contract = Contract(ending.sections, ending.min_words, ending.max_words)
    task = Task(prompt, contract, max_tokens=ending.max_tokens)
    if _counts(table):
        task = verdicts.verdict_task(
            table,
            prompt.template,
            prompt.variables,
            ending.sections,
            max_tokens=ending.max_tokens,
            contract=contract,
        )
    return TurnPlan(
        turn_id=turn_id(0, VERDICT, table.host.id),
        stage=VERDICT,
        round=0,
        participant=table.host,
        label=f"{table.definition.name}-{VERDICT}",
        task=task,
        policy=_policy(ending, table.host),
        after_round=table.rounds,
    )


def _counts(table: CustomTable) -> bool:
    """Whether the verdict has a count to keep to, and ends with a declaration."""
    return table.definition.decides and table.record.question is not None


def _prompt(
    table: CustomTable,
    asking: Asking,
    name: str,
    body: str,
    speaker: Participant,
    step: Step | None,
) -> PromptPlan:
    definition = table.definition
    used = _used(body)
    common = table.common()
    results = [Untrusted("results", r.text(), "the program") for r in table.results]
    variables: dict[str, PromptValue] = {
        **definition.variables,
        **{f"puts_{each}": each in used for each in PUT_IN},
        "question": common["question"],
        "context": common["context"],
        "remarks": common["remarks"],
        "seen": seen(table, asking, speaker.id, step),
        "results": tuple(results) if asking.sees_results else (),
        "language": common["language"],
        "today": common["today"],
        **table.persona(speaker),
        "chairs": speaker.id == table.host.id,
        "round": str(step.after_round if step else table.rounds),
        "pass_number": str(step.number if step else 1),
        "passes": str(step.passes if step else 1),
        "form": _form(asking),
        "outcome": "",
        "conditions": "",
        "deliverable": works_to_judge(table, declares=_counts(table)) if step is None else "",
        "declaration": "",
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


def _form(asking: Asking) -> str:
    """The form of the answer, as code will check it."""
    lines: list[str] = []
    if asking.sections:
        lines.append("Answer in these sections and in no other form:")
        for heading in asking.sections:
            lines += ["", f"## {heading}"]
    if asking.min_words and asking.max_words:
        lines.append(f"\nWrite {asking.min_words} to {asking.max_words} words.")
    elif asking.min_words:
        lines.append(f"\nWrite at least {asking.min_words} words.")
    elif asking.max_words:
        lines.append(f"\nWrite at most {asking.max_words} words.")
    return "\n".join(lines).strip()


def _small(table: CustomTable, stage: Asking, speaker: Participant, step: Step) -> Task:
    """A demonstration model completes openings better than it obeys, and forgets what is long: it
    hears the last others in a sentence each, and nothing it says is counted."""
    headings = stage.sections[:SMALL_SECTIONS] or ("Answer",)
    heard = _heard(table, stage, speaker, step)
    return Task(
        PromptPlan(
            "custom/small",
            {
                "question": Untrusted("question", table.state.start.topic),
                "name": table.own_name(speaker),
                "perspective": first_sentences(table.view(speaker), 1, 200),
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
    table: CustomTable, reading: Reading, speaker: Participant, step: Step
) -> tuple[Untrusted, ...]:
    shown = seen(table, reading, speaker.id, step)
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
