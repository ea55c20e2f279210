"""The local provider of the benchmarks: a process of its own, so that its CPU does not count."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.servers import ProviderServer, provider_server
from tests.wire import Asked

from roundtable.settings import Settings, read_settings

MODEL = "openai/gpt-5-mini"
_HEADINGS = re.compile(r"^## (.+)$", re.MULTILINE)
_WORDS = "This is a sentence of twelve words that bear on the question. "


def answer(asked: Asked, *, whole: bool) -> str:
    """Every section that the prompt asks for, with 24 words each, streamed word by word as models
    do; `whole` brings each section's body in one piece, as servers do that answer from a cache."""
    headings = _HEADINGS.findall(asked.user.rpartition("---END")[2])
    body = _WORDS * 2
    if whole:  # what has no blank in it comes as one piece
        body = body.replace(" ", "_")
    return "\n\n".join(f"## {heading}\n{body}" for heading in headings) or body


@contextmanager
def provider(*, latency: float, pace: float = 0.0, whole: bool = False) -> Iterator[ProviderServer]:
    """A call takes `latency` until its first word, and `pace` from there to its last."""
    reply = partial(answer, whole=whole)
    with provider_server(reply, latency=latency, pace=pace, process=True) as server:
        yield server


def settings(home: Path, env: Mapping[str, str], **choices: object) -> Settings:
    """The settings of a user who has nothing but this provider."""
    read = read_settings({**env, "ROUNDTABLE_HOME": str(home)}, home)
    own = {"default_model": MODEL, "local_servers": False, **choices}
    return read.model_copy(update={"choices": read.choices.model_copy(update=own)})
