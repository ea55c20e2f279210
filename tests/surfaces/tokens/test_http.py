"""Tokens over HTTP: made, listed, ended, and what they cost; feeds end with them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from roundtable.core.errors import Forbidden
from roundtable.surfaces.tokens.capability import Capability
from roundtable.surfaces.tokens.monthly import allow
from roundtable.surfaces.web.limits import Rate
from roundtable.surfaces.web.links import load_links
from tests.surfaces.web.house import PATIENCE, QUICK, Frame, House, client_token, feed, house

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("Z-39")]


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path / "home") as opened:
        yield opened


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


async def opened(home: House, token: str, **more: Any) -> Any:
    body = {"topic": "Tea or coffee?", "procedure": "council", "options": QUICK, **more}
    return await home.client.post("/api/discussions", json=body, headers=bearer(token))


async def test_the_owner_makes_lists_and_ends_tokens_over_http(home: House) -> None:
    state = await home.meeting()
    wish = {"label": "Bob", "seat": "tea", "discussions": [state.discussion_id], "hours": 2}
    made = await home.client.post("/api/tokens", json=wish, headers=home.owner)
    assert made.status_code == 201, made.text
    token, about = made.json()["token"], made.json()["about"]
    assert (about["may"], about["seat"], about["through"]) == (["speak"], "tea", "")
    page = await home.client.get(f"/api/r/{token}")
    assert (page.json()["role"], page.json()["seat"]) == ("seat", "tea")
    said = await home.act(f"/api/r/{token}/speak", text="Tea.")
    assert said.status_code == 200, said.text
    listed = await home.client.get("/api/tokens", headers=home.owner)
    assert listed.json() == {"tokens": [about]}
    assert token not in listed.text
    ended = await home.client.delete(f"/api/tokens/{about['id']}", headers=home.owner)
    assert ended.json() == {"ended": [about["id"]]}
    after = await home.client.get(f"/api/r/{token}")
    assert after.status_code == 404
    assert "was ended" in after.json()["error"]
    unknown = await home.client.delete(f"/api/tokens/{about['id']}", headers=home.owner)
    assert (unknown.status_code, bool(unknown.json()["remedy"])) == (404, True)


async def test_a_host_lists_and_ends_the_single_links_that_he_gave_out(home: House) -> None:
    state = await home.meeting()
    host = home.at(state, "host")
    one, two = [(await home.act(f"{host}/share", hours=n, label=str(n))).json() for n in (1, 2)]
    listed = (await home.client.get(f"{host}/links")).json()["tokens"]
    assert {each["id"]: each["label"] for each in listed} == {one["id"]: "1", two["id"]: "2"}
    ended = await home.client.delete(f"{host}/links/{one['id']}")
    assert ended.json() == {"ended": [one["id"]]}
    assert (await home.client.get(f"/api/r/{one['token']}")).status_code == 404
    assert (await home.client.get(f"/r/{one['token']}")).status_code == 404
    assert (await home.client.get(f"/api/r/{two['token']}")).status_code == 200
    another = home.at(await home.meeting(), "host")
    assert (await home.client.delete(f"{another}/links/{two['id']}")).status_code == 404
    everything = (await home.client.get(f"{host}/links", headers=home.owner)).json()["tokens"]
    assert [each["id"] for each in everything] == [two["id"]]


async def test_the_owner_ends_the_link_that_a_discussion_always_has(home: House) -> None:
    state = await home.meeting()
    old = home.links.token(state.discussion_id)
    held = home.links.find(old)
    assert held is not None
    at = f"/api/tokens/{held.id}"
    assert (await home.client.delete(at, headers=home.owner)).status_code == 404
    query = {"discussion": state.discussion_id}
    ended = await home.client.delete(at, params=query, headers=home.owner)
    assert ended.json() == {"ended": [held.id]}
    assert (await home.client.get(f"/api/r/{old}")).status_code == 404
    shown = (await home.client.get(home.at(state, "host"))).json()["links"]["viewer"]
    assert old not in shown
    assert (await home.client.get(f"/api/r/{shown.rpartition('/')[2]}")).status_code == 200


@pytest.mark.parametrize("how", ["here", "in another process", "by its parent"])
async def test_an_open_feed_ends_with_its_token(home: House, how: str) -> None:
    state = await home.meeting()
    tokens = home.links.tokens
    only = frozenset({state.discussion_id})
    parent, above = tokens.add(Capability(frozenset({"lead"}), discussions=only))
    token, made = tokens.add(Capability(frozenset({"watch"}), discussions=only), by=above)
    begun = asyncio.Event()

    def seen(_: Frame) -> bool:
        begun.set()
        return False

    watching = asyncio.create_task(feed(home.client, f"/api/r/{token}/feed", until=seen))
    await asyncio.wait_for(begun.wait(), PATIENCE)
    match how:
        case "here":
            await home.client.delete(f"/api/tokens/{made.id}", headers=home.owner)
        case "in another process":
            type(tokens)(home.app.settings.home).end(made.id)
        case _:
            tokens.end_given(parent)
    await home.service.speak(state.discussion_id, "tea", "A secret.")
    told = await asyncio.wait_for(watching, PATIENCE)
    assert told[-1].event == "end"
    assert "A secret." not in str([frame.data for frame in told])


async def test_a_client_starts_its_own_and_sees_nothing_else(home: House) -> None:
    other = await home.meeting()
    token = client_token(home.app.settings.home)
    made = await opened(home, token)
    assert made.status_code == 201, made.text
    mine = made.json()["discussion_id"]
    await home.web.running.over(mine)

    async def call(tool: str, **arguments: Any) -> Any:
        return await home.client.post(f"/api/tools/{tool}", json=arguments, headers=bearer(token))

    assert (await call("collect", discussion_id=mine)).json()["done"] is True
    refused = await call("collect", discussion_id=other.discussion_id)
    assert refused.status_code == 403
    assert "other discussions" in refused.json()["error"]
    link = made.json()["url"].rpartition("/")[2]
    assert (await home.client.get(f"/api/r/{link}")).status_code == 200
    home.links.tokens.end_given(token)
    assert (await home.client.get(f"/api/r/{link}")).status_code == 404, "its links end with it"


async def test_a_seat_that_speaks_as_another_is_refused_in_a_clear_line(home: House) -> None:
    state = await home.meeting()
    seat = home.links.token(state.discussion_id, "seat", seat="coffee")
    for name in ("tea", "coordinator"):
        told = await home.client.post(
            "/api/tools/speak",
            json={"discussion_id": state.discussion_id, "participant": name, "content": "x"},
            headers=bearer(seat),
        )
        assert told.status_code == 403
        assert told.json()["error"] == f"This token speaks for 'coffee' only, not for {name!r}."
    assert len(await home.types(state)) == state.seq


async def test_what_a_token_starts_is_capped_at_what_is_left_of_it(home: House) -> None:
    folder = home.app.settings.home
    token = client_token(folder, spend=1.0)
    first = await opened(home, token, budget={"max_cost_usd": 0.75}, run=False)
    assert first.status_code == 201, first.text
    second = await opened(home, token, budget={"max_cost_usd": 50}, run=False)
    state = await home.service.read(second.json()["discussion_id"])
    assert state.start.budget.max_cost_usd == pytest.approx(0.25)
    third = await opened(home, token, run=False)
    assert third.status_code == 403
    assert "used up" in third.json()["error"]
    for made in (first, second):  # scripts cost nothing, and then it is all there again
        await home.service.run(made.json()["discussion_id"])
    again = await opened(home, token, run=False)
    state = await home.service.read(again.json()["discussion_id"])
    assert state.start.budget.max_cost_usd == pytest.approx(1.0)


async def test_what_is_left_is_told_as_soon_as_something_is_over(home: House) -> None:
    token = client_token(home.app.settings.home, spend=1.0)

    async def left() -> float:
        listed = await home.client.get("/api/tokens", headers=home.owner)
        return float(listed.json()["tokens"][0]["left_usd"])

    made = await opened(home, token, run=False)
    assert await left() == 0
    await home.service.run(made.json()["discussion_id"])
    assert await left() == 1


async def test_asking_again_counts_against_what_a_token_may_spend(home: House) -> None:
    token = client_token(home.app.settings.home, spend=1.0)
    first = (await opened(home, token, run=False)).json()
    state = await home.service.run(first["discussion_id"])
    stage = list(state.stages)[-1][0]
    second = (await opened(home, token, run=False)).json()  # all of it is set aside for this one
    again = "/api/r/" + first["url"].rpartition("/")[2] + "/again"
    refused = await home.act(again, stage=stage)
    assert (refused.status_code, "used up" in refused.json()["error"]) == (403, True)
    assert (await home.service.read(first["discussion_id"])).closed is not None
    await home.service.run(second["discussion_id"])
    wrong = await home.act(again, stage="nowhere")
    assert wrong.status_code == 409
    [held] = home.links.tokens.listed()
    assert home.links.tokens.left(held.capability) == 1  # nothing came of it
    granted = await home.act(again, stage=stage)
    assert granted.status_code == 200, granted.text
    assert home.links.tokens.left(held.capability) == 0
    assert (await opened(home, token, run=False)).status_code == 403


async def test_a_token_with_a_limit_asks_nothing_again_that_would_count_for_nobody(
    home: House,
) -> None:
    state = await home.council()
    token = client_token(
        home.app.settings.home,
        "open",
        "lead",
        discussions=frozenset({state.discussion_id}),
        spend=1.0,
    )
    wish = {"label": "kid", "may": ["lead"], "discussions": [state.discussion_id]}
    child = await home.client.post("/api/tokens", json=wish, headers=bearer(token))
    stage = list(state.stages)[-1][0]
    refused = await home.act(f"/api/r/{child.json()['token']}/again", stage=stage)
    assert (refused.status_code, "did not start" in refused.json()["error"]) == (403, True)
    host = f"{home.at(state, 'host')}/again"
    guests = await home.act(host, stage=stage, max_calls=9)
    assert guests.status_code == 403, guests.text
    owners = await home.act(host, stage=stage)
    assert owners.status_code == 200, owners.text


async def test_no_token_raises_a_limit_beyond_the_owners_own(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[budget]\nmax_calls = 3\n")
    async with house(tmp_path) as home:
        token = client_token(tmp_path, spend=1.0)
        first = (await opened(home, token, run=False, budget={"max_calls": 2})).json()
        state = await home.service.run(first["discussion_id"])
        assert state.exhausted is not None
        at = "/api/r/" + first["url"].rpartition("/")[2]
        beyond = await home.act(f"{at}/resume", max_calls=50)
        assert (beyond.status_code, "At most 3 calls" in beyond.text) == (403, True)
        assert (await home.act(f"{at}/resume", max_calls=3)).status_code == 200
        await home.web.running.over(state.discussion_id)
        assert (await home.service.read(state.discussion_id)).budget.max_calls == 3


@pytest.mark.parametrize("monthly", [None, 5.0])
async def test_a_token_that_starts_discussions_sets_limits_through_a_link_as_with_the_tools(
    home: House, monthly: float | None
) -> None:
    token = client_token(home.app.settings.home)
    held = home.links.tokens.find(token)
    assert held is not None
    if monthly is not None:
        await allow(home.app, held.id, monthly)
    first = (await opened(home, token, run=False, budget={"max_calls": 2})).json()
    state = await home.service.run(first["discussion_id"])
    assert state.exhausted is not None
    at = "/api/r/" + first["url"].rpartition("/")[2]
    alone = await home.act(f"{at}/resume", max_calls=50)
    assert alone.status_code == 403, "whoever leads may have the link from somebody else"
    assert "sets none of its limits" in alone.json()["error"]
    assert "Authorization: Bearer TOKEN" in alone.json()["remedy"]
    leads = client_token(home.app.settings.home, "lead")
    body: dict[str, Any] = {"max_calls": 50}
    refused = await home.client.post(f"{at}/resume", json=body, headers=bearer(leads))
    assert refused.status_code == 403
    raised = await home.client.post(f"{at}/resume", json=body, headers=bearer(token))
    assert raised.status_code == 200, raised.text
    await home.web.running.over(state.discussion_id)
    after = await home.service.read(state.discussion_id)
    assert (after.status, after.budget.max_calls) == ("concluded", 50)
    stage = list(after.stages)[-1][0]
    again = {"stage": stage, "max_calls": 60}
    asked = await home.client.post(f"{at}/again", json=again, headers=bearer(token))
    assert asked.status_code == 200, asked.text
    await home.web.running.over(state.discussion_id)


async def test_a_limit_that_what_is_left_lowers_is_told_in_the_answer(home: House) -> None:
    token = client_token(home.app.settings.home, spend=0.03)
    first = (await opened(home, token, run=False, budget={"max_cost": 0.05})).json()
    (note,) = [each for each in first["notes"] if each["code"] == "budget_capped"]
    assert note["text"] == (
        "The limit is $0.03, by what the token may still spend, and not the $0.05 that were asked "
        "for."
    )
    assert "a token that may spend more" in note["remedy"]
    await home.service.run(first["discussion_id"])
    quiet = (await opened(home, token, run=False)).json()
    assert "budget_capped" not in [each["code"] for each in quiet["notes"]]


async def test_what_is_left_is_never_told_as_less_than_nothing(home: House) -> None:
    tokens = home.links.tokens
    held = tokens.find(client_token(home.app.settings.home, spend=0.03))
    assert held is not None
    tokens.set_aside(held, "rt_00000001", 0.03)
    tokens.settle({"rt_00000001": 0.030001})
    (row,) = (await home.client.get("/api/tokens", headers=home.owner)).json()["tokens"]
    assert (row["left_usd"], tokens.left(held)) == (0.0, 0.0)


def test_what_is_left_and_not_enough_is_not_called_used_up(tmp_path: Path) -> None:
    tokens = load_links(tmp_path).tokens
    held = tokens.find(client_token(tmp_path, spend=0.03))
    assert held is not None
    tokens.set_aside(held, "rt_00000001", 0.0276)
    with pytest.raises(Forbidden, match=r"\$0\.0024 are left, and this may cost \$0\.01") as little:
        tokens.set_aside(held, "rt_00000002", 0.01)
    assert "(max_cost)" in little.value.remedy
    tokens.set_aside(held, "rt_00000002", 0.0024)
    with pytest.raises(Forbidden, match="is used up"):
        tokens.set_aside(held, "rt_00000003", 0.01)


async def test_two_that_ask_at_once_do_not_both_get_the_last_of_it(home: House) -> None:
    token = client_token(home.app.settings.home, spend=1.0)
    answers = await asyncio.gather(*(opened(home, token, run=False) for _ in range(4)))
    assert sorted(each.status_code for each in answers) == [201, 403, 403, 403]


async def test_the_same_key_finds_the_same_discussion_of_the_same_client_only(
    home: House,
) -> None:
    folder = home.app.settings.home
    one, two = client_token(folder, spend=1.0), client_token(folder)
    ids = [
        (await opened(home, token, run=False, key="order-66")).json()["discussion_id"]
        for token in (one, one, two, two)
    ]
    assert ids[0] == ids[1]
    assert ids[2] == ids[3]
    assert ids[0] != ids[2]
    owners = await home.client.post(
        "/api/discussions",
        json={"topic": "x?", "options": QUICK, "run": False, "key": "order-66"},
        headers=home.owner,
    )
    assert owners.json()["discussion_id"] not in ids


async def test_news_goes_only_where_a_token_may_send_it(home: House) -> None:
    folder = home.app.settings.home
    news = {"channels": [{"platform": "slack"}]}
    refused = await opened(home, client_token(folder), news=news, run=False)
    assert refused.status_code == 403
    assert "'slack'" in refused.json()["error"]
    token = client_token(folder, channels=frozenset({"slack"}))
    assert (await opened(home, token, news=news, run=False)).status_code == 201


async def test_earlier_verdicts_of_others_are_not_taken_along(home: House) -> None:
    state = await home.council()
    token = client_token(home.app.settings.home)
    answer = await home.client.post(
        "/v1/responses",
        json={
            "model": "roundtable/quick",
            "input": "And now?",
            "previous_response_id": f"resp_{state.discussion_id}",
        },
        headers=bearer(token),
    )
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "previous_response_not_found"


@pytest.mark.parametrize("path", ["/api/estimate", "/api/discussions"])
@pytest.mark.parametrize("everywhere", [False, True])
@pytest.mark.parametrize("how", ["follows", "context_from"])
async def test_nobody_learns_of_others_by_going_on_from_them(
    home: House, path: str, everywhere: bool, how: str
) -> None:
    state = await home.council()
    scope = None if everywhere else frozenset[str]()
    token = client_token(home.app.settings.home, discussions=scope)
    told: set[str] = set()
    for called in (state.discussion_id, state.discussion_id[:6], "rt_zzzz", "last"):
        body = {"topic": "And now?", how: called if how == "follows" else [called]}
        answer = await home.client.post(path, json=body, headers=bearer(token))
        assert answer.status_code == 403, answer.text
        told.add(answer.text.replace(called, "…"))
    assert len(told) == 1, "what is there is told apart from what is not"
    own = {"topic": "And now?", "follows": state.discussion_id[:6]}
    asked = await home.client.post("/api/estimate", json=own, headers=home.owner)
    assert asked.status_code == 200, asked.text


async def test_what_a_token_started_itself_can_be_estimated_to_go_on(home: House) -> None:
    token = client_token(home.app.settings.home)
    first = (await opened(home, token, run=False)).json()["discussion_id"]
    await home.service.run(first)
    body = {"topic": "And now?", "follows": first[:6]}
    asked = await home.client.post("/api/estimate", json=body, headers=bearer(token))
    assert asked.status_code == 200, asked.text


async def test_a_list_that_cannot_be_read_lets_nobody_in_but_the_owner(home: House) -> None:
    token = client_token(home.app.settings.home)
    (home.app.settings.home / "tokens.json").write_text("{")
    answer = await home.client.get("/api/tools", headers=bearer(token))
    assert answer.status_code == 503
    assert "tokens.json" not in answer.text  # it may be anybody who asks
    assert (await home.client.get("/api/discussions", headers=home.owner)).status_code in (200, 422)


async def test_a_token_writes_no_more_often_than_a_link_and_looks_as_often_as_it_likes(
    tmp_path: Path,
) -> None:
    rate = Rate(30, 10, monotonic=lambda: 0.0)
    async with house(tmp_path / "home", rate=rate) as home:
        state = await home.meeting()
        given = {"discussions": frozenset({state.discussion_id})}
        one, other = [client_token(home.app.settings.home, "lead", **given) for _ in range(2)]

        async def put(headers: Mapping[str, str], tool: str = "material", **more: str) -> int:
            body = {"discussion_id": state.discussion_id, **more}
            answer = await home.client.post(f"/api/tools/{tool}", json=body, headers=headers)
            return answer.status_code

        said = {"source": "s", "text": "x"}
        assert [await put(bearer(one), **said) for _ in range(11)] == [200] * 10 + [429]
        # The same token in the address of its page is the same token.
        assert (await home.act(f"/api/r/{one}/pause", reason="")).status_code == 429
        assert [await put(bearer(one), "status") for _ in range(15)] == [200] * 15
        assert await put(bearer(other), **said) == 200
        assert [await put(home.owner, **said) for _ in range(15)] == [200] * 15
