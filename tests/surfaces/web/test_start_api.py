"""What the form that starts a discussion is told."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from roundtable.speakers.scripted import ScriptedSpeaker
from tests.documents.samples import HTML, OLE, pdf

from .house import House, house

OWN = """
name = "two-views"
summary = "Two people, one question"
[[participants]]
id = "ada"
name = "Ada"
[[participants]]
id = "ben"
name = "Ben"
[[stages]]
name = "opinion"
prompt = "Say what you would do."
"""


class Silent(ScriptedSpeaker):
    """Whoever calls it has failed the test."""

    async def speak(self, *_: Any) -> Any:
        raise AssertionError("nobody may be called")


@asynccontextmanager
async def desk(home: Path) -> AsyncIterator[House]:
    (home / "procedures").mkdir(parents=True)
    (home / "procedures" / "two-views.toml").write_text(OWN)
    (home / "procedures" / "broken.toml").write_text("name =")
    (home / "config.toml").write_text('default_model = "scripted/silent"\n')
    async with house(home, scripts={"silent": Silent()}) as at:
        yield at


async def test_procedures_come_with_what_their_options_mean(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        got = (await at.client.get("/api/procedures", headers=at.owner)).json()
    rows = {row["name"]: row for row in got["procedures"]}
    assert got["default"] == "deliberation"
    assert rows.keys() >= {
        "adaptive", "council", "deliberation", "five-round", "meeting", "two-views", "broken",
    }  # fmt: skip
    options = {option["name"]: option for option in rows["deliberation"]["options"]}
    assert options["seats"] == {
        "name": "seats",
        "about": "Number of seats.",
        "kind": "number",
        "choices": [],
        "minimum": 2,
        "maximum": 7,
        "whole": True,
        "usual": "3",
        "advanced": False,
        "part": "count",
    }
    assert options["experts"]["kind"] == "list"
    assert options["statement"]["kind"] == "flag"
    for row in rows.values():
        assert all(option["about"] for option in row["options"]), row["name"]
    meeting = {option["name"]: option for option in rows["meeting"]["options"]}
    assert meeting["speech_order"]["choices"] == ["fixed", "parallel"]
    assert rows["meeting"]["by_hand"] is True
    assert rows["two-views"]["built_in"] is False
    assert rows["two-views"]["summary"] == "Two people, one question"
    assert "broken.toml" in rows["broken"]["error"]


async def test_models_say_what_is_missing_and_how_to_get_it(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        got = (await at.client.get("/api/models", headers=at.owner)).json()
    assert got["default_model"] == "scripted/silent"
    assert got["found"]
    assert all(row["get"] for row in got["missing"])
    assert {"OPENAI_API_KEY", "ANTHROPIC_API_KEY"} <= {row["variable"] for row in got["missing"]}
    assert "scripted/echo" in got["scripted"]


async def test_scripted_speakers_are_offered_only_where_the_settings_ask_for_them(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as at:
        got = (await at.client.get("/api/models", headers=at.owner)).json()
    assert not got["default_model"].startswith("scripted/")
    assert got["scripted"] == {}


async def test_experts_are_suggested_for_a_topic_each_with_a_reason(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        body = {"topic": "Should we encrypt patient records?", "count": 4}
        got = await at.client.post("/api/suggest", json=body, headers=at.owner)
        experts = got.json()["experts"]
        # Whoever does not fit is not suggested.
        assert 2 <= len(experts) <= 4
        assert all(each["why"] and each["perspective"] for each in experts)
        include = {**body, "include": [experts[-1]["id"]], "count": 2}
        again = await at.client.post("/api/suggest", json=include, headers=at.owner)
        assert experts[-1]["id"] in [each["id"] for each in again.json()["experts"]]

        own = tmp_path / "experts"
        own.mkdir()
        (own / "mine.toml").write_text(
            '[[expert]]\nid = "record-keeper"\nname = "Record Keeper"\ndomain = "health"\n'
            'perspective = "Patient records and their encryption"\nasks = ["Who reads it?"]\n'
            'blind_spot = "Cost"\nguidance = "Be exact."\n'
            '[expert.tags]\nen = ["patient records", "encrypt patient records"]\n'
        )
        later = await at.client.post("/api/suggest", json=body, headers=at.owner)
        assert later.status_code == 200, later.text
        assert "record-keeper" in [each["id"] for each in later.json()["experts"]]


@pytest.mark.requirement("I-05")
async def test_an_estimate_calls_nobody_and_stores_nothing(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        got = await at.client.post("/api/estimate", json={"topic": "Tea?"}, headers=at.owner)
        assert got.status_code == 200, got.text
        estimate = got.json()
        assert await at.service.summaries() == []
    assert estimate["procedure"] == "deliberation"
    assert [seat["models"] for seat in estimate["seats"]] == [["scripted/silent"]] * 4
    assert [seat["host"] for seat in estimate["seats"]] == [False, False, False, True]
    assert estimate["calls"] == 8
    assert 0 < estimate["tokens"][0] < estimate["tokens"][1]
    assert estimate["cost_usd"] == [0, 0]
    assert estimate["seconds"][0] <= estimate["seconds"][1]
    assert estimate["over_budget"] == []
    assert "Estimate" in estimate["line"]


async def test_an_estimate_says_which_limits_would_be_passed(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        body: dict[str, Any] = {"topic": "Tea?", "procedure": "two-views"}
        body["budget"] = {"max_calls": 2, "max_tokens": 10}
        got = (await at.client.post("/api/estimate", json=body, headers=at.owner)).json()
    assert got["procedure"] == "two-views"
    assert [limit.split(":")[0] for limit in got["over_budget"]] == ["calls", "tokens"]
    assert (got["budget"]["max_calls"], got["budget"]["max_cost_usd"]) == (2, None)


async def test_an_estimate_says_where_the_settings_stop_it(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"version": 1, "budget": {"max_cost_usd": 2.0}}')
    async with desk(tmp_path) as at:
        body = {"topic": "Tea?", "procedure": "two-views"}
        got = (await at.client.post("/api/estimate", json=body, headers=at.owner)).json()
    assert got["budget"]["max_cost_usd"] == 2.0


async def test_an_estimate_with_a_seat_for_a_person_knows_no_time(tmp_path: Path) -> None:
    seats = [
        {"profile": "ada", "role": "advocate", "model": "outside"},
        {"profile": "ben", "role": "critic"},
    ]
    body = {"topic": "Tea?", "procedure": "meeting", "options": {"participants": seats}}
    async with desk(tmp_path) as at:
        got = (await at.client.post("/api/estimate", json=body, headers=at.owner)).json()
    assert got["seconds"] is None


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("estimate", {"topic": " "}, 422, "empty"),
        ("estimate", {"topic": "x", "procedure": "debat"}, 404, "Unknown procedure"),
        ("estimate", {"topic": "x", "procedure": "broken"}, 422, "broken.toml"),
        ("estimate", {"topic": "x", "options": {"seats": 99}}, 422, "seats"),
        ("estimate", {"topic": "x", "options": {"models": "nobody/none"}}, 404, "nobody"),
        ("estimate", {"topic": "x", "surprise": 1}, 422, "surprise"),
        ("suggest", {"topic": ""}, 422, "empty"),
        ("suggest", {"topic": "x", "count": 0}, 422, "count"),
        ("suggest", {"topic": "x", "include": ["nobody at all"]}, 404, "nobody at all"),
    ],
)
async def test_mistakes_are_named_with_what_to_do(
    tmp_path: Path, path: str, body: dict[str, Any], status: int, words: str
) -> None:
    async with desk(tmp_path) as at:
        got = await at.client.post(f"/api/{path}", json=body, headers=at.owner)
    assert got.status_code == status, got.text
    assert words in got.json()["error"]
    assert got.json()["remedy"]


async def test_all_of_it_is_the_owners(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        for path in ("procedures", "models"):
            assert (await at.client.get(f"/api/{path}")).status_code == 401
        for path in ("suggest", "estimate"):
            got = await at.client.post(f"/api/{path}", json={"topic": "x"})
            assert got.status_code == 401


@pytest.mark.requirement("Z-34")
async def test_experts_are_found_by_their_name_first_and_by_what_they_know(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        found = await at.client.post(
            "/api/experts", json={"search": "devops", "count": 5}, headers=at.owner
        )
        near = await at.client.post(
            "/api/experts", json={"search": "contracts and liability"}, headers=at.owner
        )
        wrong = [
            (await at.client.post("/api/experts", json=body, headers=at.owner)).status_code
            for body in ({"search": ""}, {"search": "x" * 501}, {"search": "a", "count": 51}, {})
        ]
        blank = await at.client.post("/api/experts", json={"search": "  "}, headers=at.owner)
    names = [each["name"] for each in found.json()["experts"]]
    assert len(names) == 5
    assert "devops" in names[0].casefold()
    assert len({each["id"] for each in found.json()["experts"]}) == 5
    assert len(near.json()["experts"]) == 8
    assert wrong == [422] * 4
    assert blank.status_code == 422


@pytest.mark.requirement("Z-34")
async def test_an_expert_of_ones_own_sits_with_name_and_sentence(tmp_path: Path) -> None:
    own = "Beekeeper: asks what it does to the bees"
    for procedure, option in (("deliberation", "experts"), ("five-round", "agents")):
        async with desk(tmp_path / procedure) as at:
            body = {
                "topic": "Should the town mow its meadows twice a year?",
                "procedure": procedure,
                "options": {option: [own, "Ecologist"]},
            }
            answer = await at.client.post(
                "/api/discussions", json={**body, "run": False}, headers=at.owner
            )
            assert answer.status_code == 201, answer.text
            state = await at.service.read(answer.json()["discussion_id"])
        seat = state.participants[0]
        assert seat.name == "Beekeeper"
        assert seat.perspective.startswith("asks what it does to the bees.")


@pytest.mark.requirement("Z-34")
async def test_likely_secrets_are_refused_with_what_was_found_and_taken_out_on_demand(
    tmp_path: Path,
) -> None:
    secret = "AKIA" + "IOSFODNN7ABCDEFG"
    body = {"topic": f"Should we rotate {secret}?", "options": {"experts": ["Ecologist", "Nurse"]}}
    async with desk(tmp_path) as at:
        refused = await at.client.post("/api/estimate", json=body, headers=at.owner)
        told = {**body, "secrets": "redact", "run": False}
        opened = await at.client.post("/api/discussions", json=told, headers=at.owner)
        state = await at.service.read(opened.json()["discussion_id"])
    assert refused.status_code == 422
    assert refused.json()["code"] == "secrets"
    assert ["question" in each for each in refused.json()["found"]] == [True]
    assert secret not in refused.text
    assert secret not in state.start.topic


async def test_the_form_knows_what_a_request_may_bring(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        got = (await at.client.get("/api/procedures", headers=at.owner)).json()
        limits = got["limits"]
        many = [{"source": f"{n}", "text": "a"} for n in range(limits["documents"] + 1)]
        body = {"topic": "Should we?", "context": many}
        refused = await at.client.post("/api/estimate", json=body, headers=at.owner)
    assert limits == {
        "question": 100_000,
        "document": 2_000_000,
        "documents": 100,
        "request": 2 * 1024 * 1024,
        "upload": 12_000_000,
    }
    assert refused.status_code == 422


def everything(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


async def test_a_document_is_read_and_nothing_of_it_is_kept(tmp_path: Path) -> None:
    pytest.importorskip("pypdf", reason="the extra `documents` is not installed")
    async with desk(tmp_path) as at:
        before = everything(tmp_path)
        sent = {"name": "C:\\\\Users\\\\me/plan.pdf", "data": b64encode(pdf("Costs.", "")).decode()}
        got = await at.client.post("/api/documents", json=sent, headers=at.owner)
        said = got.json()
        assert said.pop("receipt")
        assert said == {
            "source": "plan.pdf",
            "text": "[page 1]\nCosts.",
            "lines": ["has no text on page 2: pictures, or scanned"],
        }
        assert everything(tmp_path) == before
        assert await at.service.summaries() == []


async def test_the_name_of_a_document_has_one_line_and_hides_nothing(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        name = "../../etc/\n\x1b[31mplan\u202e.txt"
        sent = {"name": name, "data": b64encode(b"Costs.").decode()}
        got = await at.client.post("/api/documents", json=sent, headers=at.owner)
        source = got.json()["source"]
        assert source.isprintable()
        assert "plan" in source
        body = {"topic": "Tea?", "procedure": "council", "run": False}
        body["context"] = [{"source": name, "text": "Costs."}]
        opened = await at.client.post("/api/discussions", json=body, headers=at.owner)
        state = await at.service.read(opened.json()["discussion_id"])
        assert state.context[0].source.isprintable()


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b64encode(OLE).decode(), "old.doc is in an old Office format; save it as .docx."),
        ("no base64!", "did not arrive whole"),
        ("", "old.doc is empty"),
    ],
)
async def test_a_document_that_cannot_be_read_is_refused_in_plain_words(
    tmp_path: Path, data: str, told: str
) -> None:
    async with desk(tmp_path) as at:
        sent = {"name": "/etc/old.doc", "data": data}
        got = await at.client.post("/api/documents", json=sent, headers=at.owner)
        assert got.status_code == 422
        assert told in got.json()["error"]
        assert "/etc" not in got.text
        # Where it is said what to do, nothing else is advised.
        assert not ("save it" in got.text and "Give another form" in got.text)
        page = {"name": "page.html", "data": b64encode(HTML).decode()}
        assert (await at.client.post("/api/documents", json=page)).status_code in (401, 403)


async def test_a_discussion_says_what_could_not_be_read_and_nothing_that_a_browser_made_up(
    tmp_path: Path,
) -> None:
    async def receipt(at: House, name: str, **sent: object) -> str:
        got = await at.client.post(
            "/api/documents", json={"name": name, "data": "", **sent}, headers=at.owner
        )
        return str(got.json()["receipt"])

    async with desk(tmp_path) as at:
        old = await receipt(at, "/etc/old.doc", data=b64encode(OLE).decode())
        large = await receipt(at, "film.pdf", size=20_000_000)
        forged = ("!" if old[0] != "!" else "A") + old[1:]
        body = {"topic": "Tea?", "procedure": "council", "receipts": [old, large]}
        more = {"left_out": ["big\u202e.md"], "run": False}
        opened = await at.client.post("/api/discussions", json={**body, **more}, headers=at.owner)
        state = await at.service.read(opened.json()["discussion_id"])
        refused = [
            await at.client.post(
                "/api/estimate", json={**body, "receipts": [each]}, headers=at.owner
            )
            for each in (forged, old[:-4], "é", "", "x" * 40)
        ]
        elsewhere = await at.client.post("/api/estimate", json=body, headers=at.owner)

    assert [each.text for each in state.notes if each.code == "unread_documents"] == [
        "old.doc is in an old Office format; save it as .docx.",
        "film.pdf is too large: more than 12 MB.",
        "big\\u202e.md did not come with the question: it did not fit, or was not sent.",
    ]
    assert {each.json()["error"] for each in refused} == {
        "The receipt of a document is not of this server."
    }
    assert "unread_documents" in {each["code"] for each in elsewhere.json()["notes"]}
