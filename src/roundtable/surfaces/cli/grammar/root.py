"""The command `roundtable` itself: which word is a command and which begins a question, and the
help in groups."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from os.path import exists
from shlex import quote
from typing import Any

import click
from click.shell_completion import CompletionItem

from ....version import __version__
from ..completing import DiscussionId

DISCUSSION = DiscussionId()
_WHOLE_ID = re.compile(r"rt_[0-9a-f]{8}")
_OWN = ("--help", "-h", "--version")
SECTIONS = {
    "ask": "Ask",
    "read": "Read",
    "lead": "Lead a discussion by hand",
    "serve": "Serve",
    "fleet": "Many machines",
    "set_up": "Set up",
}
"""The groups of the help, each under the name of the file that holds its commands."""
A_QUESTION = 3
"""Words that no longer look like a slip in a command."""
MORE_THAN_A_COMMAND = 2
LAST = "last"
CONTEXT = "--context"
QUESTION_MARKS = ("?", "？", "؟")


class FindingCommand(click.Command):
    """A command that gets the whole ids of the discussions that are meant, and all files that a
    shell makes of a pattern. Ids are looked for when it is carried out: a line can be understood
    where there is no ledger."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        takes = any(CONTEXT in each.opts for each in self.params)
        return super().parse_args(ctx, _with_all_files(args) if takes else args)

    def invoke(self, ctx: click.Context) -> Any:
        for each in self.params:
            here = isinstance(each.type, DiscussionId)
            called = ctx.params.get(each.name or "") if here else None
            if called and not _WHOLE_ID.fullmatch(called):
                from ..with_app import find_here

                ctx.params[each.name or ""] = find_here(called)
        return super().invoke(ctx)


def _with_all_files(args: Sequence[str]) -> list[str]:
    """`--context *.md`, of which a shell makes `--context a.md b.md`, with each file behind a
    `--context` of its own. UsageError where they may as well be the beginning of a question that is
    not in quotes: neither must be lost."""
    found: list[str] = []
    rest = list(args)
    while rest:
        found.append(rest.pop(0))
        if found[-1] == CONTEXT and rest:
            found.append(rest.pop(0))
            files = list(takewhile(exists, rest))
            after = rest[len(files) :]
            words = list(takewhile(lambda word: not word.startswith("-"), after))
            if files and words and not any(len(word.split()) > 1 for word in words):
                _refuse_unclear(files)
            found += [word for file in files for word in (CONTEXT, file)]
            rest = after
    return found


def _refuse_unclear(files: Sequence[str]) -> None:
    from ....core.errors import UsageError
    from ....core.text import listed

    raise UsageError(
        f"{listed(files)} may be documents, or the first words of the question.",
        "Put the question in quotation marks, or before --context.",
    )


class Grammar(click.Group):
    """A group whose default command is `ask`, so that a question can be asked straight away, with
    or without quotes. A first word that is a command is that command: nothing is paid for by
    mistake, and what was meant as a question is told how it is asked."""

    command_class = FindingCommand

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in _OWN:
            if not ctx.resilient_parsing:
                self._refuse_typo(ctx, args)
            args = ["ask", *args]
        return super().parse_args(ctx, args)

    def _refuse_typo(self, ctx: click.Context, args: list[str]) -> None:
        """`roundtable lsit`, `shwo rt_1a2b3c4d` or `version` is a slip, not a question to pay for.
        One word alone is none, whatever it is, unless it or a flag of asking says so."""
        words = _words(args)
        if not "".join(words).strip():  # asked as it is, it is told that it is empty
            return
        if len(words) >= A_QUESTION or words[-1].endswith(QUESTION_MARKS):
            return
        near = self._near(words[0].lower())
        if near and not self._asks(args, near):
            meant = f"Did you mean {near!r}?"
        elif any(map(_names_one, words[1:])) or (is_one_word(words) and not self._asks(args)):
            own = f"--{words[0]}"
            meant = f"Did you mean {own}?" if own in _OWN else "All commands: roundtable --help."
        else:
            return
        raise click.UsageError(
            f"No such command {args[0]!r}. {meant} To ask it as a question: {_as_question(args)}",
            ctx,
        )

    def _near(self, word: str) -> str:
        """The command that a slip of the fingers makes of this word; empty if there is none."""
        from difflib import get_close_matches

        # They swap letters, or miss one, and hardly ever the first: “what” is no “chat”.
        like = [each for each in self.commands if word[:1] == each[0] or word[1::-1] == each[:2]]
        return next(iter(get_close_matches(word, like, n=1, cutoff=0.75)), "")

    def _asks(self, args: Sequence[str], command: str = "") -> bool:
        """Whether a flag on the line is one of `ask` and none of this command. Where none is meant,
        flags for what one sees say nothing: many commands have them."""
        from .ask import SEEN

        flags = {each.partition("=")[0] for each in args if each.startswith("-")}
        ask = self.commands["ask"].params
        taken = self.commands[command].params if command else [p for p in ask if p.name in SEEN]
        return bool(flags & _flags(ask) - _flags(taken))

    def meant_as_question(self, args: Sequence[str]) -> str:
        """How to ask it, where a line that failed as a command may have been a question, such as
        `roundtable compare Postgres and MySQL`; empty where it names a discussion, or a command
        within this one."""
        if not args or args[0] not in self.commands or args[0] == "ask":
            return ""
        words = _words(args)
        command = self.commands[args[0]]
        if isinstance(command, click.Group) and any(each in command.commands for each in args[1:2]):
            return ""
        if args[0] == "tool" and _calls_a_tool(args):
            return ""
        # “add last notes.md” is a command, “compare last year and this year” hardly.
        named = words if len(words) <= A_QUESTION else [each for each in words if each != LAST]
        if len(words) < MORE_THAN_A_COMMAND or any(map(_names_one, named)):
            return ""
        return f"“{args[0]}” is a command. To ask it as a question: {_as_question(args)}"

    @property
    def grouped(self) -> dict[str, dict[str, click.Command]]:
        """The commands that people are shown, by the titles of their groups: that of a command is
        the file that it stands in."""
        found: dict[str, dict[str, click.Command]] = {title: {} for title in SECTIONS.values()}
        for name, command in self.commands.items():
            if not command.hidden:
                place = (command.callback.__module__ if command.callback else "").rpartition(".")[2]
                found[SECTIONS[place]][name] = command
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        # The same width for all, so that the groups read as one table.
        wide = max(len(name) for group in self.grouped.values() for name in group)
        for title, group in self.grouped.items():
            with formatter.section(title):
                rows = [
                    (name.ljust(wide), each.get_short_help_str(90)) for name, each in group.items()
                ]
                formatter.write_dl(rows)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """Its commands; and the flags of `ask`, which may stand at once."""
        found = super().shell_complete(ctx, incomplete)
        if incomplete.startswith("-"):
            known = {item.value for item in found}
            ask = self.commands["ask"].shell_complete(ctx, incomplete)
            found += [item for item in ask if item.value not in known]
        return found


def is_one_word(words: Sequence[str]) -> bool:
    """Whether these are a single word. Where letters stand without spaces, many make a sentence."""
    from ....core.text import count_words

    said = " ".join(words)
    return " " not in said and count_words(said) < MORE_THAN_A_COMMAND


def _names_one(word: str) -> bool:
    """Whether a word can only be a discussion."""
    return word == LAST or word.startswith(("example:", "rt_"))


def _calls_a_tool(args: Sequence[str]) -> bool:
    from ...toolset.toolset import OPERATIONS

    return any(each in OPERATIONS for each in args[1:2])


def _words(args: Sequence[str]) -> list[str]:
    """What stands before the first flag: behind one may stand its value."""
    return list(takewhile(lambda each: not each.startswith("-"), args))


def _as_question(args: Sequence[str]) -> str:
    """The whole line, as it is asked."""
    words = _words(args)
    said = " ".join(words).replace('"', "'")
    return " ".join(["roundtable", "ask", f'"{said}"', *map(quote, args[len(words) :])])


def _flags(params: Sequence[click.Parameter]) -> set[str]:
    return {name for each in params for name in (*each.opts, *each.secondary_opts)}


@click.group(
    cls=Grammar,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=True,
    epilog="A command's flags: roundtable COMMAND --help. The procedures: roundtable help.",
)
@click.version_option(__version__, prog_name="roundtable")
def cli() -> None:
    """Several AI experts around one table: they answer a question independently, challenge each
    other, and a neutral host delivers a verdict that can be checked.

    \b
    roundtable "Should a team of five use microservices?"
    roundtable Postgres or MongoDB for a small SaaS --quick
    roundtable "Is this design sound?" --context design.md --models opus,codex,grok

    --quick asks each expert once, for speed and cost. Without it they examine each other, at about
    twice the price, for high stakes. Without any key a small demonstration model speaks, if the
    extra demo is installed.
    """
