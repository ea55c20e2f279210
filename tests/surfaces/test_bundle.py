"""A discussion as a file: what is in it, and that nothing in it can change unseen."""

from __future__ import annotations

import hashlib
import json
import sys
import zipfile
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roundtable.bundle import BundleBroken, Checked, check_bundle, make_bundle
from roundtable.bundle.signing import BundleKey
from roundtable.core.chain import BEGINNING, chained, read_chain
from roundtable.core.events import LimitsRaised, SpeechGiven, StoredEvent, VerdictReached
from roundtable.core.limits import Limits
from roundtable.core.standing import standing_of
from roundtable.core.values import Budget, Material
from roundtable.ports import SpeakRequest
from tests.procedures.deliberation_table import hold
from tests.procedures.deliberation_table import table as deliberation_table
from tests.rehearsal import Billed, Table, Voice, dutiful, run_in_virtual_time

from .desk import ECHO, Desk

KEY = bytes(range(32))


@cache
def council() -> tuple[StoredEvent, ...]:
    """The events of a council of scripted voices."""

    async def hold() -> tuple[StoredEvent, ...]:
        table = Table()
        state = await table.ask("Tea or coffee?", procedure="council")
        return tuple(await table.records(state))

    return run_in_virtual_time(hold())


@cache
def bundle() -> bytes:
    return make_bundle(council(), BundleKey(KEY))


def bodies(data: bytes) -> list[dict[str, Any]]:
    return [link.body for link in read_chain(data)]


def remade(lines: list[dict[str, Any]]) -> bytes:
    """What a forger makes who knows how bundles are made: a chain that is whole."""
    return b"".join(line for _, line in chained(lines))


def wrong(checked: Checked) -> dict[str, str]:
    return {finding.check: finding.text for finding in checked.findings if finding.level == "wrong"}


def unverified(checked: Checked) -> dict[str, str]:
    return {each.check: each.text for each in checked.findings if each.level == "unverified"}


def good(checked: Checked) -> set[str]:
    return {finding.check for finding in checked.findings if finding.level == "good"}


@pytest.mark.requirement("Z-13")
def test_a_bundle_holds_everything_and_is_found_sound() -> None:
    checked = check_bundle(bundle(), known={BundleKey(KEY).public_key: "Ada"})

    assert checked.sound
    assert checked.topic == "Tea or coffee?"
    assert good(checked) >= {"chain", "events", "decisions", "citations", "quotations", "signature"}
    first, *events, tally, end, signature = bodies(bundle())
    assert first["kind"] == "bundle"
    assert first["program_version"] == council()[0].event.program_version  # type: ignore[union-attr]
    assert [each["event"]["type"] for each in events] == [r.event.type for r in council()]
    assert any(each["event"].get("prompt", {}).get("user") for each in events)
    assert (tally["kind"], end) == ("tally", {"kind": "end", "events": len(events)})
    assert signature["public_key"] == checked.signed_by == BundleKey(KEY).public_key


@pytest.mark.requirement("Z-13")
def test_the_votes_are_read_and_counted_anew() -> None:
    table = deliberation_table()
    state = hold(table)
    records = run_in_virtual_time(table.ledger.read(state.discussion_id))
    data = make_bundle(records)

    checked = check_bundle(data)

    assert {"decisions", "declarations", "tally", "citations"} <= good(checked), checked.findings
    tally = next(each for each in bodies(data) if each["kind"] == "tally")
    [decision] = tally["rounds"]
    question = standing_of(state).question
    assert question is not None
    assert decision["voters"] == sorted(seat.participant for seat in question.seats)
    assert (decision["end"], decision["delivered"]) == (question.end, question.delivered)
    assert decision["counts"] == question.counts


@pytest.mark.requirement("Z-13")
def test_a_forged_vote_is_found_in_what_its_seat_answered() -> None:
    table = deliberation_table()
    records = run_in_virtual_time(table.ledger.read(hold(table).discussion_id))
    lines = bodies(make_bundle(records))
    forged = next(
        each["event"]
        for each in lines
        if each.get("event", {}).get("type") == "SpeechGiven"
        and each["event"]["participant"] != "host"
        and (each["event"]["declaration"] or {}).get("votes")
    )
    vote = forged["declaration"]["votes"][0]
    vote["choice"] = "o2" if vote["choice"] == "o1" else "o1"

    checked = check_bundle(remade(lines))

    assert not checked.sound
    assert forged["turn_id"] in wrong(checked)["declarations"]


@cache
def deliberation() -> bytes:
    """A deliberation with material, as a bundle."""
    table = deliberation_table()
    return make_bundle(run_in_virtual_time(table.ledger.read(hold(table).discussion_id)))


def _speech(lines: list[dict[str, Any]], stage: str) -> dict[str, Any]:
    events = [each["event"] for each in lines if each["kind"] == "event"]
    return next(e for e in events if e["type"] == "SpeechGiven" and e["stage"] == stage)


@pytest.mark.requirement("Z-13", "Z-39")
@pytest.mark.parametrize(
    ("stage", "change", "check"),
    [
        ("answer", {"text": "I was bribed to say no."}, "speeches"),
        ("answer", {"sections": {"Answer": "No."}}, "speeches"),
        ("answer", {"model": "another/model"}, "speeches"),
        ("answer", {"model": "outside"}, "speeches"),
        ("answer", {"participant": "host"}, "speeches"),
        ("answer", {"round": 3}, "speeches"),
        ("answer", {"independent": False}, "speeches"),
        ("answer", {"flags": ["[truncated]"]}, "speeches"),
        ("answer", {"declaration": {"position": "Do it at once."}}, "declarations"),
        ("answer", {"declaration": {"confidence": 1}}, "declarations"),
        ("synthesis", {"text": "The host says: do it, unanimously."}, "speeches"),
    ],
)
def test_a_speech_that_is_not_what_was_answered_is_wrong(
    stage: str, change: dict[str, Any], check: str
) -> None:
    assert {"speeches", "declarations", "prompts"} <= good(check_bundle(deliberation()))
    lines = bodies(deliberation())
    speech = _speech(lines, stage)
    turn = speech["turn_id"]
    for name, value in change.items():
        speech[name] = {**speech[name], **value} if name == "declaration" else value

    checked = check_bundle(remade(lines))

    assert checked.outcome == "wrong"
    found = [each.text for each in checked.findings if (each.check, each.level) == (check, "wrong")]
    assert any(turn in text for text in found), checked.findings
    assert check not in good(checked)


@pytest.mark.requirement("Z-13", "Z-39")
def test_a_call_that_was_asked_something_else_than_there_was_to_ask_is_wrong() -> None:
    lines = bodies(deliberation())
    events = [each["event"] for each in lines if each["kind"] == "event"]
    started = next(each for each in events if each["type"] == "AttemptStarted")
    started["prompt"]["user"] = "Say no, or else."
    found = wrong(check_bundle(remade(lines)))
    assert started["turn_id"] in found["prompts"]

    started["prompt"]["hash"] = "0" * 16  # as if it were of another time
    checked = check_bundle(remade(lines))
    assert checked.outcome == "unverified"
    assert "prompts" in unverified(checked)


@pytest.mark.requirement("Z-13", "Z-39")
def test_material_and_question_that_nobody_was_asked_about_are_wrong() -> None:
    for change in (
        {"context": [{"source": "notes.md", "text": "Nothing here."}]},
        {"topic": "Should we never do it?"},
    ):
        lines = bodies(deliberation())
        lines[1]["event"].update(change)
        assert "prompts" in wrong(check_bundle(remade(lines)))


@pytest.mark.requirement("Z-13")
def test_prompts_with_condensed_documents_are_rendered_again_by_the_rule_of_their_time() -> None:
    async def held() -> bytes:
        table = Table()
        long = Material(source="long.md", text="Nothing happened.\n\n" * 40_000)
        state = await table.ask("Tea or coffee?", procedure="council", context=(long,))
        return make_bundle(await table.records(state))

    data = run_in_virtual_time(held())
    checked = check_bundle(data)
    assert checked.sound
    assert "prompts" in good(checked)

    lines = bodies(data)
    lines[1]["event"]["options"]["material_rule"] = 1
    checked = check_bundle(remade(lines))
    assert checked.outcome == "unverified"
    assert "prompts" in unverified(checked)


@pytest.mark.requirement("Z-13")
@pytest.mark.parametrize("procedure", ["adaptive", "council", "five-round"])
def test_what_every_procedure_holds_is_made_again_from_its_answers(procedure: str) -> None:
    async def held() -> bytes:
        table = Table()
        state = await table.ask("Tea or coffee?", procedure=procedure)
        return make_bundle(await table.records(state))

    checked = check_bundle(run_in_virtual_time(held()))

    assert {"speeches", "prompts"} <= good(checked), checked.findings
    assert checked.sound


def test_the_same_ledger_gives_the_same_bytes() -> None:
    assert make_bundle(council()) == make_bundle(list(council()))
    assert make_bundle(council(), BundleKey(KEY)) == bundle()


@pytest.mark.requirement("Z-13")
@settings(max_examples=250, deadline=None)
@given(st.data())
def test_one_flipped_bit_anywhere_is_found_and_its_line_is_named(data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(bundle()) - 1))
    flipped = bytearray(bundle())
    flipped[place] ^= 1 << data.draw(st.integers(0, 7))

    with pytest.raises(BundleBroken) as broken:
        check_bundle(bytes(flipped))

    line = 1 + bundle()[:place].count(b"\n")
    assert broken.value.line == line
    assert f"Line {line}" in broken.value.message
    assert broken.value.remedy


@pytest.mark.requirement("Z-13")
def test_a_changed_byte_in_any_part_of_any_line_is_found() -> None:
    start = 0
    for number, line in enumerate(bundle().splitlines(keepends=True), 1):
        # The frame, the hash, its border, the body, the closing brace and the end of the line.
        for offset in (0, 9, 40, 72, 73, 82, len(line) // 2, len(line) - 2, len(line) - 1):
            flipped = bytearray(bundle())
            flipped[start + offset] ^= 1
            with pytest.raises(BundleBroken) as broken:
                check_bundle(bytes(flipped))
            assert broken.value.line == number
        start += len(line)


def test_a_changed_speech_is_named_by_its_event() -> None:
    line = next(
        each for each in bundle().splitlines(keepends=True) if b'"type":"SpeechGiven"' in each
    )
    changed = bundle().replace(line, line.replace(b" by ", b" of ", 1))
    seq = json.loads(line)["line"]["seq"]

    with pytest.raises(BundleBroken, match=rf"Line {seq + 1} \(event {seq}, SpeechGiven\)"):
        check_bundle(changed)


def test_every_cut_of_the_file_is_found() -> None:
    lines = bundle().splitlines(keepends=True)
    whole = b"".join(lines[:-1])  # without its signature it is a bundle again
    assert check_bundle(whole).signed_by is None
    for count in range(len(lines) - 1):
        with pytest.raises(BundleBroken):
            check_bundle(b"".join(lines[:count]))
        with pytest.raises(BundleBroken, match="cut short"):
            check_bundle(b"".join(lines[:count]) + lines[count][:-5])
    with pytest.raises(BundleBroken, match="cut short after line"):
        check_bundle(b"".join(lines[:5]))


def test_lines_in_another_order_and_lines_taken_out_are_found() -> None:
    lines = bundle().splitlines(keepends=True)
    for one, other in pairwise(range(len(lines))):
        swapped = list(lines)
        swapped[one], swapped[other] = swapped[other], swapped[one]
        with pytest.raises(BundleBroken, match=f"Line {one + 1}"):
            check_bundle(b"".join(swapped))
    for gone in range(1, len(lines) - 1):
        with pytest.raises(BundleBroken, match=f"Line {gone + 1} "):
            check_bundle(b"".join(lines[:gone] + lines[gone + 1 :]))


def test_a_forger_who_takes_an_event_out_and_makes_the_chain_anew_is_found() -> None:
    lines = bodies(bundle())
    del lines[5]
    with pytest.raises(BundleBroken, match="event 6 where event 5 should stand"):
        check_bundle(remade(lines))

    first = next(
        n for n, each in enumerate(lines) if each.get("event", {}).get("type") == "StageOpened"
    )
    del lines[first]
    events = [each for each in lines if each["kind"] == "event"]
    for seq, each in enumerate(events, 1):
        each["seq"] = seq
    lines[-2]["events"] = len(events)
    with pytest.raises(BundleBroken, match="cannot follow the events before it"):
        check_bundle(remade(lines))


@pytest.mark.requirement("Z-13")
def test_a_forged_verdict_does_not_follow_from_the_speeches() -> None:
    lines = bodies(bundle())[:-1]
    reached = next(each for each in lines if each.get("event", {}).get("type") == "VerdictReached")
    reached["event"]["verdict"]["answer"] = "Water."

    checked = check_bundle(remade(lines))

    assert not checked.sound
    assert "VerdictReached" in wrong(checked)["decisions"]


def test_a_forged_tally_and_a_foreign_citation_are_found() -> None:
    lines = bodies(bundle())[:-1]
    next(each for each in lines if each["kind"] == "tally")["rounds"] = []
    events = [each["event"] for each in lines if each["kind"] == "event"]
    reached = next(each for each in events if each["type"] == "VerdictReached")
    reached["verdict"]["cites"] = ["1/answer/nobody"]

    found = wrong(check_bundle(remade(lines)))

    assert found.keys() >= {"tally", "citations", "decisions"}
    assert "1/answer/nobody" in found["citations"]


RECORDED = Path(__file__).parents[2].parent / "shared" / "data" / "recorded"


@pytest.mark.parametrize("file", sorted(RECORDED.glob("*.bundle")), ids=lambda each: each.stem)
def test_bundles_of_earlier_rules_hold_and_say_what_cannot_be_decided_again(file: Path) -> None:
    checked = check_bundle(file.read_bytes())
    assert not wrong(checked)
    levels = {finding.check: finding.level for finding in checked.findings}
    assert levels["decisions"] == ("good" if checked.decided else "unverified")
    assert checked.outcome == ("sound" if checked.decided else "unverified")
    assert levels["citations"] == "good"


@pytest.mark.requirement("Z-39")
def test_a_bundle_of_an_unknown_procedure_is_not_taken_for_decided_again(desk: Desk) -> None:
    lines = bodies(bundle())[:-1]
    lines[1]["event"]["procedure"] = "nonesuch"
    file = desk.workspace / "b.jsonl"
    file.write_bytes(remade(lines))

    told = desk("verify", str(file))

    assert told.code == 4
    assert "? decisions: not decided again" in told.out
    assert "cannot be verified here (decisions, speeches, prompts)" in told.err
    document = desk("verify", str(file), "--json").document
    assert document["decided_again"] is False
    assert (document["outcome"], document["sound"]) == ("unverified", False)


def forged_verdict() -> list[dict[str, Any]]:
    lines = bodies(bundle())[:-1]
    events = [each["event"] for each in lines if each["kind"] == "event"]
    reached = next(each for each in events if each["type"] == "VerdictReached")
    reached["verdict"]["answer"] = "Water."
    return lines


@pytest.mark.requirement("Z-39")
@pytest.mark.parametrize("excuse", ["version", "both versions", "redaction", "shown redaction"])
def test_no_excuse_of_its_own_makes_a_forged_bundle_sound(excuse: str, desk: Desk) -> None:
    lines = forged_verdict()
    match excuse:
        case "version":
            lines[0]["program_version"] = "0.0.9"
        case "both versions":
            lines[0]["program_version"] = lines[1]["event"]["program_version"] = "0.0.9"
        case "redaction":
            lines[0]["redacted"] = 1
        case _:
            lines[0]["redacted"] = 1
            lines[1]["event"]["topic"] += " [redacted]"
    data = remade(lines)
    file = desk.workspace / "b.jsonl"
    file.write_bytes(data)

    checked = check_bundle(data)

    assert not checked.sound
    if excuse in ("version", "redaction"):  # what the file says of itself is not so
        assert excuse in wrong(checked)
    else:
        assert "decisions" in unverified(checked)
    code = 1 if checked.outcome == "wrong" else 4
    assert desk("verify", str(file)).code == code
    assert desk("verify", str(file), "--json").document["outcome"] == checked.outcome


@pytest.mark.requirement("Z-39")
@pytest.mark.parametrize("version", ["0.0.9", "99.0", "", "0.1.0 ", "x" * 10_000])
def test_a_version_that_is_not_known_is_never_sound(version: str) -> None:
    lines = bodies(bundle())[:-1]
    lines[0]["program_version"] = lines[1]["event"]["program_version"] = version
    checked = check_bundle(remade(lines))
    assert checked.outcome == "unverified"
    assert len(unverified(checked)["version"]) < 200


@pytest.mark.requirement("Z-39")
@pytest.mark.parametrize("number", [-1, 10**30, True])
def test_a_number_of_redactions_that_cannot_be_is_found(number: int) -> None:
    data = remade([{**bodies(bundle())[0], "redacted": number}, *bodies(bundle())[1:-1]])
    if number is True:
        with pytest.raises(BundleBroken, match="redacted"):
            check_bundle(data)
    else:
        assert "redaction" in wrong(check_bundle(data))


@pytest.mark.requirement("Z-39")
def test_what_a_later_program_wrote_cannot_be_verified_and_is_not_called_broken(
    desk: Desk,
) -> None:
    later = bodies(bundle())[:-1]
    later[2]["event"] = {"type": "TableTurned", "v": 1}
    file = desk.workspace / "b.jsonl"
    for lines in (later, [{"kind": "bundle", "format": 99}]):
        file.write_bytes(remade(lines))
        told = desk("verify", str(file))
        assert told.code == 4
        assert "cannot be verified here" in told.err
        assert "Upgrade Roundtable." in told.err


@pytest.mark.requirement("Z-39")
def test_a_signature_says_whose_it_is_and_whether_it_was_expected(desk: Desk) -> None:
    key = BundleKey(KEY).public_key
    file = desk.workspace / "b.jsonl"
    file.write_bytes(bundle())

    def verified(*more: str) -> tuple[int, str, dict[str, Any]]:
        told = desk("verify", str(file), *more)
        line = next((each for each in told.out.splitlines() if "signature:" in each), told.err)
        return told.code, line, desk("verify", str(file), "--json", *more).document

    code, line, document = verified()
    assert (code, document["signer"], document["signer_expected"]) == (0, None, False)
    assert line.startswith("– ")
    assert "none that you know" in line
    code, line, document = verified("--signer", key.upper())
    assert (code, document["signer_expected"]) == (0, True)
    assert "as expected" in line

    desk.home.mkdir(exist_ok=True)
    (desk.home / "config.toml").write_text(f'[signers]\nAda = "{key}"\nBob = "{"0" * 64}"\n')
    code, line, document = verified()
    assert (code, document["signer"], document["signer_expected"]) == (0, "Ada", True)
    assert f"✓ signature: genuine, by Ada ({key}), whom you know" in line
    assert "as expected" in verified("--signer", "Ada")[1]
    code, line, document = verified("--signer", "Bob")
    assert (code, document["signer"], document["signer_expected"]) == (1, "Ada", False)
    assert "by Ada" in line
    assert "not by Bob, as expected" in line
    nobody = desk("verify", str(file), "--signer", "Eve")
    assert nobody.code == 2
    assert "Ada, Bob" in nobody.err

    (desk.home / "config.toml").unlink()
    (desk.home / "bundle.key").write_text(KEY.hex())
    assert "your own key" in verified()[1]


def test_a_quotation_that_stands_nowhere_is_said() -> None:
    def invents(request: SpeakRequest) -> str:
        said = dutiful(request)
        captain = "Agreement" in said
        return (
            said.replace("Answer by", "“Nobody ever said these words here” is") if captain else said
        )

    async def hold() -> bytes:
        table = Table({"*": Voice(invents)})
        state = await table.ask(procedure="council")
        records = await table.records(state)
        verdict = next(r.event.verdict for r in records if isinstance(r.event, VerdictReached))
        assert "Nobody ever said these words here [quotation not found]" in verdict.answer
        return make_bundle(records)

    checked = check_bundle(run_in_virtual_time(hold()))

    text = next(f.text for f in checked.findings if f.check == "quotations" and f.level == "remark")
    assert "1 of 1 stand in no speech or source" in text
    assert "Nobody ever said" in text


@pytest.mark.requirement("Z-39")
def test_secrets_are_taken_out_and_what_stood_there_is_not_taken_for_checked() -> None:
    secret = "sk-abcdefghijklmnop1234567890"
    records = [
        StoredEvent(
            r.discussion_id,
            r.seq,
            r.at,
            r.event.model_copy(update={"text": f"{secret} {r.event.text}"}),
        )
        if isinstance(r.event, SpeechGiven)
        else r
        for r in council()
    ]

    data = make_bundle(records)

    assert secret.encode() not in data
    assert b"[redacted]" in data
    checked = check_bundle(data)
    assert checked.outcome == "unverified", checked.findings
    assert "redaction" in unverified(checked)


def test_a_signature_by_another_key_or_over_another_head_is_found() -> None:
    expected = BundleKey(KEY).public_key
    assert check_bundle(bundle(), signer=expected).sound
    assert "not by" in wrong(check_bundle(bundle(), signer="00" * 32))["signature"]
    assert "signature" in wrong(check_bundle(make_bundle(council()), signer=expected))

    *lines, signature = bodies(bundle())
    lines[0]["redacted"] = 7
    forged = remade([*lines, signature])
    assert "signature" in wrong(check_bundle(forged))


def test_where_signatures_cannot_be_checked_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    data = bundle()
    for name in [name for name in sys.modules if name.split(".")[0] == "cryptography"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "cryptography", None)

    checked = check_bundle(data)

    told = next(f for f in checked.findings if f.check == "signature")
    assert told.level == "remark"
    assert not checked.expected
    assert "NOT checked" in told.text
    assert "roundtable-council[sign]" in told.text
    assert checked.signed_by is None
    assert check_bundle(data, signer="00" * 32).outcome == "unverified"


def test_a_head_from_elsewhere_tells_a_chain_made_anew() -> None:
    head = check_bundle(bundle()).head
    assert check_bundle(bundle(), head=head).sound
    forged = remade([{**bodies(bundle())[0], "written_by": "me"}, *bodies(bundle())[1:-1]])
    assert check_bundle(forged).sound
    assert "another bundle" in wrong(check_bundle(forged, head=head))["head"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"\n\n", "empty"),
        (b"PK\x03\x04" + b"\0" * 100, "an archive"),
        (b"\x1f\x8b" + b"\0" * 100, "an archive"),
        (b"\xff\xfe\x00", "something else"),
        (b'{"a": 1}\n', "something else"),
        (b'{"hash":"' + b"[" * 100_000 + b"\n", "not a line"),
        (remade([{"kind": "bundle", "format": 99}]), "format 99"),
        (remade([{"kind": "end", "events": 0}]), "should be the bundle"),
    ],
)
def test_what_is_no_bundle_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(BundleBroken, match=message):
        check_bundle(data)


def test_hostile_lines_of_a_whole_chain_are_refused_and_nothing_else_happens() -> None:
    head = {
        "kind": "bundle", "format": 1, "discussion_id": "../../etc/passwd", "program_version": "1",
        "written_by": "1", "redacted": 0,
    }  # fmt: skip
    at = datetime(2026, 1, 2, tzinfo=UTC).isoformat()
    ends: list[dict[str, Any]] = [{"kind": "tally", "rounds": []}, {"kind": "end", "events": 1}]
    hostile: tuple[Any, ...] = (
        {"type": "Nothing", "v": 1},
        {"type": "NoteAdded", "v": 1, "code": "x", "text": "x"},
        {"type": "DiscussionOpened", "v": 1},
        {"type": "StageOpened"},
        [],
        None,
        7,
    )
    for event in hostile:
        line = {"kind": "event", "seq": 1, "at": at, "event": event}
        with pytest.raises(BundleBroken, match=r"Line 2"):
            check_bundle(remade([head, line, *ends]))
    deep = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    with pytest.raises(BundleBroken, match="holds no JSON"):
        check_bundle(_hashed(deep))
    with pytest.raises(BundleBroken, match="one form"):
        check_bundle(_hashed(b'{"kind":"bundle","kind":"end"}'))


def _hashed(body: bytes) -> bytes:
    found = hashlib.sha256(BEGINNING.encode() + b"\n" + body).hexdigest().encode()
    return b'{"hash":"' + found + b'","line":' + body + b"}\n"


# --- the command line ---------------------------------------------------------------------------


@pytest.mark.requirement("Z-13", "I-10")
def test_another_machine_verifies_an_exported_bundle(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = desk("Tea or coffee?", "--procedure", "council", *ECHO, "--quick", "--no-log")
    assert asked.code == 0, asked.err
    file = tmp_path / "tea.jsonl"

    written = desk("export", desk.last_id(), "--bundle", str(file), "--sign")

    assert written.code == 0, written.err
    head = next(line for line in written.err.splitlines() if line.startswith("Head: "))[6:]
    key = next(line for line in written.err.splitlines() if line.startswith("Signed by: "))[11:]
    assert (desk.home / "bundle.key").stat().st_mode & 0o077 == 0
    monkeypatch.setenv("ROUNDTABLE_HOME", str(tmp_path / "elsewhere"))
    told = desk("verify", str(file), "--head", head, "--signer", key)
    assert told.code == 0, told.err
    assert f"Head: {head}" in told.out
    assert "✗" not in told.out
    assert desk("verify", str(file), "--json").document["sound"] is True
    assert not (tmp_path / "elsewhere").exists()

    again = desk("verify", str(file), "--head", "0" * 64)
    assert again.code == 1
    assert "✗ head" in again.out


def test_a_damaged_file_says_which_line_and_what_to_do(desk: Desk) -> None:
    file = desk.workspace / "b.jsonl"
    file.write_bytes(bundle().replace(b"Tea or coffee", b"Tea or toffee", 1))
    told = desk("verify", str(file))
    assert told.code == 1
    assert "Error: Line 2 (event 1, DiscussionOpened) does not match its hash" in told.err
    assert "Get the file anew" in told.err


def test_mistakes_at_the_command_line_are_told_apart(desk: Desk) -> None:
    desk("Tea?", "--procedure", "council", *ECHO, "--quick", "--no-log")
    taken = desk.workspace / "taken.jsonl"
    taken.write_text("mine")
    there = desk("export", desk.last_id(), "--bundle", str(taken))
    assert (there.code, taken.read_text()) == (2, "mine")
    assert "exists already" in there.err
    assert desk("export", desk.last_id(), "--sign").code == 2
    assert "no discussion" in desk("export", "rt_00000000", "--bundle", "x").err
    assert not (desk.workspace / "x").exists()
    missing = desk("verify", "nowhere.jsonl")
    assert (missing.code, "cannot be read" in missing.err) == (2, True)
    assert desk("verify", str(desk.workspace)).code == 2


def test_a_zip_bomb_is_refused_without_being_unpacked(desk: Desk) -> None:
    file = desk.workspace / "bomb.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../escape.jsonl", b"0" * 50_000_000)
    told = desk("verify", str(file))
    assert told.code == 1
    assert "an archive" in told.err
    found = {path.name for path in desk.workspace.parent.rglob("*") if path.is_file()}
    assert found == {"bomb.zip", ".stdin"}


def test_a_key_file_that_holds_no_key_is_told(desk: Desk) -> None:
    desk("Tea?", "--procedure", "council", *ECHO, "--quick", "--no-log")
    (desk.home / "bundle.key").write_text("not a key")
    told = desk("export", desk.last_id(), "--bundle", "x.jsonl", "--sign")
    assert told.code == 2
    assert "holds no key" in told.err


@pytest.mark.requirement("Z-13", "Z-35")
@pytest.mark.parametrize("procedure", ["deliberation", "council", "five-round", "meeting"])
def test_a_discussion_that_went_on_with_a_higher_limit_is_found_sound(procedure: str) -> None:
    async def hold() -> tuple[StoredEvent, ...]:
        whole = await Table({"*": Billed(words=200)}).ask("Tea or coffee?", procedure=procedure)
        table = Table({"*": Billed(words=200)})
        state = await table.ask(
            "Tea or coffee?",
            procedure=procedure,
            budget=Budget(max_cost_usd=whole.usage.priced_usd * 0.6),
        )
        more = Limits.of(Budget(max_cost_usd=5), "--max-cost")
        await table.service.raise_limits(state.discussion_id, more, by="the user")
        await table.service.run(state.discussion_id)
        return tuple(await table.records(state))

    records = run_in_virtual_time(hold())
    assert any(isinstance(each.event, LimitsRaised) for each in records)
    checked = check_bundle(make_bundle(records, BundleKey(KEY)))
    assert wrong(checked) == {}
    assert "decisions" in good(checked)
