"""From the words of a chat message to the same request that a command line makes."""

from __future__ import annotations

from dataclasses import replace

import click

from ...core.errors import UsageError
from ...core.values import NewsPlan
from ...procedures.opening import OpenRequest
from ...settings import Settings
from ..cli.app import cli, in_plain_words
from ..cli.ask import request_of
from .grammar import Asks

NOT_IN_CHAT = ("context", "confirm", "dry_run", "as_json")
"""They read files of this machine, or need a person at its screen. The options of procedures say
themselves where they are offered."""


def request_of_words(
    asked: Asks, settings: Settings, *, created_by: str, news: NewsPlan | None = None
) -> OpenRequest:
    """UsageError says which word was wrong and what to write instead."""
    try:
        # With its parent: a command keeps the help options of the first context it is made in.
        parent = cli.make_context("roundtable", ["ask"])
        context = cli.commands["ask"].make_context("ask", list(asked.words), parent=parent)
    except click.ClickException as error:
        in_plain_words(error)
        raise UsageError(error.format_message(), "/roundtable help") from None
    flags = context.params
    refused = next((name for name in NOT_IN_CHAT if flags.get(name)), None)
    if refused is not None:
        raise UsageError(
            f"--{refused.replace('_', '-')} does not work in a chat.", "Use the command line."
        )
    question = " ".join(flags["question"])
    request = request_of(question, flags, settings, surface="chat", usual=asked.procedure)
    return replace(request, created_by=created_by, news=news)
