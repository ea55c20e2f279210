"""The catalogue of what procedures tell the reader: every code of a note, and what it means.

A code is stored for ever and others build on it; the sentence beside it is the program's own and
may be put better. Notes that several procedures have are made here.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..core.events import NoteAdded
from ..core.extras import install

CODES: Mapping[str, str] = {
    # at the opening
    "demonstration": "the embedded demonstration model speaks, and cannot reason",
    "one_family": "all models are of one family: their agreement means less",
    "host_of_a_family": "the host's model is of the family of a participant's",
    "shared_models": "fewer models than seats were named, so that some speak for several",
    "host_of_the_table": "no model was named for the host, so one of the table's speaks for it",
    "secrets": "a dry run of what would be refused, since it seems to hold secrets",
    "made_up": "no expert of the library has this name: the seat knows nothing but it",
    "no_search": "there is no web search in this run",
    "outside": "a seat waits for words from outside",
    "default_roster": "nobody was named, so a ready roster sits there",
    "parallel": "participants speak side by side and cannot see each other",
    "fit": "the topic does not suit this procedure",
    "budget_capped": "the budget allows less than was asked for",
    "unknown_template": "there is no such template, so none was used",
    "log_path": "the log cannot be written where it belongs",
    "not_allowlisted": "a model is not on the allowlist, so another one sits there",
    "budget_profile": "too few of the panel's models can be used, so the small panel sits",
    "orchestrator_on_panel": "the orchestrator's own model holds a seat for want of another",
    "orchestrator_excluded": "the orchestrator's own model was not seated",
    "synthesiser_on_panel": "the synthesiser's model holds a seat for want of another",
    "by_words": "the experts were chosen by the question's words, not by its meaning",
    "not_cast": "the host could not cast the table, so the library's choice sits there",
    "cast_in_part": "not all of the host's seats could be used",
    "meta_skipped": "the workflow was settled without the meta-panel",
    "meta_alone": "only one model can be used, so there is no meta-panel",
    "meta_smaller": "some models of the meta-panel cannot be used now",
    "sub_tasks_left_out": "sub-tasks that some analysts recommended were given no seat",
    "context_from_missing": "the earlier result that was named does not exist",
    "condensed": "a document did not fit: only a part of it is shown to the experts",
    "documents": "documents that were not read wholly, or were left out of a folder",
    "unread_documents": "documents that could not be read",
    "keys_unread": "the file of stored keys is broken, and what it holds does not count",
    # who is missing
    "missing": "somebody did not answer",
    "timed_out": "somebody did not answer in time",
    "timeout": "somebody did not answer in time, and its seat was skipped or its digest stands",
    "seat_skipped": "a seat was skipped",
    "absent": "a participant of a meeting did not speak in a round",
    "host_failed": "the host of a meeting could not do its part",
    "panel_degraded": "another model speaks in place of the one that was wanted",
    "one_survivor": "only one answered, so there was nobody to talk to",
    "single_survivor": "only one expert is left",
    "budget_seat": "the budget did not allow somebody's turn",
    "closing_unanswered": "somebody did not answer the closing ballot: its last declaration stands",
    "silent_round": "nobody spoke in a round, so the debate ended there",
    # what went another way
    "briefing_failed": "the Captain could not split the question",
    "summary_failed": "the Captain could not sum up round 1",
    "round2_omitted": "the cross-examination was left out for lack of agents",
    "rough_options": "the options were read from the answers' own words",
    "early_stop": "rounds were left out, and why",
    "FORCE_ARBITRATE": "the rounds are used up, so the host must rule",
    "requirements": "a speech was used although it misses requirements",
    "effort_unheeded": "a model cannot be told how much to think, so it answered as always",
    "order_check": "how many ballots changed with the order of the answers",
    "meta_failed": "no meta-analyst answered, so the default panel sits",
    "meta_partly": "some meta-analysts did not answer; the others decided",
    "model_skipped": "a recommended model could not be seated",
    "no_digest": "somebody left nothing to examine, and takes no part in the critique",
    "no_cross_critique": "nobody could be criticised",
    "score_inferred": "scores were not stated cleanly",
    "stage2_failed": "the second stage failed, so the first one stands alone",
    # the end
    "wrap_up": "why a meeting ended",
    "extracted_verdict": "no model could write the verdict, so it is an extract",
    "no_statement": "no statement was drafted and ranked",
    "bias_risk": "the orchestrator wrote the synthesis itself",
    "validated": "what the validators made of the synthesis",
    "validate_hint": "when --validate would be worth it",
    "validation_skipped": "there was no draft to validate",
    "validation_failed": "nobody validated the draft",
    "validation_unclear": "a validator's judgement could not be read",
    "misrepresentation": "a validator calls the synthesis inaccurate",
    "rewritten": "the synthesis was rewritten after validation",
    "rewrite_failed": "the synthesis could not be rewritten",
    "rewrite_worse": "the rewritten synthesis was called inaccurate by more, so the draft stands",
    "rewrite_unchecked": "the rewritten synthesis could not be checked again",
    "correction": "a validator corrects the synthesis that stands",
    "correction_used": "a correction of the first draft that the rewrite took up",
    "unconcluded": "an outside coordinator did not conclude in its time",
}
"""Codes that carry more, such as a turn, do so after a slash: requirements/1/proposal/x."""


def demonstration(follows: str) -> NoteAdded:
    """The small embedded model sits at the table; `follows` says what that means here."""
    return NoteAdded(
        code="demonstration",
        text="The small embedded demonstration model speaks. Its words are real, but it cannot "
        f"reason: {follows}.",
        remedy="For real experts set ANTHROPIC_API_KEY, OPENAI_API_KEY or another provider's key, "
        "or start Ollama; `roundtable models` shows what was found and what is missing.",
    )


BY_WORDS = NoteAdded(
    code="by_words",
    text="The experts were chosen by the words of the question alone.",
    remedy=f"To have its meaning weighed too: {install('experts')}. Or name the experts yourself.",
)


def one_family(who: str, remedy: str) -> NoteAdded:
    """All seats have models of one family."""
    return NoteAdded(
        code="one_family",
        text=f"All {who} speak with models of one family. Different hats on one model agree more "
        "than different models do: take their agreement with care.",
        remedy=remedy,
    )
