"""What a verdict may quote: the words of one discussion, each with whose they are."""

from __future__ import annotations

from .events import SearchFinished, SpeechGiven
from .quotations import Source
from .speech_index import REMARK as REMARK
from .state import State


def sources_of(state: State) -> tuple[Source, ...]:
    """All that a verdict may quote: what was said, the question, the options and the material."""
    return state.derived("sources", _sources_of)


def _sources_of(state: State) -> tuple[Source, ...]:
    voters = {each.id for each in state.voters}
    found = [
        Source(
            id=speech.turn_id,
            speaker=speech.participant,
            name=state.name_of(speech.participant),
            text=_whole(state, speech),
            kind="speech",
            round=speech.round,
        )
        for speech in state.speeches
        # The writer's own words are no source: every quotation would be found in its own verdict.
        if speech.participant in voters or speech.stage == REMARK
    ]
    found.append(Source(id="question", text=state.start.topic, kind="question"))
    options = [o.text for tabled in state.tabled for d in tabled.decisions for o in d.options]
    if options:
        found.append(
            Source(id="options", text="\n\n".join(dict.fromkeys(options)), kind="question")
        )
    found += [
        Source(id=f"document:{m.source}", text=m.text, kind="document", name=m.source)
        for m in state.context
    ]
    found += [
        Source(
            id=f"document:{hit.url}",
            text=f"{hit.title}\n{hit.text}",
            kind="document",
            name=hit.title,
        )
        for search in state.searches
        if isinstance(search, SearchFinished)
        for hit in search.hits
    ]
    return tuple(found)


def _whole(state: State, speech: SpeechGiven) -> str:
    """A speech with the sentences of its declaration: they are its speaker's words too. Earlier
    versions of the program kept a position in a ballot of its own."""
    d = speech.declaration
    works = [work.text for work in speech.deliverables]
    if d is None:
        cast = [b.position for b in state.ballots if b.turn_id == speech.turn_id and b.position]
        return "\n\n".join([speech.text, *cast, *works])
    texts = [d.position, *d.new_points, *(c.text for c in d.conditions), d.for_the_record]
    texts += [s.text for s in d.stances]
    return "\n\n".join([speech.text, *(text for text in texts if text), *works])
