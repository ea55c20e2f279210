"""Experts and an embedder for tests that need to know every number."""

from __future__ import annotations

from collections.abc import Sequence

from roundtable.experts.expert import Expert


def an_expert(expert_id: str, domain: str = "law", **more: object) -> Expert:
    return Expert.model_validate(
        {
            "id": expert_id,
            "name": expert_id.replace("-", " ").title(),
            "domain": domain,
            "perspective": "Sees it so.",
            "asks": ["Why?"],
            "blind_spot": "The rest.",
            "guidance": "Be brief.",
            "tags": {"en": [expert_id]},
            **more,
        }
    )


class LetterEmbedder:
    """Twenty-six numbers: how often each letter occurs."""

    name = "letters-1"

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked.append(list(texts))
        letters = "abcdefghijklmnopqrstuvwxyz"
        return [[float(text.casefold().count(each)) for each in letters] for text in texts]
