"""Methods of reasoning: for tables, and for single seats, that no expert of the library fits."""

from __future__ import annotations

from ..ports import ChosenExpert

WHY = "a way to reason, since nobody else in the library fits the question"

METHODS = (
    ChosenExpert(
        id="first-principles",
        name="First Principles",
        perspective="what must be true, step by step from what is certain",
        reason=WHY,
        guidance="Derive the answer from what is certain. Name each assumption where you make it.",
    ),
    ChosenExpert(
        id="precedent",
        name="Precedent",
        perspective="what happened in comparable cases, and how often",
        reason=WHY,
        guidance="Reason from comparable cases and base rates. Say where this case differs.",
    ),
    ChosenExpert(
        id="pre-mortem",
        name="Pre-mortem",
        perspective="how the obvious answer fails",
        reason=WHY,
        guidance="Assume that the obvious answer was taken and failed, and work out why. Then say "
        "what you would do.",
    ),
    ChosenExpert(
        id="affected-people",
        name="Affected People",
        perspective="who gains, who loses, and who was not asked",
        reason=WHY,
        guidance="Go through those whom the answer touches, the absent ones too, and weigh what it "
        "does to them.",
    ),
    ChosenExpert(
        id="numbers",
        name="Numbers",
        perspective="orders of magnitude, costs and expected values",
        reason=WHY,
        guidance="Estimate every quantity that matters, with a range, and let the sums decide.",
    ),
    ChosenExpert(
        id="second-order",
        name="Second Order",
        perspective="what follows from what follows",
        reason=WHY,
        guidance="Follow the answer two steps further: who reacts to it, and what that brings.",
    ),
    ChosenExpert(
        id="least-that-works",
        name="Least That Works",
        perspective="the smallest step that would do, and what it would teach",
        reason=WHY,
        guidance="Look for the smallest reversible step that settles the question.",
    ),
)
"""Different ways to reason."""
METHOD_IDS = frozenset(method.id for method in METHODS)
