"""The local provider of the benchmarks: a process of its own, so that its CPU does not count."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from roundtable.settings import Settings, read_settings
from tests.servers import ProviderServer, provider_server
from tests.wire import Asked

MODEL = "openai/gpt-5-mini"
_HEADINGS = re.compile(r"^## (.+)$", re.MULTILINE)
_SENTENCE = "This is a sentence of ten words about the question asked. "


def answer(asked: Asked, *, sentences: int) -> str:
    """Every section that the prompt asks for, each with so many sentences of ten words."""
    headings = _HEADINGS.findall(asked.user.rpartition("---END")[2])
    body = _SENTENCE * sentences
    return "\n\n".join(f"## {heading}\n{body}" for heading in headings) or body


@contextmanager
def provider(*, latency: float, sentences: int = 1) -> Iterator[ProviderServer]:
    with provider_server(
        partial(answer, sentences=sentences), latency=latency, process=True
    ) as server:
        yield server


def settings(home: Path, env: Mapping[str, str], **choices: object) -> Settings:
    """The settings of a user who has nothing but this provider."""
    read = read_settings({**env, "ROUNDTABLE_HOME": str(home)}, home)
    own = {"default_model": MODEL, "local_servers": False, **choices}
    return read.model_copy(update={"choices": read.choices.model_copy(update=own)})
