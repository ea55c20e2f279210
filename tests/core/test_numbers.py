"""`true` is no number: neither a price, nor a limit, nor a count."""

from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import BaseModel, Field, ValidationError

from roundtable.core.numbers import NUMBER, truth_for_number
from roundtable.core.values import Value


class Inner(Value):
    seconds: float | None = None
    on: bool = False


class Outer(Value):
    price: Annotated[float, Field(ge=0)] | None = None
    count: int = 1
    either: bool | int = 0
    inner: Inner = Inner()
    named: dict[str, Inner] = Field(default_factory=dict)
    listed: tuple[Inner, ...] = ()
    by_name: dict[str, Annotated[float, Field(gt=0)]] = Field(default_factory=dict)
    called: int = Field(default=1, alias="isCalled")


@pytest.mark.requirement("Z-35", "Z-39")
@pytest.mark.parametrize(
    ("values", "key"),
    [
        ({"price": True}, "price"),
        ({"price": 1, "count": False}, "count"),
        ({"inner": {"on": True, "seconds": True}}, "inner.seconds"),
        ({"named": {"a": {"seconds": 1}, "b": {"seconds": False}}}, "named.b.seconds"),
        ({"listed": [{"on": True}, {"seconds": True}]}, "listed.1.seconds"),
        ({"by_name": {"a": 2.0, "b": True}}, "by_name.b"),
        ({"isCalled": True}, "isCalled"),
        ({"price": 0.5, "either": True, "inner": {"on": False}, "unknown": True}, ""),
        ({"inner": True, "named": True, "listed": True}, ""),
    ],
)
def test_a_truth_value_in_the_place_of_a_number_is_found_by_its_key(
    values: dict[str, object], key: str
) -> None:
    assert truth_for_number(Outer, values) == key


@pytest.mark.requirement("Z-35", "Z-39")
def test_a_number_may_be_written_as_text_and_not_as_a_truth_value() -> None:
    class Body(BaseModel):
        most: Annotated[float | None, Field(ge=0), NUMBER] = None

    assert Body.model_validate({"most": "0.5"}).most == 0.5
    assert Body.model_validate({"most": None}).most is None
    with pytest.raises(ValidationError, match="a number, not true or false"):
        Body.model_validate({"most": True})
    assert Body.model_json_schema()["properties"]["most"]["anyOf"][0] == {
        "type": "number",
        "minimum": 0,
    }
