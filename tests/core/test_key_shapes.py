"""Keys that do not open the door: whose they are, and why they are refused."""

from __future__ import annotations

import pytest

from roundtable.core.key_shapes import KeyTrouble, key_trouble, of_another_vendor, vendor_of_key


@pytest.mark.parametrize(
    ("key", "label"),
    [
        ("sk-ant-api03-x", "Anthropic"),
        ("sk-or-v1-x", "OpenRouter"),
        ("sk-proj-x", "OpenAI"),
        ("AIzaSyx", "Google"),
        ("xai-x", "xAI"),
        ("gsk_x", "Groq"),
    ],
)
def test_a_vendor_is_known_by_the_beginning_of_its_keys(key: str, label: str) -> None:
    vendor = vendor_of_key(key)
    assert vendor is not None
    assert vendor.label == label
    assert of_another_vendor(key, "deepseek") == vendor
    assert of_another_vendor(key, vendor.provider) is None or not vendor.provider


def test_a_key_that_many_could_have_given_out_is_nobodys() -> None:
    assert vendor_of_key("sk-0123456789") is None
    assert of_another_vendor("sk-0123456789", "deepseek") is None


@pytest.mark.parametrize(
    ("status", "said", "trouble"),
    [
        (401, "Incorrect API key provided", "wrong"),
        (403, "", "wrong"),
        (400, "API key not valid. Please pass a valid API key.", "wrong"),
        (400, "API key expired. Please renew the API key.", "expired"),
        (401, "This token has expired", "expired"),
        (402, "", "no credit"),
        (429, "You exceeded your current quota, please check your plan and billing", "no credit"),
        (400, "Your credit balance is too low to access the API", "no credit"),
        (400, "max_tokens is too large", None),
        (429, "Slow down", None),
        (404, "no such model", None),
        (500, "expired", None),
    ],
)
def test_a_refusal_is_told_by_its_status_and_words(
    status: int, said: str, trouble: KeyTrouble | None
) -> None:
    assert key_trouble(status, said) == trouble
