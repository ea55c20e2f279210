"""Command-line agents: programs on the user's own subscription that can hold a seat.

How each is started without a person at its screen, how it gets its prompt, and in which form it
answers. Data only: whoever starts them is in `speakers.command`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from .values import Effort, Seconds, Value

PROVIDER = "cmd"
CONTEXT_WINDOW = 100_000
"""Tokens that any of them takes in: what is known of the models behind them is a guess."""
PROMPT_FILE, SYSTEM_FILE = "{prompt_file}", "{system_file}"
MODEL, EFFORT = "{model}", "{effort}"
_PLACEHOLDER = re.compile(r"\{[a-z_]+\}")
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]*")

OutputForm = Literal["text", "json", "jsonl", "claude", "codex", "gemini", "opencode"]


class CommandAgent(Value):
    """One agent: what is run, and what it may see."""

    command: tuple[str, ...] = Field(min_length=1)
    """The program and its arguments; no shell reads them."""
    prompt: Literal["stdin", "file"] = "stdin"
    """Where it finds the prompt: on standard input, or in the file of `{prompt_file}`."""
    output: OutputForm = "text"
    path: str = ""
    """For json and jsonl: where the words are, for example `result.text` or `choices.0.text`."""
    model_args: tuple[str, ...] = ()
    """Further arguments for `cmd/NAME:MODEL`, with `{model}` in them."""
    effort_args: tuple[str, ...] = ()
    """Further arguments where an effort is asked for, with `{effort}` in them."""
    timeout: float | None = Field(default=None, gt=0)
    """Seconds for a whole answer, beside the limits on silence that hold for every speaker."""
    first_word: Seconds | None = None
    silence: Seconds | None = None
    effort: Effort | None = None
    folder: str | None = None
    """Where it runs. An empty folder of its own unless the user names one."""
    env: tuple[str, ...] = ()
    """Names of further variables that it may see."""
    set_env: dict[str, str] = Field(default_factory=dict)
    family: str = ""
    tags: tuple[str, ...] = ()
    context_window: int = Field(default=CONTEXT_WINDOW, gt=0)
    get: str = ""
    """One line on how to come by it."""
    log_in: str = ""
    """One line on how to log in to it."""

    @field_validator("command", "model_args", "effort_args", "env", "tags", mode="before")
    @classmethod
    def _one_is_a_list(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _is_complete(self) -> CommandAgent:
        if self.output in ("json", "jsonl") and not self.path:
            raise PydanticCustomError("path", f"a path to the words (output is {self.output})")
        if (self.prompt == "file") != (PROMPT_FILE in " ".join(self.command)):
            expected = f"{PROMPT_FILE} among the arguments exactly when prompt is file"
            raise PydanticCustomError("prompt_file", expected)
        known = {PROMPT_FILE, SYSTEM_FILE}
        used = set(_PLACEHOLDER.findall(" ".join(self.command)))
        if unknown := sorted(used - known):
            expected = f"no other placeholders than {', '.join(sorted(known))}, not {unknown[0]}"
            raise PydanticCustomError("placeholder", expected)
        if self.model_args and MODEL not in " ".join(self.model_args):
            raise PydanticCustomError("model_args", f"{MODEL} in model_args")
        if self.effort_args and EFFORT not in " ".join(self.effort_args):
            raise PydanticCustomError("effort_args", f"{EFFORT} in effort_args")
        return self

    @property
    def program(self) -> str:
        return self.command[0]


def completed(rows: Any) -> Any:
    """What a user wrote about agents, laid over what is built in; of whatever kind it is, for
    whoever checks it."""
    if not isinstance(rows, Mapping):
        return rows
    for name in rows:
        if not _NAME.fullmatch(str(name)):
            raise PydanticCustomError(
                "agent_name", "names of small letters, digits, dots and hyphens"
            )
    return {
        name: {**_BUILT_IN.get(name, {}), **row} if isinstance(row, Mapping) else row
        for name, row in rows.items()
    }


def names_program(model: str) -> bool:
    """Whether a model's name, as a person writes it, means a command-line agent."""
    return model.strip().casefold().startswith(f"{PROVIDER}/")


def on_subscription(model: str) -> bool:
    """Whether a model's calls are covered by a subscription of the user's own."""
    return model.startswith(f"{PROVIDER}/")


# None of them gets tools, folders or servers that the seat was not given, keeps the session, or
# waits for a person. What each takes for that was looked up in its own documentation.
_BUILT_IN: dict[str, dict[str, Any]] = {
    "claude": {
        "command": (
            *("claude", "-p", "--output-format", "stream-json", "--verbose"),
            *("--include-partial-messages", "--tools", "", "--strict-mcp-config"),
            *("--no-session-persistence", "--system-prompt-file", SYSTEM_FILE),
        ),
        "output": "claude",
        "model_args": ("--model", MODEL),
        "effort_args": ("--effort", EFFORT),
        "env": ("CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN"),
        "family": "claude",
        "tags": ("balanced", "general", "code", "technical", "engineering", "logic"),
        "get": "Install Claude Code (https://claude.com/claude-code) and log in to it.",
        "log_in": "Start `claude` once by itself and log in.",
    },
    "codex": {
        "command": (
            *("codex", "exec", "--json", "--skip-git-repo-check", "--ephemeral"),
            *("--ignore-user-config", "--ignore-rules", "--sandbox", "read-only"),
            *("-c", "features.shell_tool=false", "-c", "features.unified_exec=false"),
        ),
        "output": "codex",
        "model_args": ("--model", MODEL),
        "effort_args": ("-c", f'model_reasoning_effort="{EFFORT}"'),
        "env": ("CODEX_HOME",),
        "family": "gpt",
        "tags": ("code", "technical", "engineering", "logic", "general"),
        "get": "Install Codex (https://developers.openai.com/codex) and run `codex login`.",
        "log_in": "Run `codex login`.",
    },
    "gemini": {
        "command": (
            *("gemini", "--output-format", "stream-json", "--approval-mode", "default"),
            *("--skip-trust", "--extensions", "none", "-p", "Answer the message above."),
        ),
        "output": "gemini",
        "model_args": ("--model", MODEL),
        "env": ("GEMINI_CLI_HOME", "GOOGLE_CLOUD_PROJECT"),
        "family": "gemini",
        "tags": ("creative", "design", "knowledge", "general", "long-context"),
        "get": "Install the Gemini CLI (https://geminicli.com) and log in to it.",
        "log_in": "Start `gemini` once by itself and log in.",
    },
    "opencode": {
        "command": ("opencode", "run", "--format", "json"),
        "output": "opencode",
        "model_args": ("--model", MODEL),
        "env": ("OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR"),
        "set_env": {"OPENCODE_PERMISSION": '{"*":"deny"}'},
        "family": "opencode",
        "tags": ("code", "technical", "general"),
        "get": "Install OpenCode (https://opencode.ai) and run `opencode auth login`.",
        "log_in": "Run `opencode auth login`.",
    },
}
BUILT_IN: Mapping[str, CommandAgent] = MappingProxyType(
    {name: CommandAgent.model_validate(row) for name, row in _BUILT_IN.items()}
)
