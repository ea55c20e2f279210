"""Intent: what a topic asks for, read without a model, and whether five rounds fit it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from ...core.events import NoteAdded
from ...core.text import count_words

Fit = Literal[
    "proposal review",
    "kick-off or MVP scoping",
    "multi-factor decision",
    "cross-team alignment",
    "simple question",
    "urgent matter",
    "code generation",
    "fact lookup",
    "open question",
]
UNFIT: tuple[Fit, ...] = ("simple question", "urgent matter", "code generation", "fact lookup")
SHORT = 10
_CJK = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[^\W\d_]{4,}")
_CJK_RUN = re.compile(r"[\u3400-\u9fff]{2,6}")
_COMMON = re.compile(
    r"about|after|also|because|been|before|between|does|during|each|every|from|have|into|more|most"
    r"|must|only|other|over|should|some|such|than|that|their|them|then|there|these|they|this|those"
    r"|through|under|very|what|when|where|which|while|will|with|within|would|your"
)
_PATTERNS: tuple[tuple[Fit, str], ...] = (
    ("urgent matter", r"\b(?:urgent|asap|right now|immediately|emergency|outage)\b|紧急|马上|立刻"),
    (
        "code generation",
        r"\b(?:write|generate|implement)\b.{0,40}\b(?:code|function|script|class|regex|query|sql)\b"
        r"|写(?:一个|段)?.{0,10}(?:代码|函数|脚本)",
    ),
    (
        "proposal review",
        r"\b(?:proposal|review|design doc|rfc|assess|evaluate)\b|方案|评审|评估",
    ),
    (
        "kick-off or MVP scoping",
        r"\b(?:kick-?off|mvp|roadmap|scope|launch|project plan)\b|立项|路线图|启动|规划",
    ),
    (
        "cross-team alignment",
        r"\b(?:align(?:ment)?|cross-team|stakeholders?|hand-?over)\b|跨团队|对齐|协作",
    ),
    (
        "multi-factor decision",
        r"\b(?:should|versus|vs|trade-?offs?|choose|decide|decision|or|better|strategy|migrate"
        r"|adopt)\b|是否|应该|选择|还是|决策",
    ),
    (
        "fact lookup",
        r"^\s*(?:what(?:'|’)?s|what is|who (?:is|was)|when (?:is|was|did)|where is|how (?:old|tall"
        r"|far|many)|define|translate)\b|^.{0,12}(?:是什么|是谁|多少|什么时候)",
    ),
)
_SIGNS = tuple((fit, re.compile(pattern, re.IGNORECASE)) for fit, pattern in _PATTERNS)


@dataclass(frozen=True, slots=True)
class Intent:
    """What can be said of a topic before anybody speaks."""

    language: Literal["zh", "other"]
    fit: Fit
    terms: tuple[str, ...]

    @property
    def fits(self) -> bool:
        return self.fit not in UNFIT


def read_intent(topic: str) -> Intent:
    """The kind of question, its language, and the words that carry it."""
    chinese = len(_CJK.findall(topic)) * 3 > len(topic)
    return Intent("zh" if chinese else "other", _fit(topic), _terms(topic, chinese=chinese))


def _fit(topic: str) -> Fit:
    found = next((fit for fit, sign in _SIGNS if sign.search(topic)), None)
    if found == "fact lookup" and count_words(topic) > 3 * SHORT:
        return "open question"  # it begins like a question for a fact, and goes on to more
    if found is not None:
        return found
    return "simple question" if count_words(topic) <= SHORT else "open question"


def _terms(topic: str, *, chinese: bool) -> tuple[str, ...]:
    if chinese:
        return tuple(dict.fromkeys(_CJK_RUN.findall(topic)))[:8]
    words = [word.casefold() for word in _WORD.findall(topic)]
    counted = Counter(word for word in words if not _COMMON.fullmatch(word))
    return tuple(word for word, _ in counted.most_common(8))


def fit_note(intent: Intent) -> NoteAdded | None:
    """Advice for topics that five rounds are not made for. The run goes on all the same."""
    if intent.fits:
        return None
    return NoteAdded(
        code="fit",
        text=f"This looks like a case for a single answer ({intent.fit}). Five rounds take 15 to "
        "20 minutes and are made for proposal reviews, kick-offs and MVP scoping, decisions with "
        "many factors and cross-team alignment. Continuing anyway.",
        remedy="For a quick answer: --procedure council --quick.",
    )
