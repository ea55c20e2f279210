"""Prices that somebody wrote down wrong are refused, with the line that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from roundtable.core.errors import BadSetting
from roundtable.models.registry import Registry


@pytest.mark.requirement("Z-35")
@pytest.mark.parametrize("price", ["-1.0", "-0.01", "inf", "nan", "1e9"])
def test_a_price_that_cannot_be_is_refused_and_named(price: str, tmp_path: Path) -> None:
    file = tmp_path / "models.toml"
    file.write_text(f'[models."openai/gpt-5.5"]\nusd_per_million_in = {price}\n')
    with pytest.raises(BadSetting, match="usd_per_million_in"):
        Registry.load(file)
