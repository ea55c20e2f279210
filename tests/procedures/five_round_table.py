"""Five rounds for tests: experts who keep to every requirement, in English and in Chinese."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable

from roundtable.core.declaration_block import LABEL
from roundtable.core.errors import SpeakerError
from roundtable.core.events import Event
from roundtable.core.state import State
from roundtable.ports import SpeakRequest
from tests.declaring import declared
from tests.rehearsal import Table, Voice, run_in_virtual_time

Act = str | SpeakerError | float | None | Callable[[SpeakRequest], str]
AGENTS = ("Engineering Expert", "Product Expert", "Architecture Expert")
IDS = ("engineering-expert", "product-expert", "architecture-expert")
TOPIC = "Smart Customer Service Technical Proposal"
ZH_AGENTS = ("工程专家", "产品专家", "架构专家")
ZH_TOPIC = "智能客服系统技术方案评审"
DEAD = SpeakerError("auth", "The key was refused.", "Check the key.")


def turn_of(request: SpeakRequest) -> str:
    """`1/proposal/product-expert` of the request's key."""
    return request.idempotency_key.split("/", 1)[1].rsplit("/", 1)[0]


def stage_of(request: SpeakRequest) -> tuple[int, str, str]:
    number, stage, who = turn_of(request).split("/")
    return int(number), stage, who


def listed(request: SpeakRequest, marker: str, letter: str) -> list[str]:
    """The identifiers of a list in the prompt."""
    part = request.user.rpartition(f"---{marker} (untrusted)---")[2].partition("---END")[0]
    return re.findall(rf"^({letter}\d+) ", part, re.MULTILINE)


def asked_as(request: SpeakRequest) -> str:
    found = re.search(r"^You are the (.+?)\.", request.user, re.MULTILINE)
    return found[1] if found else "Host"


def others(request: SpeakRequest) -> list[str]:
    found = re.search(r"as markers name them: (.+)\.$", request.user, re.MULTILINE)
    assert found, "the prompt names the others"
    return found[1].split(", ")


class Filler:
    """Words that nobody has used yet, so that no two speeches are alike."""

    def __init__(self, seed: str, *, chinese: bool = False) -> None:
        self.number = zlib.crc32(seed.encode())
        self.seed = "".join(chr(97 + self.number // 26**place % 26) for place in range(3))
        self.chinese = chinese
        self.count = 0

    def words(self, count: int) -> str:
        self.count += count
        if self.chinese:
            step = 2 * (self.number % 4000) + 1
            places = range(self.count, self.count + count * 8 // 5)
            return "".join(chr(0x4E00 + (self.number + n * step) % 9001) for n in places)
        return " ".join(f"{self.seed}{n}" for n in range(self.count, self.count + count))


def proposal(seed: str, *, chinese: bool = False, words: int = 900, metrics: int = 5) -> str:
    fill = Filler(f"a{seed}", chinese=chinese)
    if chinese:
        table = "| 方案 | 成本 |\n|---|---|\n| 自研 | 30 万 |\n| 采购 | 50 万 |"
        rows = [f"- 指标{n}：{n * 10} 毫秒" for n in range(1, metrics + 1)]
    else:
        table = "| Option | Cost |\n|---|---|\n| build | 30 days |\n| buy | 50 days |"
        rows = [f"- metric {n}: {n * 10} ms" for n in range(1, metrics + 1)]
    return (
        f"## Proposal\n{fill.words(words)}\n\n## Comparison\n{table}\n\n## Metrics\n"
        + "\n".join(rows)
    )


def claims(seed: str, *, chinese: bool = False) -> list[str]:
    """The points that a proposal stands on."""
    if chinese:
        return [f"{seed}主张第{n}项必须先做" for n in "一二三"]
    return [f"{seed} claims that step {n} comes first." for n in ("one", "two", "three")]


def mixed(request: SpeakRequest) -> Callable[[str], str]:
    """The first expert disagrees with three claims of the others; the rest is agreed or open."""
    who = stage_of(request)[2]

    def position(point: str) -> str:
        if point in ("p4", "p5", "p7"):
            return "disagree" if who == IDS[0] else "agree"
        return "agree" if point in ("p1", "p2") and who != IDS[2] else "unsure"

    return position


def agreed(_: str) -> str:
    return "agree"


def declaration(
    request: SpeakRequest,
    stance: Callable[[str], str] | None = None,
    *,
    chinese: bool = False,
    **fields: object,
) -> str:
    """What a dutiful expert declares: the first one stands alone, unless all speak Chinese."""
    form = request.form
    if form is None:
        return ""
    who = stage_of(request)[2]
    stance = stance or (agreed if chinese else mixed(request))
    lone = who == IDS[0] and not chinese
    given: dict[str, object] = {
        "choice": "o2" if lone else "o1",
        "position": "Build it." if lone else "Buy it.",
        "new_points": claims(asked_as(request), chinese=chinese)
        if stage_of(request)[1] == "proposal"
        else [],
        "stances": [
            {"id": each.id, "stance": stance(each.id), "text": "It follows."}
            for each in form.listed
            if not each.own
        ],
    }
    if "votes" not in form.keys:
        given.pop("choice")
    return declared(form, request.user, **given | fields)


def with_declaration(request: SpeakRequest, text: str, *, chinese: bool = False) -> str:
    """The text with the declaration that it lacks, or the declaration alone where only that is
    asked for."""
    if request.form is None or f"```{LABEL}" in text:
        return text
    block = declaration(request, chinese=chinese)
    return block if request.form.alone else f"{text}\n\n{block}"


def clerk(*options: str) -> str:
    """The host's list of what can be voted on."""
    texts = ", ".join(f'{{"text": "{each}", "holders": []}}' for each in options)
    listed = f'{{"shared": [], "decisions": [{{"question": "…", "options": [{texts}]}}]}}'
    return f"```decisions\n{listed}\n```"


def cross_reference(request: SpeakRequest, *, chinese: bool = False, words: int = 850) -> str:
    seed = asked_as(request)
    fill = Filler(f"b{seed}", chinese=chinese)
    one, two = others(request)[0], others(request)[-1]
    if chinese:
        cites = f"【@{one} R1：同意】甲。\n【@{two} R1：反对】乙。\n【@{one} R1：部分同意】丙。"
    else:
        cites = f"[@{one} R1: agree] One.\n[@{two} R1: disagree] Two.\n[@{one} R1: partly] Three."
    return f"## Cross-Reference\n{cites}\n{fill.words(words)}\n\n## Blind Spots\n{fill.words(20)}"


def critique(
    request: SpeakRequest,
    *,
    chinese: bool = False,
    words: int = 800,
    risks: int = 5,
    defects: int = 3,
) -> str:
    seed = asked_as(request)
    fill = Filler(f"c{seed}", chinese=chinese)
    names = others(request)

    def item(letter: str, number: int) -> str:
        name = names[number % len(names)]
        if chinese:
            return (
                f"{letter}{number}：【@{name} R1】{fill.words(12)}。依据：因为峰值每秒 {number}00 "
                f"次请求会超过现有容量，{fill.words(12)}。"
            )
        return (
            f"{letter}{number}: [@{name} R1] {fill.words(12)}. Support: at {number}00 requests a "
            f"second the queue grows because {fill.words(12)}."
        )

    body = "\n".join(item("K", n) for n in range(1, risks + 1))
    rest = "\n".join(item("D", n) for n in range(1, defects + 1))
    return f"{fill.words(words - 300)}\n\n## Risks\n{body}\n{fill.words(300)}\n\n## Defects\n{rest}"


def revision(request: SpeakRequest, *, chinese: bool = False, words: int = 1050) -> str:
    seed = asked_as(request)
    fill = Filler(f"d{seed}{stage_of(request)[0]}", chinese=chinese)
    raised = listed(request, "CHALLENGES", "Q")
    if chinese:
        said = "\n".join(f"- {c}：采纳。对{c}理由充分，我们将据此修改方案。" for c in raised)
        table = "| 原方案 | 修订方案 | 理由 |\n|---|---|---|\n| 自研 | 采购 | 更快上线 |"
    else:
        replies = ["reject" if n == 0 else "accept" for n in range(len(raised))]
        said = "\n".join(
            f"- {c}: {reply}. The figures of {c} bear it out, and the plan says so now."
            for c, reply in zip(raised, replies, strict=True)
        )
        table = (
            "| Original | Revised | Reason |\n|---|---|---|\n| build it | buy it | sooner |\n"
            "| one team | two teams | fewer hand-overs |"
        )
    return (
        f"## Answers\n{said or 'none'}\n\n## Revisions\n{table}\n\n## Revised Proposal\n"
        f"{fill.words(words)}"
    )


def arbitration(
    request: SpeakRequest, *, chinese: bool = False, words: int = 1450, weeks: int = 8, top: int = 3
) -> str:
    fill = Filler("host", chinese=chinese)
    open_ = listed(request, "DISPUTES", "X")
    if chinese:
        why = "的数据支持该方案并且风险可控。"
        ruled = "\n".join(f"- {x}：按原方案执行。理由：双方{x}{why}" for x in open_)
        head = "| 周次 | 任务 | 负责人 | 交付物 | 工作量 | 截止 |"
        rows = [
            f"| 第{n}周 | 任务{n} | 张工 | 文档{n} | {n} 人天 | 第{n}周周五 |"
            for n in range(1, weeks + 1)
        ]
        risks = "\n".join(f"T{n}：风险{n}。应急预案：切换到人工。" for n in range(1, top + 1))
    else:
        ruled = "\n".join(
            f"- {x}: It is done as planned. Rationale: the figures of both sides on {x} support it."
            for x in open_
        )
        head = "| Week | Task | Owner | Deliverable | Effort | Due |"
        rows = [
            f"| W{n} | step {n} | Team {n} | paper {n} | {n} days | Friday of W{n} |"
            for n in range(1, weeks + 1)
        ]
        risks = "\n".join(f"T{n}: It slips {n}. Contingency: go manual." for n in range(1, top + 1))
    return (
        f"## Verdict\n{fill.words(words)}\n\n## Rulings\n{ruled or 'none'}\n\n## Plan\n{head}\n"
        f"|---|---|---|---|---|---|\n" + "\n".join(rows) + f"\n\n## Contingency\n{fill.words(60)}"
        f"\n\n## Top Risks\n{risks}"
    )


def compliant(request: SpeakRequest, *, chinese: bool = False) -> str:
    """A speech that keeps to every requirement of its round, and declares what it is asked for."""
    return with_declaration(request, _speech(request, chinese=chinese), chinese=chinese)


def _speech(request: SpeakRequest, *, chinese: bool) -> str:
    if request.form is not None and request.form.alone:
        return ""
    match stage_of(request)[1]:
        case "proposal":
            return proposal(asked_as(request), chinese=chinese)
        case "cross-reference":
            return cross_reference(request, chinese=chinese)
        case "critique":
            return critique(request, chinese=chinese)
        case "revision":
            return revision(request, chinese=chinese)
        case "arbitration":
            return arbitration(request, chinese=chinese)
        case "clerk":
            return clerk("Buy it.", "Build it.")
        case other:
            raise AssertionError(other)


def acting(turns: dict[str, Act], *, chinese: bool = False) -> Voice:
    """A voice that acts so in the turns whose ids contain the key, and complies in all others."""

    def script(request: SpeakRequest) -> str | SpeakerError | float | None:
        for part, act in turns.items():
            if part in turn_of(request):
                if isinstance(act, float):
                    return act
                said = act(request) if callable(act) else act
                if not isinstance(said, str) or not said.strip():
                    return said
                return with_declaration(request, said, chinese=chinese)
        return compliant(request, chinese=chinese)

    return Voice(script)


def five_rounds(
    turns: dict[str, Act] | None = None, *, chinese: bool = False, **table: object
) -> Table:
    return Table({"*": acting(turns or {}, chinese=chinese)}, **table)  # type: ignore[arg-type]


def hold(table: Table, topic: str = TOPIC, *, agents: object = AGENTS, **options: object) -> State:
    """Hold a whole discussion and return how it ended."""
    request = {
        name: options.pop(name) for name in ("budget", "context", "language") if name in options
    }
    if agents is not None:
        options["agents"] = agents
    return run_in_virtual_time(table.ask(topic, procedure="five-round", options=options, **request))


def asked(table: Table) -> list[str]:
    """The turns for which a call was made, in order."""
    return [turn_of(request) for request in table.requests]


def prompt_of(table: Table, turn: str) -> SpeakRequest:
    (found,) = [request for request in table.requests if turn_of(request) == turn]
    return found


def codes(state: State) -> list[str]:
    return [note.code for note in state.notes]


def events(table: Table, state: State) -> list[Event]:
    return [record.event for record in run_in_virtual_time(table.records(state))]
