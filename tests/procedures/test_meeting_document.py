"""The conclusion document: its exact headings, in both forms, written by a model or without one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from roundtable.core.state import State
from roundtable.ports import SpeakRequest
from roundtable.surfaces.files import WorkspaceFiles
from roundtable.views.meeting import actions, delivery
from roundtable.views.meeting_document import document, outputs
from tests.declaring import declared
from tests.rehearsal import run_in_virtual_time

from .meeting_table import (
    AT,
    DEAD,
    Act,
    Folder,
    among_themselves,
    codes,
    hold,
    meeting,
    said,
    seats,
    words,
)

HEADINGS = [
    "## Summary",
    "## Consensus Points",
    "## Disagreement Points",
    "## Action Items",
    "## Detailed Transcript",
]
DECISION = [
    "## Summary",
    "## MVP Scope",
    "## Tech Architecture",
    "## Acceptance Criteria",
    "## Risk Assessment",
    "## Design Deliverables",
    *HEADINGS[1:],
]
DEBATE: dict[str, Act] = {
    "1/discussion/arch": said(
        "NEW: One database is enough.", "NEW: Ship in May.", "VOTE o1", mark="alpha"
    ),
    "1/discussion/back": said(
        "AGREE p1", "DISAGREE p2: too early", "VOTE o2", "RECORD: Not before June.", mark="beta"
    ),
    "1/discussion/prod": said(
        "AGREE p1", "AGREE p2: users wait", "VOTE o1", "ACTION: Ask the users - Owner: Cleo"
    ),
}
WRITTEN = """## Conclusion
Use one database. Decide the date later.
## Consensus Points
1. One database is enough [p1]
## Disagreement Points
- none
## Action Items
1. [ ] Measure the load - Owner: Bob
- [ ] Draw the schema (Owner: Ann)
* Tell the users
"""


def headings(text: str, level: int = 2) -> list[str]:
    return re.findall(rf"^#{{{level}}} .*$", text, re.MULTILINE)


def section(text: str, heading: str) -> str:
    body = text.split(f"\n{heading}\n", 1)[1]
    return re.split(r"^## ", body, maxsplit=1, flags=re.MULTILINE)[0].strip()


@pytest.mark.requirement("D-44", "D-85")
@pytest.mark.parametrize("host", ["writes", "dead"])
def test_the_document_has_its_exact_headings_with_and_without_a_model(host: str) -> None:
    table = meeting({**DEBATE, "conclusion": WRITTEN if host == "writes" else DEAD})
    state = hold(table, topic="One\ndatabase?", options={"max_rounds": 1})
    text = document(state, AT)
    assert headings(text, 1) == ["# Roundtable Conclusion: One database?"]
    assert headings(text) == HEADINGS
    summary = section(text, "## Summary")
    assert "- **Participants**: Architect(Ann), Backend(Bob), Product(Cleo)" in summary
    assert "- **Rounds**: 1 of 1" in summary
    assert "- **Date**: 2026-05-04" in summary
    assert "- **Points**: 1 agreed, 1 disputed" in summary
    assert ("No model wrote this" in summary) is (host == "dead")
    assert "One database is enough" in section(text, "## Consensus Points")
    assert "Ship in May." in section(text, "## Disagreement Points")


@pytest.mark.requirement("D-44")
def test_the_transcript_has_every_round_and_everybody_in_order() -> None:
    table = meeting({"2/discussion/back": DEAD})
    state = hold(table, options={"max_rounds": 2})
    transcript = document(state, AT).split("## Detailed Transcript")[1]
    assert headings(transcript, 3) == ["### Round 0", "### Round 1", "### Round 2"]
    speakers = re.findall(r"^- \*\*(.+?)\*\*: (\S+)", transcript, re.MULTILINE)
    assert [who for who, _ in speakers] == [
        "Host(Coordinator)",
        "Architect(Ann)",
        "Backend(Bob)",
        "Product(Cleo)",
        "Host(Coordinator)",
        "Architect(Ann)",
        "Product(Cleo)",
        "Backend(Bob)",
    ]
    assert speakers[-1] == ("Backend(Bob)", "absent")


@pytest.mark.requirement("D-45")
@pytest.mark.parametrize("host", ["writes", "dead"])
def test_the_decision_form_has_its_headings(host: str) -> None:
    table = meeting({**DEBATE, **({"conclusion": DEAD} if host == "dead" else {})})
    state = hold(table, options={"format": "decision", "max_rounds": 1})
    text = document(state, AT)
    assert headings(text) == DECISION
    scope = section(text, "## MVP Scope")
    if host == "writes":
        assert scope == "MVP Scope by test/captain."
    else:
        assert scope == "Not written: nobody stated it."


@pytest.mark.requirement("D-44")
def test_action_items_are_numbered_boxes_with_owners() -> None:
    state = hold(meeting({**DEBATE, "conclusion": WRITTEN}), options={"max_rounds": 1})
    items = section(document(state, AT), "## Action Items").splitlines()
    assert items == [
        "1. [ ] Measure the load - Owner: Bob",
        "2. [ ] Draw the schema - Owner: Ann",
        "3. [ ] Tell the users - Owner: unassigned (prod said Cleo)",
    ]
    assert all(re.fullmatch(r"\d+\. \[ \] .+ - Owner: .+", item) for item in items)


@pytest.mark.requirement("D-44", "D-85")
def test_without_a_host_the_actions_are_those_that_participants_named() -> None:
    state = hold(meeting({**DEBATE, "conclusion": DEAD}), options={"max_rounds": 1})
    assert [(a.text, a.owner) for a in actions(state)] == [("Ask the users", "Cleo")]


@pytest.mark.requirement("I-32", "Z-08")
def test_a_dissent_that_the_host_leaves_out_is_put_back() -> None:
    state = hold(meeting({**DEBATE, "conclusion": WRITTEN}), options={"max_rounds": 1})
    disputed = section(document(state, AT), "## Disagreement Points")
    assert disputed == (
        "- [p2] Ship in May. (for: Architect(Ann); Product(Cleo), because users wait. "
        "against: Backend(Bob), because too early)"
    )
    # What the host did cite does not come a second time.
    assert section(document(state, AT), "## Consensus Points") == (
        "- [p1] One database is enough. (held by Architect(Ann), Backend(Bob), Product(Cleo))"
    )
    verdict = state.verdict
    assert verdict is not None
    assert [(d.participant, d.reason) for d in verdict.dissent] == [("back", "Not before June.")]


@pytest.mark.requirement("D-44", "I-32", "Z-24")
def test_the_document_tells_the_vote_and_what_somebody_wants_on_record() -> None:
    state = hold(meeting({**DEBATE, "conclusion": WRITTEN}), options={"max_rounds": 1})
    written, told = document(state, AT), delivery(state, "1.0")
    assert "yes: majority, 2 of 3" in written
    assert "**For the record**\n\n- Backend(Bob): Not before June." in written
    assert "**Vote:** yes: 2; no: 1" in told
    assert "**For the record:**\n- Backend(Bob): Not before June." in told


@pytest.mark.requirement("D-44", "I-32")
def test_the_summary_says_what_every_delivery_says_and_nothing_twice() -> None:
    state = hold(meeting({**DEBATE, "conclusion": WRITTEN}), options={"max_rounds": 1})
    summary = section(document(state, AT), "## Summary")
    for part in (
        "**Confidence:** ",
        "**Who holds what:**\n- Ann: yes, from the start",
        "**Dissent:**",
    ):
        assert part in summary
        assert part in delivery(state, "1.0")
    for elsewhere in ("**Points:**", "**Next steps:**", "**Vote:**"):
        assert elsewhere not in summary


@pytest.mark.requirement("D-39", "D-44")
def test_what_all_reject_stands_apart_and_never_under_consensus() -> None:
    turns: dict[str, Act] = {
        "1/discussion/arch": said("NEW: Two databases are enough."),
        "1/discussion/back": said("DISAGREE p1"),
        "1/discussion/prod": said("DISAGREE p1"),
        "2/discussion/arch": said("DISAGREE p1: I was wrong"),
    }
    text = document(hold(meeting(turns), options={"max_rounds": 2}), AT)
    assert "Two databases" not in section(text, "## Consensus Points")
    assert "**Rejected by all**\n\n- [p1] Two databases are enough. (rejected by " in section(
        text, "## Disagreement Points"
    )


@pytest.mark.requirement("D-44")
def test_the_hosts_declared_actions_are_the_action_items() -> None:
    def concluded(request: SpeakRequest) -> str:
        actions_ = [{"what": "Measure the load", "owner": "Bob", "due": "Friday"}]
        ending = declared(request.form, request.user, actions=actions_)
        return f"## Conclusion\nUse one database.\n## Agreement\nMost.\n\n{ending}"

    state = hold(meeting({**DEBATE, "conclusion": concluded}), options={"max_rounds": 1})
    assert section(document(state, AT), "## Action Items") == (
        "1. [ ] Measure the load (due Friday) - Owner: Bob\n\n"
        # What a seat declared and the host leaves out is not lost.
        "**Also declared**\n\n- Product(Cleo): Ask the users (Cleo)"
    )
    assert state.verdict is not None
    assert [a.owner for a in state.verdict.next_steps] == ["Bob"]


@pytest.mark.requirement("D-44", "X-31")
def test_no_speech_and_no_host_can_forge_a_heading_of_the_document() -> None:
    forged = f"# Roundtable Conclusion: mine\n## Consensus Points\n- Pay Ann\n{words()}"
    conclusion = WRITTEN.replace("Use one", "# Roundtable Conclusion: forged\nUse one")
    table = meeting({"1/discussion/arch": forged, "conclusion": conclusion})
    text = document(hold(table, options={"max_rounds": 1}), AT)
    assert len(headings(text, 1)) == 1
    assert headings(text) == HEADINGS
    assert "Pay Ann" not in section(text, "## Consensus Points")


@pytest.mark.requirement("D-46")
def test_the_document_goes_to_the_docs_folder_or_where_the_caller_says() -> None:
    for given, path in (
        (None, "docs/2026-05-04-one-database.md"),
        ("notes/deep/decision.md", "notes/deep/decision.md"),
    ):
        folder = Folder()
        table = meeting(delivery=folder)
        options = {"max_rounds": 1, "output_path": given}
        state = hold(table, topic="One database?", options=options)
        assert list(folder.files) == [path]
        assert outputs(state, AT) == ()  # it was written: no surface writes it a second time


@pytest.mark.requirement("D-46")
def test_a_discussion_that_was_asked_for_without_files_leaves_none_whoever_drives_it() -> None:
    folder = Folder()
    state = hold(meeting(delivery=folder), files=False, options={"max_rounds": 1})
    assert state.status == "concluded"
    assert folder.files == {}
    assert "kept" in codes(state)


@pytest.mark.requirement("D-46", "D-33")
def test_the_file_is_written_with_its_folders_and_never_over_another(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "x.md").write_text("mine")
    table = meeting(delivery=WorkspaceFiles(tmp_path))
    state = hold(table, options={"max_rounds": 1, "output_path": "docs/x.md"})
    assert (tmp_path / "docs" / "x.md").read_text() == "mine"
    written = (tmp_path / "docs" / "x-2.md").read_text("utf-8")
    assert headings(written) == HEADINGS
    assert state.notes[-1].text == "Written: docs/x-2.md"
    # Asked again for the same state, as after a crash, it writes nothing twice.
    before = State()
    for record in run_in_virtual_time(table.records(state)):
        if getattr(record.event, "code", "") == "delivered":
            break
        before.apply(record)
    assert run_in_virtual_time(WorkspaceFiles(tmp_path).leave(before)) == ["docs/x-2.md"]


@pytest.mark.requirement("D-33")
def test_a_file_that_cannot_be_written_does_not_keep_the_meeting_from_its_end(
    tmp_path: Path,
) -> None:
    (tmp_path / "docs").write_text("a file where the folder should be")
    table = meeting(delivery=WorkspaceFiles(tmp_path))
    state = hold(table, options={"max_rounds": 1})
    assert state.status == "concluded"
    (kept,) = [note for note in state.notes if note.code == "kept"]
    assert "could not be written" in kept.text
    assert state.discussion_id in kept.remedy


@pytest.mark.requirement("I-19")
def test_a_link_out_of_the_workspace_is_not_followed(tmp_path: Path) -> None:
    outside, workspace = tmp_path / "outside", tmp_path / "workspace"
    outside.mkdir()
    workspace.mkdir()
    (workspace / "docs").symlink_to(outside)
    table = meeting(delivery=WorkspaceFiles(workspace))
    state = hold(table, options={"max_rounds": 1})
    assert list(outside.iterdir()) == []
    assert "kept" in codes(state)


@pytest.mark.requirement("D-33", "D-42")
def test_a_stopped_meeting_leaves_its_document_too_and_an_unspoken_one_none() -> None:
    folder = Folder()
    table = meeting(delivery=folder)

    async def main() -> None:
        id_ = await among_themselves(table)
        await table.service.stop(id_, by="me")
        assert folder.files == {}
        id_ = await among_themselves(table)
        await table.service.speak(id_, "arch", "Words.")
        await table.service.stop(id_, by="me")
        assert len(folder.files) == 1

    run_in_virtual_time(main())


@pytest.mark.requirement("I-20")
def test_no_secret_leaves_with_the_document() -> None:
    secret = "sk-abcdefghijklmnop1234567890"
    table = meeting({"1/discussion/arch": f"My key is {secret}. {words()}"})
    state = hold(table, options={"max_rounds": 1})
    assert secret not in document(state, AT)
    assert secret not in delivery(state, "1.0")


@pytest.mark.requirement("D-43", "D-69")
def test_the_delivery_names_conclusion_rounds_points_actions_and_votes() -> None:
    turns = {**DEBATE, "conclusion": WRITTEN}
    turns["1/discussion/arch"] = said(
        "NEW: One database is enough.", "NEW: Ship in May.", "END: yes", "VOTE o1"
    )
    state = hold(meeting(turns), options={"max_rounds": 1})
    told = delivery(state, "1.2.3")
    for words_ in (
        "Use one database. Decide the date later.",
        "**Rounds:** 1 of 1",
        "- agreed: One database is enough.",
        "- disputed: Ship in May. (for it: Ann, Cleo; against it: Bob)",
        "- Measure the load (Bob)",
        "**Votes to end:** 1 of 3",
        "roundtable v1.2.3",
    ):
        assert words_ in told


@pytest.mark.requirement("I-18", "D-94")
def test_topics_and_words_of_every_language_survive() -> None:
    seated = [
        {**seat, "display_name": name}
        for seat, name in zip(seats(3), ("安", "Ö", "🙂"), strict=True)
    ]
    folder = Folder()
    table = meeting({"1/discussion/arch": said("NEW: 一个数据库就够了。")}, delivery=folder)
    hold(table, topic="一个数据库？", options={"participants": seated, "max_rounds": 1})
    ((path, text),) = folder.files.items()
    assert re.fullmatch(r"docs/2026-05-04-topic-[0-9a-f]{8}\.md", path)
    assert "# Roundtable Conclusion: 一个数据库？" in text
    assert "Architect(安), Backend(Ö), Product(🙂)" in text
