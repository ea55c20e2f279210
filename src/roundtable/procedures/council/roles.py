"""Who sits in the council, what each must deliver, and what templates point them at."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.contracts import Contract, parse_sections
from ...core.declaration_block import split_blocks
from ..casting_terms import CASTING


@dataclass(frozen=True, slots=True)
class SmallRole:
    """The role scaled to a demonstration model, which completes openings better than it obeys."""

    focus: str
    position_opening: str
    dissent_opening: str


@dataclass(frozen=True, slots=True)
class Role:
    """One specialist of the council."""

    id: str
    name: str
    emoji: str
    perspective: str
    position: str
    """The section of a first answer that states the position."""
    extra: str
    """The section that is this role's own."""
    sub_task: str
    """What the Captain asks for when it could not split the question itself."""
    small: SmallRole

    @property
    def sections(self) -> tuple[str, ...]:
        return (self.position, self.extra, "Confidence", "Dissent")


SCHOLAR = Role(
    "scholar",
    "Scholar",
    "🔍",
    "evidence, verification and sources",
    "Findings",
    "Sources",
    "Gather and verify the facts that bear on the question, and say which of them are uncertain.",
    SmallRole("facts and evidence", "The evidence suggests that", "One known risk is that"),
)
ENGINEER = Role(
    "engineer",
    "Engineer",
    "🧮",
    "step-by-step reasoning, calculation and feasibility",
    "Analysis",
    "Verification",
    "Work the question through step by step, check the numbers and name the flaws in the logic.",
    SmallRole("what works in practice", "In practice,", "The main cost is"),
)
MUSE = Role(
    "muse",
    "Muse",
    "🎨",
    "lateral thinking, the human side and unasked questions",
    "Perspective",
    "Alternative Angles",
    "Find the angles nobody mentioned, challenge the assumptions and say what it means for people.",
    SmallRole("fresh angles", "Another way to see it is that", "The hidden assumption is that"),
)
ROLES = (SCHOLAR, ENGINEER, MUSE)
BY_ID = {role.id: role for role in ROLES}

CAPTAIN_ID = "captain"
CAPTAIN_NAME = "Captain"
CAPTAIN_EMOJI = "🎖️"

CROSS_SECTIONS = (
    "Critique of Others",
    "Contradictions / Tensions",
    "Updated Position",
    "Updated Confidence",
    "What Changed",
)
VERDICT_SECTIONS = (
    "Answer",
    "Confidence",
    "Agreement",
    "Dissent",
    "Changed Minds",
    "Gaps and Risks",
    "Sources",
)


@dataclass(frozen=True, slots=True)
class BriefingContract(Contract):
    """A sub-task for each role. What the Captain asks back stands in a block behind them, and is
    part of none."""

    def parse(self, text: str) -> dict[str, str]:
        return parse_sections(split_blocks(text, CASTING)[0], self.sections)


BRIEFING = BriefingContract(sections=tuple(role.name for role in ROLES))
CROSS = Contract(sections=CROSS_SECTIONS)
VERDICT = Contract(sections=VERDICT_SECTIONS)

TEMPLATES: dict[str, dict[str, str]] = {
    "code-review": {
        "scholar": "Look up the documentation, similar known issues and the best practices.",
        "engineer": "Examine the logic, hunt for bugs, and look for security holes.",
        "muse": "Judge the user experience, the naming and how readable it is for the next person.",
    },
    "investment": {
        "scholar": "Bring market data, recent news and the fundamentals.",
        "engineer": "Do the risk and portfolio mathematics and play through scenarios.",
        "muse": "Read the sentiment, the narrative behind the price, and the contrarian view.",
    },
    "architecture": {
        "scholar": "Find what already exists for this and how it benchmarks.",
        "engineer": "Examine how it scales, how fast it is, and what each choice trades away.",
        "muse": "Judge how easy it is for developers to live with, and where it can be simpler.",
    },
    "research": {
        "scholar": "Search the web and the academic literature in depth.",
        "engineer": "Criticise the methods and check the data.",
        "muse": "Make it accessible, draw out the implications, and name the gaps.",
    },
    "decision": {
        "scholar": "Collect the evidence for and against, and precedents of such decisions.",
        "engineer": "Build a decision matrix and estimate the expected value of each option.",
        "muse": "Weigh the emotional factors and the long-term vision.",
    },
}
"""`--template`: a focus for each role, appended to its duties."""
