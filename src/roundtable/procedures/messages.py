"""The catalogue of what procedures tell the reader: every code of a note, and what it means.

A code is stored for ever and others build on it; the sentence beside it is the program's own and
may be put better. Notes that several procedures have are made here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..core.events import NoteAdded
from ..core.extras import install
from ..core.values import Participant

CODES: Mapping[str, str] = {
    # at the opening
    "demonstration": "the embedded demonstration model speaks, and cannot reason",
    "one_family": "all models are of one family: their agreement means less",
    "host_of_a_family": "the host's model is of the same family as a participant's",
    "held_as": "no procedure was named, and an option chose one",
    "shared_models": "fewer models than seats were named, so some models hold several seats",
    "models_left_over": "more models than experts were named, so some models do not speak",
    "host_elsewhere": "every seat speaks on this machine, and the host that the settings name does "
    "not",
    "host_of_the_table": "no model was named for the host, so it shares one with a seat",
    "secrets": "this was a dry run; a real run would be refused, because the question or its "
    "context seems to contain secrets",
    "made_up": "no expert of the library has this name, so the seat has only its name to go by",
    "nearest": "no expert of the library has this name, so the seat argues as the nearest one",
    "no_search": "there is no web search in this run",
    "outside": "a seat waits for someone outside to speak",
    "default_roster": "no participants were named, so a ready roster is used",
    "parallel": "participants speak side by side and cannot see each other",
    "fit": "the topic does not suit this procedure",
    "budget_capped": "the budget allows less than was asked for",
    "unknown_template": "there is no such template, so none was used",
    "log_path": "a configured `log_path` is ignored: a council's log goes to "
    "`memory/roundtable/` only",
    "not_allowlisted": "a model is not on the allowlist, so another one takes its seat",
    "one_seat": "one model was named for a panel, so one expert sits there",
    "budget_profile": "too few of the panel's models can be used, so the small panel is used",
    "orchestrator_on_panel": "the orchestrator's own model also holds a seat",
    "orchestrator_excluded": "the orchestrator's own model was not seated",
    "synthesiser_on_panel": "the synthesiser's model also holds a seat",
    "by_words": "the experts were chosen by the question's words, not by its meaning",
    "not_cast": "the host could not cast the table, so the library chose",
    "cast_in_part": "not all of the host's seats could be used",
    "meta_skipped": "the workflow was settled without the meta-panel",
    "meta_alone": "only one model can be used, so there is no meta-panel",
    "meta_smaller": "some models of the meta-panel cannot be used now",
    "sub_tasks_left_out": "sub-tasks that analysts recommended were given no seat",
    "context_from_missing": "the earlier result that was named does not exist",
    "condensed": "a document, or with a turn (`condensed/TURN`) a prompt, did not fit and was "
    "condensed",
    "condensed_spread": "the question shares hardly a word with a document that did not fit, so "
    "passages from all parts of it are shown",
    "cut_short": "an answer was cut off, at its length limit or by the budget",
    "documents": "documents that were read only in part, or left out of a folder",
    "unread_documents": "documents that could not be read",
    "keys_unread": "the file of stored keys is broken and was ignored",
    "key_withheld": "a stored key was entered for another server, so it is not sent to this one",
    "substituted": "another model speaks than the one that was meant for the seat",
    # who is missing
    "missing": "a seat did not answer (council, deliberation, five-round)",
    "timed_out": "a seat did not answer in time (council, deliberation, five-round)",
    "timeout": "a seat did not answer in time (adaptive)",
    "seat_skipped": "a seat failed and was skipped (adaptive)",
    "absent": "a participant of a meeting did not speak in a round",
    "host_failed": "the host could not do its part (meeting, your own procedures)",
    "panel_degraded": "a substitute model speaks in a seat",
    "one_survivor": "only one seat answered, so there was no discussion (adaptive)",
    "single_survivor": "only one expert is left (five-round)",
    "budget_seat": "the budget did not allow a seat's turn",
    "closing_unanswered": "a seat left the closing ballot open: its last vote stands, if any",
    "silent_round": "nobody spoke in a round, so the debate ended there",
    # what went another way
    "briefing_failed": "the Captain could not split the question",
    "summary_failed": "the Captain could not sum up round 1",
    "round2_omitted": "the cross-examination was left out, because too few specialists answered",
    "rough_options": "the options were taken from the answers' own words",
    "early_stop": "rounds were left out, and why",
    "FORCE_ARBITRATE": "the rounds are used up, so the host must rule",
    "requirements": "a speech was used although it misses requirements",
    "usage_unbelieved": "a server reported a usage that a call cannot have had, so the impossible "
    "part is counted by words",
    "effort_unheeded": "a model has no setting for effort, so it only got the room for it",
    "order_check": "how many ballots changed with the order of the answers",
    "meta_failed": "no meta-analyst answered, so the default panel is used",
    "meta_partly": "some meta-analysts did not answer; the others decided",
    "model_skipped": "a recommended model could not be seated",
    "no_digest": "a seat left nothing to examine, and takes no part in the critique",
    "no_cross_critique": "there was nothing to criticise",
    "score_inferred": "scores were not stated clearly",
    "stage2_failed": "the second stage failed, so the result rests on the first",
    # the end
    "wrap_up": "why a meeting ended",
    "extracted_verdict": "no model could write the verdict, so it is an extract",
    "no_statement": "no statement was drafted and ranked",
    "bias_risk": "the orchestrator wrote the synthesis itself",
    "validated": "the validators' judgement of the synthesis",
    "validate_hint": "when `--validate` would be worth it",
    "validation_skipped": "there was no draft to validate",
    "validation_failed": "nobody validated the draft",
    "validation_unclear": "a validator's judgement could not be read",
    "misrepresentation": "a validator calls the synthesis inaccurate",
    "rewritten": "the synthesis was rewritten after validation",
    "rewrite_failed": "the synthesis could not be rewritten",
    "rewrite_worse": "more validators called the rewritten synthesis inaccurate, so the first "
    "draft is delivered",
    "rewrite_unchecked": "the rewritten synthesis could not be checked again",
    "correction": "a validator calls the synthesis partly accurate, with its correction",
    "correction_used": "a correction that the rewritten synthesis took up",
    "unconcluded": "an outside coordinator did not conclude in time",
}
"""Codes that carry more, such as a turn, do so after a slash: requirements/1/proposal/x."""


def demonstration(follows: str) -> NoteAdded:
    """The small embedded model sits at the table; `follows` says what that means here."""
    return NoteAdded(
        code="demonstration",
        text="The small embedded demonstration model speaks. Its words are real, but it cannot "
        f"reason: {follows}.",
        remedy="For real experts, set ANTHROPIC_API_KEY, OPENAI_API_KEY or another provider's key, "
        "or start Ollama; `roundtable models` shows what was found and what is missing.",
    )


def demonstrated(
    seats: Iterable[Participant], leads: Iterable[Participant], told: NoteAdded
) -> list[NoteAdded]:
    """What is to be said where the small embedded model sits at the table: this; or, where it only
    `leads` and writes, that the others are not meant."""
    if any(each.speaker.demonstration for each in seats):
        return [told]
    return [_ONLY_LEADS] if any(each.speaker.demonstration for each in leads) else []


_ONLY_LEADS = NoteAdded(
    code="demonstration",
    text="The small embedded demonstration model is used for the host only. It cannot reason: the "
    "result is an extract of what the others said and voted.",
    remedy="Name another model with --host.",
)
BY_WORDS = NoteAdded(
    code="by_words",
    text="The experts were chosen by the words of the question only.",
    remedy=f"To have its meaning weighed as well: {install('experts')}. Or name the experts.",
)


def one_family(who: str, remedy: str) -> NoteAdded:
    """All seats have models of one family."""
    return NoteAdded(
        code="one_family",
        text=f"All {who} use models of one family. Such models agree more readily than different "
        "ones, so do not read too much into their agreement.",
        remedy=remedy,
    )
