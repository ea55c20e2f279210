"""An expert of one's own: a name, or a name and a sentence."""

from __future__ import annotations

import pytest

from roundtable.core.errors import UsageError
from roundtable.experts.chosen import named_expert


@pytest.mark.parametrize(
    ("named", "name", "described"),
    [
        ("Beekeeper: asks what it does to the bees", "Beekeeper", True),
        ("ISO 27001:2022 auditor: asks for evidence", "ISO 27001:2022 auditor", True),
        ("ISO 27001:2022 auditor", "ISO 27001:2022 auditor", False),
        ("Judge: asks one thing: who pays", "Judge", True),
        ("Beekeeper:", "Beekeeper", False),
        ("养蜂人：", "养蜂人", False),
    ],
)
def test_the_first_colon_with_a_blank_ends_the_name(named: str, name: str, described: bool) -> None:
    found = named_expert(named)
    assert found.name == name
    assert (found.reason == "described by whoever asks") is described


@pytest.mark.parametrize("named", [":", " : ", ""])
def test_a_colon_alone_names_nobody(named: str) -> None:
    with pytest.raises(UsageError, match="names no expert"):
        named_expert(named)


@pytest.mark.parametrize("named", ["<b>Bee</b>: buzzes", "**Chief**", "[x](http://y)", "`run`"])
def test_a_name_with_markup_is_refused_and_says_what_to_do(named: str) -> None:
    with pytest.raises(UsageError, match="holds markup") as refused:
        named_expert(named)
    assert refused.value.remedy.startswith("Write the name without")
