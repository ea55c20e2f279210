"""The form that starts a discussion is made from the declarations of the options: what is chosen in
it comes to the service under the names that each procedure gave."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from .conftest import Open
from .stage import Stage

MODEL = "scripted/echo"


@pytest.mark.requirement("I-28")
@pytest.mark.parametrize(
    ("procedure", "label", "typed", "name", "sent", "model"),
    [
        ("Deliberation", "Choices", "tea, coffee", "choices", "tea, coffee", {}),
        ("Five-round", "Depth", "pre-ac", "depth", "pre-ac", {"model": MODEL}),
        ("Meeting", "Max rounds", "2", "max_rounds", 2, {"model": MODEL}),
        ("Council", "Template", "decision", "template", "decision", {"engineer": MODEL}),
        ("Adaptive", "Choices", "tea, coffee", "choices", "tea, coffee", {"panel": [MODEL]}),
    ],
)
def test_what_is_chosen_in_the_form_is_asked_for_by_its_name(
    stage: Stage,
    window: Open,
    procedure: str,
    label: str,
    typed: str,
    name: str,
    sent: object,
    model: dict[str, Any],
) -> None:
    guest = window()
    page = guest.open(stage.home)
    page.get_by_role("button", name="New discussion").or_(
        page.get_by_role("button", name="Start the first discussion")
    ).first.click()
    page.get_by_role("textbox", name="The question").fill("Should we drink tea or coffee?")
    page.get_by_role("radio", name=procedure).check()
    page.get_by_label("One model for all experts").fill(MODEL)
    seated = page.get_by_role("checkbox", name="I hold a seat")
    if procedure != "Adaptive":
        seated.check()
    else:
        expect(seated).to_have_count(0)
    expect(page.locator(".estimate")).to_contain_text("calls")
    page.get_by_text("Budget, material, more options").click()
    field = page.get_by_label(label).first

    def asks(request: Any) -> bool:
        if not request.url.endswith("/api/estimate"):
            return False
        return name in json.loads(request.post_data)["options"]

    with page.expect_response(lambda answer: asks(answer.request)) as estimated:
        if field.evaluate("each => each.tagName") == "SELECT":
            field.select_option(typed)
        else:
            field.fill(typed)
    assert estimated.value.status == 200, estimated.value.text()
    options = json.loads(estimated.value.request.post_data or "")["options"]
    assert options[name] == sent
    assert options.items() >= model.items()
    mine: dict[str, Callable[[], bool]] = {
        "Deliberation": lambda: options["models"][-1] == "outside" and "You" in options["experts"],
        "Five-round": lambda: options["models"] == {"You": "outside"},
        "Meeting": lambda: options["join"] == "You" and len(options["participants"]) > 1,
        "Council": lambda: options["scholar"] == "outside",
        "Adaptive": lambda: "outside" not in str(options),
    }
    assert mine[procedure](), options
    assert guest.violations == []
