"""Decisions in every state that a first screen can be in, told by their events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from roundtable.core.declaration import Condition, Decision, Option
from roundtable.core.events import (
    DecisionsTabled,
    DiscussionClosed,
    Event,
    SpeechGiven,
    TurnFailed,
    VerdictReached,
)
from roundtable.core.values import (
    ActionItem,
    Finding,
    Participant,
    SpeakerRef,
    Verdict,
)
from tests.core.declared_table import by, says, vote
from tests.views.tables import opened, seat

FULL_STACK, DEVOPS, SUCCESS = "Full-Stack Engineer", "DevOps Engineer", "Customer Success Manager"
SEATS = (FULL_STACK, DEVOPS, SUCCESS)
QUESTION = "Should we extract services, or first invest in CI and deployment?"
LONG = (
    "We are a B2B SaaS company with 40 engineers and a 6-year-old Rails monolith. Two of five "
    "teams complain that they cannot ship independently: deploys are queued and a full CI run "
    f"takes 50 minutes. {QUESTION} We can spend at most two quarters."
)
CI = Option(id="o1", text="Invest in CI and deployment first.")
SERVICES = Option(id="o2", text="Extract services now.")
NOW = Option(id="o3", text="Commit to boundaries now.")
LATER = Option(id="o4", text="Measure first, decide in week 12.")
ALLOWED = Option(id="o5", text="Open source licences only.")
ANY_LICENCE = Option(id="o6", text="Any licence.")
QUOTED = "If you cannot deploy one thing well, you will not deploy six well."
THREE = "A 50-minute run and a queue are bottlenecks that can be measured and cut in a quarter."


def _id(name: str) -> str:
    return "-".join(name.lower().split())


def _tabled(*more: Decision, options: tuple[Option, ...] = (CI, SERVICES)) -> DecisionsTabled:
    first = Decision(id="d1", question=QUESTION, options=options)
    return DecisionsTabled(decisions=(first, *more))


def _said(name: str, choice: str | None, round_: int = 1, **fields: Any) -> SpeechGiven:
    who = _id(name)
    words = f"{THREE} {QUOTED} I, the {name}, say so in round {round_}."
    held = {"o1": "CI and deployment first.", "o2": "Services now."}.get(choice or "", "")
    chosen = {"position": held, "confidence": 80, "text": words, **fields}
    return says(who, choice, round_, model=f"m/{who}", **chosen)


def _verdict(**fields: Any) -> Verdict:
    told: dict[str, Any] = {
        "answer": f"Invest in CI first. “{QUOTED}” [1/answer/devops-engineer]",
        "brief": "Invest in CI and deployment first; extract no services in these two quarters. In "
        "quarter two, modularise only where measurements show that teams still block each other.",
        "delivers": "o1",
        "why": (
            f"Services would multiply the weak part. “{QUOTED}” [1/answer/devops-engineer]",
            f"It can be measured. “{THREE}” [1/answer/full-stack-engineer]",
        ),
        "would_change": (
            "If more than one in five deploys fails, then rollback comes before speed.",
            "Teams wait because they fear breaking things [1/answer/customer-success-manager].",
        ),
        "next_steps": (
            ActionItem(text="Time every stage from merge to live.", owner="Ops", due="Week 1"),
            ActionItem(text="Ask the silent teams why they do not complain."),
        ),
        "author": "m/host",
    }
    return Verdict(**{**told, **fields})


def _closed(verdict: Verdict | None = None) -> list[Event]:
    return [
        VerdictReached(verdict=verdict or _verdict()),
        DiscussionClosed(status="concluded", stop_reason="verdict"),
    ]


def _seats(names: tuple[str, ...], **speaker: Any) -> list[Participant]:
    found = []
    for name in names:
        ref = SpeakerRef(model=f"m/{_id(name)}", **speaker)
        found.append(seat(name).model_copy(update={"speakers": (ref,), "role": name}))
    return found


def _table(
    *events: Event,
    names: tuple[str, ...] = SEATS,
    topic: str = QUESTION,
    **speaker: Any,
) -> list[Event]:
    return [opened(_seats(names, **speaker), topic), *events]


def _twice(
    first: Mapping[str, str], last: Mapping[str, str], **fields: Mapping[str, Any]
) -> list[Event]:
    """Two rounds: what everybody chose in each, and what some declare beside it in the second."""
    found: list[Event] = [_said(name, choice) for name, choice in first.items()]
    for name, choice in last.items():
        more = fields.get(_id(name).replace("-", "_"), {})
        moved = vote(choice, first[name])
        held = {"o1": "CI and deployment first.", "o2": "Services now."}[choice]
        found.append(_said(name, None, 2, votes=(moved,), **{"position": held, **more}))
    return found


def decided() -> list[Event]:
    """All for the answer in the end, one of them moved by an argument, and on a detail 2 : 1, with
    a third thing that was voted on."""
    detail = Decision(id="d2", question="What is quarter two for?", options=(LATER, NOW))
    licences = Decision(id="d3", question="Which licences?", options=(ALLOWED, ANY_LICENCE))
    condition = Condition(text="Three people at most.", kind="demand", otherwise="oppose")
    events: list[Event] = [_tabled(detail, licences)]
    firsts = {FULL_STACK: ("o1", "o4"), DEVOPS: ("o1", "o3"), SUCCESS: ("o2", "o3")}
    lasts = {FULL_STACK: ("o1", "o4"), DEVOPS: ("o1", "o3"), SUCCESS: ("o1", "o4")}
    for round_, held in ((1, firsts), (2, lasts)):
        for name, (choice, on_detail) in held.items():
            before = firsts[name] if round_ == 2 else ("silent", "silent")
            more: dict[str, Any] = {}
            if round_ == 2 and name == SUCCESS:
                more["adopted"] = by("devops-engineer", QUOTED)
                more["conditions"] = (condition,)
            if round_ == 2 and name == DEVOPS:
                more["for_the_record"] = "Selective testing is needed anyway."
            words = {"o1": "CI and deployment first.", "o2": "Services now."}[choice]
            votes = (
                vote(choice, before[0]),
                vote(on_detail, before[1], on="d2"),
                vote("o5", on="d3"),
            )
            events.append(_said(name, None, round_, votes=votes, position=words, **more))
    return _table(*events, *_closed(), topic=LONG)


def disputed() -> list[Event]:
    """2 : 1, nobody moves."""
    held = {FULL_STACK: "o1", DEVOPS: "o1", SUCCESS: "o2"}
    return _table(_tabled(), *_twice(held, held), *_closed())


def split() -> list[Event]:
    return split_with("")


def split_with(brief: str) -> list[Event]:
    """2 : 2, and what the writer says to it in short."""
    names = (*SEATS, "Software Architect")
    held = {FULL_STACK: "o1", DEVOPS: "o1", SUCCESS: "o2", "Software Architect": "o2"}
    verdict = _verdict(answer="There is no answer.", brief=brief, delivers="none", why=())
    return _table(_tabled(), *_twice(held, held), *_closed(verdict), names=names)


def hollow() -> list[Event]:
    said = [_said(name, "any", position="It depends.") for name in SEATS]
    verdict = _verdict(answer="It depends.", brief="", delivers="none", why=())
    return _table(_tabled(), *said, *_closed(verdict))


def gave_in() -> list[Event]:
    first = {FULL_STACK: "o1", DEVOPS: "o1", SUCCESS: "o2"}
    return _table(_tabled(), *_twice(first, dict.fromkeys(SEATS, "o1")), *_closed())


def absent() -> list[Event]:
    lost = TurnFailed(
        turn_id="1/answer/customer-success-manager",
        stage="answer",
        round=1,
        participant="customer-success-manager",
        cause="timeout",
        message="No answer in 90 s.",
        remedy="Ask again.",
    )
    said = [_said(name, "o1") for name in (FULL_STACK, DEVOPS)]
    return _table(_tabled(), *said, lost, *_closed())


def demonstration() -> list[Event]:
    said = [_said(name, "o1") for name in SEATS]
    return _table(_tabled(), *said, *_closed(_verdict(meaningful=False)), demonstration=True)


def failed() -> list[Event]:
    return _table(
        _said(FULL_STACK, None),
        DiscussionClosed(
            status="failed",
            stop_reason="too_few_answers",
            detail="The provider refused the key after round 1.",
            remedy="Check the key, then ask again.",
        ),
    )


def stopped() -> list[Event]:
    return _table(
        _said(FULL_STACK, None),
        DiscussionClosed(status="stopped", stop_reason="stopped_by_user"),
    )


def going_on() -> list[Event]:
    """Nobody drives it: it is interrupted."""
    return _table(_said(FULL_STACK, None), _said(DEVOPS, None))


def twelve() -> list[Event]:
    names = tuple(
        f"{name} Expert"
        for name in ["Ada", "Ben", "Cem", "Dan", "Eva", "Fay", "Gus", "Hal", "Ida", "Jim", "Kim"]
    )
    names = (*names, "Katarzyna Wiśniewska-Kowalska")
    held = {name: "o1" if n < 8 else "o2" for n, name in enumerate(names)}
    return _table(_tabled(), *_twice(held, held), *_closed(), names=names)


def values() -> list[Event]:
    held = {FULL_STACK: "Growth first.", DEVOPS: "Independence.", SUCCESS: "Neither as such."}
    said = [_said(name, None, position=words) for name, words in held.items()]
    words = "This is yours to decide. It turns on what you value."
    verdict = _verdict(answer=words, brief=words, delivers="", why=())
    return _table(*said, *_closed(verdict), topic="Is growth or independence worth more to us?")


def contradicting() -> list[Event]:
    finding = Finding(code="contradiction", message="The answer delivers another option.")
    held = dict.fromkeys(SEATS, "o1")
    verdict = _verdict(delivers="o2", answer="Extract services now.", findings=(finding,))
    return _table(_tabled(), *_twice(held, held), *_closed(verdict))


def arabic() -> list[Event]:
    names = ("سارة", "خالد", "ليلى")
    yes, no = Option(id="o1", text="نعم"), Option(id="o2", text="لا")
    first = Decision(id="d1", question="هل نفتح يوم الأحد؟", options=(yes, no))
    said: list[Event] = []
    for name, choice in zip(names, ("o1", "o1", "o2"), strict=True):
        words = "المقهى مغلق يوم الأحد منذ سنوات، والشارع مليء بالناس. لا أحد يعرف كلفة ذلك."
        held = "نعم، لثمانية أسابيع." if choice == "o1" else "لا، فريقنا صغير."
        said.append(says(name, choice, model=f"m/{name}", text=words, position=held, confidence=70))
    words = "نعم، تجربةً لمدة ثمانية أسابيع. ثم نقرر من جديد."
    why = ("الشارع مليء بالناس يوم الأحد. [1/answer/سارة]",)
    verdict = Verdict(answer=words, brief=words, delivers="o1", why=why, author="m/host")
    table = DecisionsTabled(decisions=(first,))
    return _table(table, *said, *_closed(verdict), names=names, topic="هل نفتح يوم الأحد؟")


STATES: dict[str, Callable[[], list[Event]]] = {
    "decided": decided,
    "disputed": disputed,
    "split": split,
    "hollow": hollow,
    "gave in": gave_in,
    "absent": absent,
    "demonstration": demonstration,
    "failed": failed,
    "stopped": stopped,
    "interrupted": going_on,
    "twelve seats": twelve,
    "values": values,
    "contradicting": contradicting,
    "arabic": arabic,
}
