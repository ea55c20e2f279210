from __future__ import annotations

import json
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from roundtable.core.errors import BadSetting, Forbidden, NewerFile, UnknownName, UsageError
from roundtable.core.text import redact
from roundtable.surfaces.tokens.capability import Act, Capability
from roundtable.surfaces.tokens.store import Tokens, id_of
from roundtable.surfaces.web.links import Refusal, load_links
from tests.surfaces.desk import environment

pytestmark = pytest.mark.requirement("Z-39")
NOW = datetime(2026, 1, 2, tzinfo=UTC)
ONE = "rt_00000001"


class Clock:
    at = NOW

    def __call__(self) -> datetime:
        return self.at


def wanted(*acts: Act, **more: object) -> Capability:
    fields = {"discussions": frozenset({ONE}), **more}
    return Capability(frozenset(acts or ("watch",)), **fields)  # type: ignore[arg-type]


def test_of_a_token_only_the_hash_is_kept_and_for_its_owner_alone(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "home")
    secret, made = tokens.add(wanted(label="laptop"))
    text = (tmp_path / "home" / "tokens.json").read_text("utf-8")
    assert secret not in text
    assert secret.removeprefix("rtk_") not in text
    assert "laptop" in text
    assert tokens.find(secret) == made
    assert secret not in redact(f"it was {secret}")
    if sys.platform != "win32":
        for path in (tmp_path / "home").iterdir():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_another_process_sees_at_once_what_was_given_out_and_ended(tmp_path: Path) -> None:
    one, other = Tokens(tmp_path), Tokens(tmp_path)
    secret, made = one.add(wanted())
    found = other.find(secret)
    assert found == made
    assert other.refusal(made) == ""
    one.end(made.id)
    assert other.find(secret) is None
    assert other.refusal(made) == "was ended by whoever gave it"


def test_many_processes_that_add_lose_nothing(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from roundtable.surfaces.tokens.store import Tokens\n"
        "from roundtable.surfaces.tokens.capability import Capability\n"
        "sys.stdin.read()\n"
        "for _ in range(5): Tokens(Path(sys.argv[1])).add("
        "Capability(frozenset({'open'}), discussions=frozenset()))\n"
    )
    started = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path)],
            stdin=subprocess.PIPE,
            env=environment({}),
        )
        for _ in range(3)
    ]
    for process in started:
        assert process.stdin is not None
        process.stdin.close()
    assert [process.wait(60) for process in started] == [0, 0, 0]
    assert len(Tokens(tmp_path).listed()) == 15


def test_whatever_was_given_out_through_one_ends_with_it(tmp_path: Path) -> None:
    links = load_links(tmp_path)
    _, parent = links.tokens.add(wanted("lead"))
    child, below = links.tokens.add(wanted("watch"), by=parent)
    link = links.token(ONE, by=below)
    assert links.read(link, now=NOW) is not None
    assert links.tokens.end(parent.id) == [parent.id, below.id]
    for secret in (child, link):
        assert links.held(secret, now=NOW) == Refusal("was ended by whoever gave it")


def test_one_ends_what_it_gave_out_and_nothing_of_others(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    _, one = tokens.add(wanted("lead"))
    _, other = tokens.add(wanted("lead"))
    _, below = tokens.add(wanted("watch"), by=one)
    assert [each.capability.id for each in tokens.listed(one)] == [below.id]
    with pytest.raises(UnknownName):
        tokens.end(other.id, by=one)
    assert tokens.end(below.id, by=one) == [below.id]
    assert tokens.end(one.id, by=one) == [one.id], "whoever needs his own no more may say so"


def test_a_link_is_not_ended_by_one_of_many_who_hold_it(tmp_path: Path) -> None:
    links = load_links(tmp_path)
    held = links.find(links.token(ONE))
    assert held is not None
    links.tokens.note_link(held)
    with pytest.raises(UnknownName):
        links.tokens.end(held.id, by=held)


def test_the_next_link_after_one_that_was_ended_is_another(tmp_path: Path) -> None:
    links = load_links(tmp_path)
    first = links.token(ONE, "host")
    links.tokens.end_given(first)
    second = links.token(ONE, "host")
    assert first != second
    assert links.read(first, now=NOW) is None
    assert links.read(second, now=NOW) is not None
    assert load_links(tmp_path).token(ONE, "host") == second


def test_all_ends_every_token_and_every_link_also_those_that_no_list_shows(tmp_path: Path) -> None:
    links = load_links(tmp_path)
    unlisted = links.token(ONE, "host")
    secret, _ = links.tokens.add(wanted())
    links.tokens.end_all()
    assert links.read(unlisted, now=NOW) is None
    assert links.read(secret, now=NOW) is None
    assert links.read(links.token(ONE, "host"), now=NOW) is not None, "new ones can be had"


def test_one_that_has_run_out_says_so_and_is_forgotten_later(tmp_path: Path) -> None:
    clock = Clock()
    tokens = Tokens(tmp_path, clock)
    secret, made = tokens.add(wanted(expires=NOW + timedelta(hours=1)))
    clock.at += timedelta(hours=1)
    assert tokens.refusal(made) == "has run out"
    assert tokens.listed() == []
    assert tokens.find(secret) is not None
    clock.at += timedelta(days=31)
    tokens.add(wanted())
    assert tokens.find(secret) is None


@pytest.mark.parametrize(
    ("capability", "told"),
    [
        (wanted("speak"), "Name it: --seat"),
        (wanted("speak", seat="tea", discussions=None), "--discussion ID"),
        (wanted("lead", seat="tea"), "Leave --may out"),
        (wanted("watch", spend=1.0), "--may open"),
        (wanted("watch", expires=NOW - timedelta(days=10_000)), "later one"),
    ],
)
def test_a_token_that_makes_no_sense_is_refused_with_what_to_do(
    tmp_path: Path, capability: Capability, told: str
) -> None:
    with pytest.raises(UsageError) as refused:
        Tokens(tmp_path).add(capability)
    assert told in refused.value.remedy


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 1, "tokens": [1]}'])
def test_a_broken_list_lets_nobody_in_and_says_so(tmp_path: Path, text: str) -> None:
    (tmp_path / "tokens.json").write_text(text)
    with pytest.raises(BadSetting, match=r"tokens\.json"):
        Tokens(tmp_path).find("rtk_x")


def test_the_list_of_a_newer_program_lets_nobody_in_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    path.write_text('{"version": 2}')
    with pytest.raises(NewerFile, match=r"tokens\.json"):
        Tokens(tmp_path).find("rtk_x")
    with pytest.raises(NewerFile, match=r"tokens\.json"):
        Tokens(tmp_path).add(wanted("watch"))
    assert path.read_text() == '{"version": 2}'


def test_what_two_spend_together_is_bounded(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    _, giver = tokens.add(wanted("open", spend=5.0, discussions=frozenset()))
    _, child = tokens.add(wanted("open", spend=4.0, discussions=frozenset()), by=giver)
    tokens.set_aside(child, "a", 3.0)
    assert tokens.left(giver) == pytest.approx(2.0)
    with pytest.raises(Forbidden, match=r"\$2\.00 are left"):
        tokens.set_aside(giver, "b", 2.5)
    with pytest.raises(Forbidden):
        tokens.set_aside(giver, "b", None)
    tokens.opened(child, "a", ONE)
    tokens.settle({ONE: 0.5})
    assert tokens.left(giver) == pytest.approx(4.5)
    tokens.end(child.id)
    assert tokens.left(giver) == pytest.approx(4.5), "what was spent stays spent"


def test_what_came_to_nothing_is_given_back(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    _, held = tokens.add(wanted("open", spend=5.0, discussions=frozenset()))
    tokens.set_aside(held, "a", 5.0)
    tokens.give_back(held, "a")
    assert tokens.left(held) == pytest.approx(5.0)


def test_the_id_opens_nothing(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    secret, made = tokens.add(wanted())
    assert made.id == id_of(secret)
    for guess in (made.id, f"rtk_{made.id}", secret[:-1], secret + "=", secret.upper()):
        assert tokens.find(guess) is None
    document = json.loads((tmp_path / "tokens.json").read_text("utf-8"))
    assert tokens.find(document["tokens"][0]["hash"]) is None
