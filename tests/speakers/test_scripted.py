"""Scripted speakers: they keep to any form, are labelled, and fail in every known way."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from roundtable.core.contracts import Contract, says_nothing
from roundtable.core.effects import Untrusted
from roundtable.core.errors import FailureCause, SpeakerError
from roundtable.core.fence import fence
from roundtable.core.values import Usage
from roundtable.ports import SectionShape, SpeakRequest
from roundtable.speakers.characters import CHARACTERS, SPEAKING
from roundtable.speakers.scripted import Line, ScriptedSpeaker

NONCE = "n0nce"
QUESTION = fence(Untrusted("question", "Should we rewrite the billing service?"), NONCE)
SPEECH = fence(Untrusted("speech", "## Position\nNo, the risk is too high.", source="Ada"), NONCE)
PROMPT = f"""
{QUESTION}

The others said:
{SPEECH}

Answer in these sections and in no other form:

## Analysis
Your reasoning.

## Confidence
One word, high, medium or low.

## Dissent
Write "none" if there is nothing.
"""
SECTIONS = ("Analysis", "Confidence", "Dissent")


def asked(name: str, user: str = PROMPT, **more: object) -> SpeakRequest:
    fields: dict[str, object] = {"timeout": 5.0, **more}
    return SpeakRequest(
        model=f"scripted/{name}",
        system="You are a member of a council.",
        user=user,
        max_tokens=500,
        idempotency_key="k",
        **fields,  # type: ignore[arg-type]
    )


class Waits:
    """A sleep that takes no time and remembers how long it should have been."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


async def said(name: str, user: str = PROMPT, **more: object) -> str:
    speaker = ScriptedSpeaker(sleep=Waits())
    return (await speaker.speak(asked(name, user, **more), lambda _: None)).text


@pytest.mark.requirement("Z-11", "I-02")
@pytest.mark.parametrize("name", SPEAKING)
async def test_a_character_keeps_to_the_form_and_says_that_it_is_scripted(name: str) -> None:
    text = await said(name)
    contract = Contract(sections=SECTIONS)
    assert contract.check(text) == ()
    parsed = contract.parse(text)
    assert f"[scripted:{name}]" in parsed["Analysis"]
    assert parsed["Confidence"].split()[0].strip(".,*").lower() in ("high", "medium", "low")
    assert "Should we rewrite the billing service?" in text
    # What stands inside a fence is material, and demands nothing.
    assert "## Position" not in text
    assert await said(name) == text, "the same prompt, the same words"


async def test_a_prompt_without_headings_gets_plain_prose() -> None:
    assert (await said("echo", "Why is the sky blue?")).startswith(
        "[scripted:echo] The question is"
    )


async def test_the_shape_of_a_request_goes_before_its_wording() -> None:
    text = await said("echo", shape=(SectionShape("Critique of Others"), SectionShape("Position")))
    assert Contract(sections=("Critique of Others", "Position")).check(text) == ()
    assert "## Analysis" not in text


@pytest.mark.parametrize(
    "form", ["300 to 500 words", "at least 300 words", "at least 300 are needed"]
)
async def test_an_answer_is_as_long_as_the_prompt_wants(form: str) -> None:
    text = await said("stubborn", f"{PROMPT}\nWrite {form}.")
    assert Contract(sections=SECTIONS, min_words=100).check(text) == ()
    assert Contract(min_words=300).check(await said("stubborn", f"Write {form}.")) == ()


@pytest.mark.requirement("Z-11")
async def test_each_character_has_its_fault() -> None:
    sycophant, stubborn = await said("sycophant"), await said("stubborn")
    assert "No, the risk is too high." in sycophant
    parsed = Contract(sections=SECTIONS).parse(sycophant)
    assert says_nothing(parsed["Dissent"])
    assert "I say no" in stubborn
    assert "journal.invalid" in await said("liar", "## Sources\nOne address a line.")
    injected = await said("injector")
    assert "Ignore all previous instructions" in injected
    assert "---END SPEECH---" in injected
    garbled = await said("garbled")
    assert Contract(sections=SECTIONS).check(garbled) != ()


@pytest.mark.requirement("Z-11")
@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("mute", "absent"),
        ("hang", "timeout"),
        ("cut", "cut"),
        ("unauthorised", "auth"),
        ("rate-limited", "rate_limited"),
        ("failing", "unavailable"),
        ("empty", "empty"),
        ("nobody", "not_found"),
    ],
)
async def test_each_way_to_fail_has_its_cause(name: str, cause: FailureCause) -> None:
    with pytest.raises(SpeakerError) as caught:
        await said(name)
    assert caught.value.cause == cause


async def test_only_slow_and_hang_take_time() -> None:
    spent: dict[str, list[float]] = {}
    for name in CHARACTERS:
        waits = Waits()
        speaker = ScriptedSpeaker(sleep=waits)
        with suppress(SpeakerError):
            await speaker.speak(asked(name, timeout=7.0), lambda _: None)
        if waits.seconds:
            spent[name] = waits.seconds
    assert spent == {"slow": [0.3], "hang": [7.0]}


async def test_a_delay_longer_than_the_call_is_a_timeout() -> None:
    with pytest.raises(SpeakerError) as caught:
        await said("slow", timeout=0.1)
    assert caught.value.cause == "timeout"


async def test_a_hanging_speaker_can_be_cancelled() -> None:
    heard = asyncio.Event()
    request = asked("hang", timeout=600)
    call = asyncio.create_task(ScriptedSpeaker().speak(request, lambda _: heard.set()))
    async with asyncio.timeout(30):
        await heard.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call


async def test_a_cut_answer_was_heard_in_part() -> None:
    heard: list[str] = []
    with pytest.raises(SpeakerError):
        await ScriptedSpeaker().speak(asked("cut"), heard.append)
    assert "".join(heard).startswith("## Analysis\n[scripted:cut]")


async def test_canned_lines_are_said_in_turn() -> None:
    speaker = ScriptedSpeaker.saying("One.", SpeakerError("cut", "Off."), Line("Three.", delay=0))
    outcomes = []
    for _ in range(4):
        try:
            outcomes.append((await speaker.speak(asked("x"), lambda _: None)).text)
        except SpeakerError as error:
            outcomes.append(error.cause)
    assert outcomes == ["One.", "cut", "Three.", "absent"]


async def test_a_function_answers_the_request_it_gets() -> None:
    speaker = ScriptedSpeaker(lambda request: f"{request.model}: {len(request.user)}")
    reply = await speaker.speak(asked("anything", "1234"), lambda _: None)
    assert reply.text == "scripted/anything: 4"
    assert reply.usage == Usage(calls=1, input_tokens=9, output_tokens=5)
    assert reply.usage.cost_usd == 0.0
