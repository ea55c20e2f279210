"""From a board's settings to the board."""

from __future__ import annotations

from collections.abc import Mapping

from ..core.errors import BadSetting, UnknownName
from ..ports import TaskBoard
from .base import read_token


def check_board(
    name: str, boards: Mapping[str, Mapping[str, object]], env: Mapping[str, str]
) -> None:
    """The errors of `make_board`, and BoardError if what it will need is missing: its token, its
    program."""
    make_board(name, boards, env)
    board = boards[name]
    command = board.get("command")
    if board.get("kind") == "command" and isinstance(command, list | tuple):
        from .command import check_program

        check_program(name, str(command[0]), env)
        return
    usual = "GITHUB_TOKEN" if board.get("kind") == "github" else ""
    if variable := str(board.get("token_env") or usual):
        read_token(env, variable, f"The board {name}")


def make_board(
    name: str, boards: Mapping[str, Mapping[str, object]], env: Mapping[str, str]
) -> TaskBoard:
    """The board of this name. UnknownName if no settings describe it, BadSetting if they are not
    enough for its kind."""
    if name not in boards:
        remedy = None if boards else f"Describe it in config.toml, under [boards.{name}]."
        raise UnknownName("task board", name, list(boards), remedy=remedy)
    board = boards[name]
    where = f"boards.{name}"
    match board.get("kind"):
        case "github":
            from .github import PUBLIC_API, GitHubBoard

            repo = str(board.get("repo") or "")
            if repo.count("/") != 1 or not all(repo.split("/")):
                raise BadSetting(where, "repo", "owner/name")
            token = str(board.get("token_env") or "GITHUB_TOKEN")
            return GitHubBoard(name, repo, env, token, str(board.get("url") or PUBLIC_API))
        case "webhook":
            from .webhook import WebhookBoard

            url = str(board.get("url") or "")
            if not url.startswith(("http://", "https://")):
                raise BadSetting(where, "url", "an address that begins with http:// or https://")
            return WebhookBoard(name, url, env, str(board.get("token_env") or ""))
        case _:
            from .command import CommandBoard

            command = board.get("command") or ()
            if not isinstance(command, list | tuple) or not command:
                raise BadSetting(where, "command", "a program and its arguments, as a list")
            return CommandBoard(name, [str(part) for part in command], env)
