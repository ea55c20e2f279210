"""CommandSpeaker: command-line agents on the user's own subscription, as speakers.

An agent is started for each call, in an empty folder of its own, with its prompt as a file, and
with no more of the environment than a program needs to find itself: no key of Roundtable's and no
key of a provider. It costs what its user pays for it anyway, so that a call is priced at zero.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from ..core.agents import EFFORT, MODEL, PROMPT_FILE, SYSTEM_FILE, CommandAgent
from ..core.errors import FailureCause, SpeakerError
from ..core.text import clip, estimate_tokens, redact
from ..core.values import Usage
from ..leftovers import MARK, Leftovers
from ..listening import Listening
from ..ports import CUT, OnWords, Reply, SpeakRequest
from ..private import private_opener
from ..program_runner import MOST_OUTPUT, Ended, TooMuchOutput, run_program
from ..programs import WORKSPACE, child, find_program, workspace_of
from .command_output import Heard, Tokens, listener
from .command_words import plain

# fmt: off
ALWAYS_SEEN = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP",
    "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
    "SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "WINDIR", "USERPROFILE", "HOMEDRIVE",
    "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES",
)
# fmt: on
"""Variables that every agent may see: where things are, never who may use them."""
_NO_SCREEN = {"TERM": "dumb", "NO_COLOR": "1"}

_CAUSES: tuple[tuple[FailureCause, re.Pattern[str]], ...] = (
    (
        "rate_limited",
        re.compile(
            r"rate.?limit|usage limit|hit your .*limit|too many requests|\b429\b|quota|overloaded",
            re.I,
        ),
    ),
    (
        "too_long",
        re.compile(
            r"prompt is too long|context (?:window|length)|maximum context|too many tok", re.I
        ),
    ),
    (
        "auth",
        re.compile(
            r"\blog ?in\b|/login|not logged|unauthori[sz]ed|authenticat|api key|credential"
            r"|\b40[13]\b",
            re.I,
        ),
    ),
    ("not_found", re.compile(r"model.{0,80}not (?:found|exist|supported)|unknown model", re.I)),
)


class CommandSpeaker:
    """Speaks for `cmd/NAME` and `cmd/NAME:MODEL`."""

    def __init__(
        self,
        agents: Mapping[str, CommandAgent],
        env: Mapping[str, str] | None = None,
        *,
        most_output: int = MOST_OUTPUT,
        calls: Path | None = None,
    ) -> None:
        """`env` is what an agent's environment is chosen from; by default the process's. In the
        folder `calls` is noted what runs, for whoever starts after we were killed."""
        self._agents = agents
        self._env = os.environ if env is None else env
        self._most_output = most_output
        self._leftovers = Leftovers(calls)

    async def speak(self, request: SpeakRequest, on_words: OnWords) -> Reply:
        name, _, model = request.model.partition("/")[2].partition(":")
        agent = self._agents.get(name)
        if agent is None:
            raise SpeakerError("not_found", f"There is no command-line agent {name!r}.")
        program = self._program(name, agent)
        listening = Listening.to(request, on_words)
        ears = listener(agent, listening.heard)

        def hear(output: bytes) -> None:
            ears.take(output)
            listening.heard("")  # whatever it wrote, it is alive

        cut = False
        with self._leftovers.call() as call:
            scratch = call.folder
            prompt, paths = _write(scratch, agent, request)
            command = [program, *_arguments(name, agent, model, paths), *_effort(agent, request)]
            folder = _folder(name, agent, scratch, workspace_of(self._env))
            try:
                async with listening:
                    ended = await run_program(
                        child(command, self._environment(agent) | {MARK: call.mark}, folder=folder),
                        stdin=prompt,
                        on_output=hear,
                        most_output=self._most_output,
                        timeout=agent.timeout,
                        on_start=call.begun,
                    )
            except TooMuchOutput:
                # It was ended for it; what it had said by then is an answer without an end.
                cut, ended = True, Ended(0, b"")
            except TimeoutError:
                told = listening.told
                if agent.timeout is not None and not listening.expired:
                    told = f"did not finish within {agent.timeout:g} s"
                raise SpeakerError("timeout", f"{name} {told}, and was ended.") from None
            except OSError as error:
                message = f"{name} cannot be started: {error.strerror or error}."
                raise SpeakerError("unavailable", message, agent.get) from None
        heard = ears.finish()
        if cut and not (heard.understood and heard.text):
            message = f"{name} wrote more than anybody could read, and was ended."
            raise SpeakerError("garbled", message)
        _refuse_what_failed(name, agent, ended, heard)
        return Reply(
            text=heard.text,
            usage=_usage(request, heard),
            served_by=heard.served_by or request.model,
            finish_reason=CUT if cut else "stop",
            unheeded=("effort",) if request.effort and not agent.effort_args else (),
        )

    async def close(self) -> None:
        """There is nothing to close: no agent outlives its call."""

    def _program(self, name: str, agent: CommandAgent) -> str:
        found = find_program(agent.program, self._env)
        if found is None:
            raise SpeakerError(
                "not_found",
                f"{name} is not installed: there is no {agent.program!r} on PATH, outside the "
                "current folder.",
                agent.get or f"Install it, or correct commands.{name}.command in config.toml.",
            )
        return found

    def _environment(self, agent: CommandAgent) -> dict[str, str]:
        seen = {*ALWAYS_SEEN, WORKSPACE, *agent.env}
        chosen = {
            key: value
            for key, value in self._env.items()
            if key in seen or (key.startswith("LC_") and key.isidentifier())
        }
        return {**chosen, **_NO_SCREEN, **agent.set_env}


def _write(
    scratch: Path, agent: CommandAgent, request: SpeakRequest
) -> tuple[bytes, dict[str, Path]]:
    """What the agent finds on its standard input, and the files that it is told of by name, beside
    the folder in which it runs. What no argument names is in no file."""
    separate = any(SYSTEM_FILE in argument for argument in agent.command)
    user = request.user if separate else f"{request.system}\n\n{request.user}".strip()
    texts = {PROMPT_FILE: _bytes(user), SYSTEM_FILE: _bytes(request.system)}
    paths = {
        PROMPT_FILE: scratch / "prompt.txt",
        SYSTEM_FILE: scratch / "system.txt",
    }
    for name, path in paths.items():
        if any(name in argument for argument in agent.command):
            with open(path, "xb", opener=private_opener) as file:
                file.write(texts[name])
    (scratch / "empty").mkdir()
    return texts[PROMPT_FILE] if agent.prompt == "stdin" else b"", paths


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _arguments(name: str, agent: CommandAgent, model: str, paths: Mapping[str, Path]) -> list[str]:
    if model and not agent.model_args:
        raise SpeakerError(
            "bad_request",
            f"{name} cannot be told which model to use.",
            f"Name it without a model (cmd/{name}), or set commands.{name}.model_args.",
        )
    if model.startswith("-"):
        raise SpeakerError("bad_request", f"{model!r} is no model of {name}.")
    filled = [
        argument.replace(PROMPT_FILE, str(paths[PROMPT_FILE])).replace(
            SYSTEM_FILE, str(paths[SYSTEM_FILE])
        )
        for argument in agent.command[1:]
    ]
    chosen = [argument.replace(MODEL, model) for argument in agent.model_args] if model else []
    return [*filled, *chosen]


def _effort(agent: CommandAgent, request: SpeakRequest) -> list[str]:
    if request.effort is None:
        return []
    return [argument.replace(EFFORT, request.effort) for argument in agent.effort_args]


def _folder(name: str, agent: CommandAgent, scratch: Path, workspace: Path) -> Path:
    if agent.folder is None:
        return scratch / "empty"
    folder = workspace / Path(agent.folder).expanduser()
    if not folder.is_dir():
        raise SpeakerError(
            "bad_request",
            f"The folder of {name}, {folder}, does not exist.",
            f"Correct commands.{name}.folder in config.toml.",
        )
    return folder


def _refuse_what_failed(name: str, agent: CommandAgent, ended: Ended, heard: Heard) -> None:
    """Raises unless this is an answer."""
    if heard.failure or ended.code:
        told = heard.failure or heard.complaint or _last_line(ended.complaints)
        how = f"ended with code {ended.code}" if ended.code >= 0 else "was ended from outside"
        raise _failure(name, agent, how if ended.code else "could not answer", told)
    if not heard.understood:
        raise SpeakerError(
            "garbled",
            f"{name} did not answer in the form that was expected ({agent.output}).",
            f"Look at what `{agent.program}` prints, and at commands.{name} in config.toml.",
        )
    if not heard.text:
        told = heard.complaint or _last_line(ended.complaints)
        raise SpeakerError("empty", f"{name} answered without a word{_quoted(told)}.")


def _failure(name: str, agent: CommandAgent, how: str, told: str) -> SpeakerError:
    cause: FailureCause = next(
        (cause for cause, words in _CAUSES if words.search(told)), "unavailable"
    )
    by_itself = f"Try `{agent.program}` by itself in a terminal."
    remedies: dict[FailureCause, str] = {
        "auth": agent.log_in or by_itself,
        "rate_limited": "Wait until your subscription allows more, or give the seat to another.",
        "too_long": "Shorten the question and its context.",
    }
    return SpeakerError(cause, f"{name} {how}{_quoted(told)}.", remedies.get(cause, by_itself))


def _quoted(told: str) -> str:
    words = clip(" ".join(redact(plain(told)).split()), 300).rstrip(".")
    return f": {words}" if words else ""


def _last_line(complaints: bytes) -> str:
    lines = [line.strip() for line in plain(complaints.decode("utf-8", "replace")).splitlines()]
    return next((line for line in reversed(lines) if line), "")


def _usage(request: SpeakRequest, heard: Heard) -> Usage:
    """What the agent counted, and an estimate of what it did not; covered by the subscription
    either way."""
    tokens = heard.tokens or Tokens()
    return Usage(
        calls=1,
        input_tokens=tokens.read or estimate_tokens(request.system + request.user),
        output_tokens=tokens.written or estimate_tokens(heard.text),
        cached_tokens=tokens.cached,
    )
