"""`roundtable setup`: the set-up on a terminal."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import click

from ...core.addresses import wrong_address
from ...core.errors import NewerFile, RoundtableError, UsageError
from ...core.extras import install
from ...core.key_shapes import looks_like_key, vendor_of_key
from ...core.text import redact
from ...models.discovery import embedded_installed
from ...models.keyed import server_of
from ...models.provider import Provider
from ...private import keep_private
from ...provider_keys import is_sound_address, is_sound_key
from ...search.choose import choose_search
from ...settings import Settings, home_folder, read_settings
from ...user_procedures import ProcedureFiles
from ..doctor.reach import Reached, reach_provider
from ..setup.around import Around, look_around
from ..setup.keys import Entered, entered_for, how_to_get, listed_at, not_theirs, with_key
from ..setup.question import Question, options
from ..setup.stored import cannot_write, read_stored, store_config
from ..setup.stronger import Stronger, kept_in_vain
from ..setup.suggest import speakers, wizard_for
from ..setup.wizard import BACK, KEY_SEEN, Wizard
from .here import tell_once, workspace_here
from .terminal import echo, echo_error, echo_prose, is_terminal

NOBODY = "No model can speak here yet."
_ADDRESS = "enter the address of another server (vLLM, LiteLLM, a company's gateway)"
_WAYS = (
    ("paste the key of a provider (OpenAI, Anthropic, Google …)", "key"),
    (
        "use a server on this machine (Ollama, LM Studio, llama.cpp): start it, then look again",
        "look",
    ),
    (_ADDRESS, "address"),
)
COMPATIBLE = "openai"
"""Under whose name any compatible server is called."""
WITHOUT = "go on without: the demonstration model shows how a table works, but cannot reason"
WITHOUT_ANYBODY = "go on without: then no model can speak; to get the demonstration model"
_MARKS = {"ok": "✓", "doubtful": "?", "missing": "·", "broken": "✗"}


def setup_command(*, yes: bool = False) -> int:
    """Needs no valid settings: it is also the way out of a broken config.json."""
    settings = _settings()
    keep_private(settings.home)
    stored = _stored(settings)
    dialogue = _Dialogue(settings)
    if yes:
        return dialogue.take_all(stored)
    echo_prose(WELCOME)
    try:
        return dialogue.hold(stored)
    except click.Abort:
        if dialogue.asked == 1 and not is_terminal(sys.stdin):
            raise UsageError("There is no terminal on which to ask you.", ALONE) from None
        echo_error("\nNothing was stored.")
        raise


WELCOME = (
    "Press Enter for the default in [brackets], type back to return to the previous question, or "
    "press Ctrl-C to leave without changes.\n"
)
ALONE = "Run it in one, or accept what is found here: roundtable setup --yes"


class _Dialogue:
    """One set-up at a terminal. Nothing is written before the summary is confirmed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._entered: dict[str, Entered] = {}
        """Keys that were tried and are not stored yet, by variable."""
        self._around = self._look()
        self.asked = 0

    def hold(self, stored: Mapping[str, object]) -> int:
        self._show()
        self._offer_keys()
        wizard = self._wizard(stored)
        if places := Stronger(self._settings).places():
            named = ", ".join(f"{key} ({place})" for key, place in places.items())
            echo_prose(f"  Set elsewhere, which overrides what you choose here: {named}.\n")
        while (question := wizard.question) is not None:
            typed = self._ask(question)
            if not wizard.answers and _goes_back(typed):
                self._offer_keys()
                wizard = self._wizard(stored)
                continue
            try:
                wizard = wizard.answer(typed)
            except UsageError as error:
                echo_error(str(error))
        if not wizard.confirmed:
            echo("Nothing was stored.")
            return 0
        return self._store(wizard)

    def take_all(self, stored: Mapping[str, object]) -> int:
        """Without questions: what is stored, and for the rest what was found."""
        self._show()
        wizard = self._wizard(stored)
        if not any(map(wizard.usable, wizard.proposed)):
            raise UsageError(NOBODY, f"{HOW_ON} Then run it again.")
        while (question := wizard.question) is not None:
            if question.key == "confirm":
                echo_prose(question.text.removesuffix("\nStore it?"))
            wizard = wizard.answer("")
        return self._store(wizard)

    # --- who can speak ------------------------------------------------------------------------

    def _look(self) -> Around:
        entered = self._entered.values()
        return asyncio.run(look_around(self._settings, os.environ, entered, told=tell_once))

    def _show(self) -> None:
        for each in self._around.findings:
            echo_prose(f"  {_MARKS[each.state]} {each.area}: {each.text}")
            if each.state != "ok" and each.remedy:
                echo_prose(f"      {each.remedy}")
        if self._around.findings:
            echo()

    def _offer_keys(self) -> None:
        """Until all are entered that are wanted; who goes back takes back what was entered last."""
        while self._goes_back_from_keys():
            self._take_back()

    def _goes_back_from_keys(self) -> bool:
        """Asked until somebody can speak, or nobody is wanted. Whether somebody went back."""
        while not speakers(self._around.found):
            without = WITHOUT if embedded_installed() else f"{WITHOUT_ANYBODY}: {install('demo')}"
            ways = options(*_WAYS, (without, "without"))
            question = Question("way", f"{NOBODY} How do you want to go on?", ways, default="key")
            match self._answered(question, back=BACK, keys=True):
                case Pasted(key):
                    self._enter_key(key)
                case "key":
                    self._enter_key()
                case "address":
                    self._enter_server()
                case "look":
                    click.prompt(START_ONE, default="", show_default=False, prompt_suffix="> ")
                    self._around = self._look()
                    self._show()
                    if not speakers(self._around.found):
                        echo(self._silence())
                case answer:
                    return answer == BACK
        again = Question("another", "Enter the key of another provider?", _NO_OR_YES, default=False)
        while answer := self._answered(again, back=BACK, keys=True):
            if answer == BACK:
                return True
            self._enter_key(answer.key if isinstance(answer, Pasted) else "")
        return False

    def _take_back(self) -> None:
        if not self._entered:
            echo_error("This is the first question. Ctrl-C ends the setup.")
            return
        _, last = self._entered.popitem()
        what = f"the key of {last.variable}" if last.key else f"the server {redact(last.address)}"
        echo_prose(f"  Taken back: {what}. It is not kept.")
        self._around = self._look()
        self._show()

    def _silence(self) -> str:
        """Where servers of this machine were looked for in vain."""
        around = self._around
        if not around.settings.choices.local_servers:
            return "Servers on this machine are not looked for, because local_servers is off.\n"
        places = [
            f"{each.label} at {redact(each.address(around.env) or '')}"
            for each in around.registry.providers.values()
            if each.probe is not None
        ]
        return f"No server with a model answered. Looked for {', '.join(places)}.\n"

    def _enter_key(self, pasted: str = "") -> None:
        """The key of a provider: one that was `pasted` in place of an answer, or else is asked
        for."""
        if self._around.keys.problem:
            echo_error("No key can be stored until keys.toml is corrected or removed.")
            return
        vendors = self._around.vendors
        if pasted:
            echo_prose(f"  This is taken as the key. {KEY_SEEN}")
        provider = _vendor_of(pasted, vendors)
        if provider is None:
            provider, pasted = self._asked_vendor(vendors, pasted)
        if provider is None:
            return
        key = pasted or self._typed_key(how_to_get(provider, os.environ))
        if not key:
            return
        if refused := not_theirs(provider, key, os.environ):
            echo_error(str(refused))
            return
        entered = entered_for(provider, key, os.environ)
        tried = self._tried(provider, entered)
        if tried.answer == "refuses":
            self._refuse(tried)
            return
        self._take(entered)
        if tried.answer in ("fails", "silent"):
            echo("The key could not be tested; it is kept all the same.")

    def _asked_vendor(
        self, vendors: Sequence[Provider], pasted: str
    ) -> tuple[Provider | None, str]:
        """Whose key it is, and the key, if it was pasted; nobody's where an address was entered
        instead, or nothing after all."""
        listed = options(
            *((_called(each), each.id) for each in vendors),
            ("of another server: enter its address", _ADDRESS),
            ("none after all", ""),
        )
        question = Question("vendor", "Whose key is it?", listed)
        while isinstance(chosen := self._answered(question, back="", keys=True), Pasted):
            echo_prose(f"  This is taken as the key. {KEY_SEEN}")
            pasted = chosen.key
            if (provider := _vendor_of(pasted, vendors)) is not None:
                return provider, pasted
        if chosen == _ADDRESS:
            self._enter_server()
        return next((each for each in vendors if each.id == chosen), None), pasted

    def _enter_server(self) -> None:
        """A server that speaks OpenAI's dialect, by its address; its key only if it wants one."""
        if self._around.keys.problem:
            echo_error("No address can be stored until keys.toml is corrected or removed.")
            return
        provider = self._around.registry.providers[COMPATIBLE]
        variables = (*provider.key_env, *provider.base_url_env)
        if strong := [name for name in variables if os.environ.get(name, "").strip()]:
            echo_error(
                f"{' and '.join(strong)} would override what is stored. Unset it first, or "
                "describe the server in models.toml (docs/models.md)."
            )
            return
        if not (address := self._typed_address(provider)):
            return
        entered = entered_for(provider, "", os.environ, address)
        tried = self._tried(provider, entered)
        if tried.answer == "refuses" and (key := self._typed_key("It asks for a key.")):
            entered = entered_for(provider, key, os.environ, address)
            tried = self._tried(provider, entered)
        if tried.answer != "answers":
            self._refuse(tried)
            return
        self._take(entered)

    def _tried(self, provider: Provider, entered: Entered) -> Reached:
        return asyncio.run(reach_provider(provider, with_key(os.environ, provider, entered)))

    def _refuse(self, tried: Reached) -> None:
        echo_prose(f"  ✗ {tried.finding.text} It is not kept.")
        if tried.finding.remedy:
            echo_prose(f"      {tried.finding.remedy}")

    def _take(self, entered: Entered) -> None:
        self._entered.pop(entered.variable, None)  # so that it is the last one
        self._entered[entered.variable] = entered
        self._around = self._look()
        self._show()

    def _typed_address(self, provider: Provider) -> str:
        """Empty if somebody thought better of it. Who leaves out /v1 is helped."""
        told = "Its address, such as http://gpu-box:8000/v1 (press Enter to go back)"
        while True:
            typed = str(
                click.prompt(told, default="", show_default=False, prompt_suffix="> ")
            ).strip()
            if not typed or _goes_back(typed):
                return ""
            address = provider.complete(typed)
            if not wrong_address(address):
                address = server_of(address)
            if is_sound_address(address):
                break
            expected = wrong_address(address) or "one without a user, a password and a query"
            echo_error(f"That is not the address of a server: expected {expected}.")
        heard = asyncio.run(listed_at(provider, os.environ, address))
        return heard or address

    def _typed_key(self, get: str) -> str:
        """Typed unseen; empty if somebody thought better of it."""
        if get:
            echo_prose(f"  {get}")
        while True:
            hidden = is_terminal(sys.stdin)
            told = "The key (it is not shown; press Enter to go back)"
            typed = str(
                click.prompt(
                    told, default="", show_default=False, hide_input=hidden, prompt_suffix="> "
                )
            ).strip()
            if not typed or _goes_back(typed):
                return ""
            if is_sound_key(typed):
                return typed
            echo_error(
                "That is not a key: it contains spaces, quotation marks or letters no key has. "
                "Copy only the key, and try again."
            )

    # --- the questions ------------------------------------------------------------------------

    def _wizard(self, stored: Mapping[str, object]) -> Wizard:
        search = choose_search(None, self._settings.choices.searxng_url, os.environ)
        wizard = wizard_for(
            self._around.found,
            stored,
            searches=search.name if search else "",
            own=ProcedureFiles(self._settings.procedure_folders),
        )
        stronger, in_vain = Stronger(self._settings), kept_in_vain(stored)
        return replace(
            wizard,
            more=self._keys_told(),
            told_of=lambda config: (*stronger.told(config), *in_vain),
        )

    def _keys_told(self) -> tuple[str, ...]:
        place = "the system's keyring" if self._around.keys.place == "keyring" else "keys.toml"
        entered = (
            f"key: {each.variable} for {redact(each.address)}, in {place}"
            if each.key
            else f"server: {redact(each.address)}, without a key, in keys.toml"
            for each in self._entered.values()
        )
        return (*entered, *self._named_by_variables())

    def _named_by_variables(self) -> Iterator[str]:
        """The servers that are found here, and nowhere where a variable is not set."""
        found = self._around.found
        for each in found.providers:
            provider = found.registry.providers[each.id]
            variable = provider.base_url_variable(os.environ)
            if variable is not None and not each.shut:
                address = redact(provider.address(os.environ) or "")
                yield f"server: {address}, taken from {variable}; the address is not stored"

    def _answered(self, question: Question, *, back: object = None, keys: bool = False) -> object:
        """With `keys`, whoever pastes one here has answered."""
        while True:
            typed = self._ask(question)
            if keys and looks_like_key(typed.strip()) and is_sound_key(typed.strip()):
                return Pasted(typed.strip())
            if back is not None and _goes_back(typed):
                return back
            try:
                return question.value_of(typed)
            except UsageError as error:
                echo_error(str(error))

    def _ask(self, question: Question) -> str:
        self.asked += 1
        echo_prose(str(question))
        usual = question.shown_default
        shown = f"[{usual}] > " if usual else "> "
        typed = str(click.prompt("", default="", show_default=False, prompt_suffix=shown))
        echo()
        return typed

    def _store(self, wizard: Wizard) -> int:
        keys = self._around.keys
        home = self._settings.home
        for each in self._entered.values():
            try:
                keys.put(each.variable, each.key, each.address)
            except OSError as error:
                raise cannot_write(home / "keys.toml", error) from None
        stored = store_config(home, wizard.config())
        echo(f"Stored in {stored.path}.")
        if Stronger(self._settings).told(wizard.config()):
            echo("Some of these settings have no effect; the summary says what overrides them.")
        if stored.before is not None:
            echo(f"The old file, which could not be used, is kept as {stored.before}")
        try:
            read_settings(os.environ, workspace_here())
        except UsageError as error:  # of another file, which was left out here
            echo_prose(f"Nothing will run until this is corrected as well: {error}")
            return 0
        if speakers(self._around.found) or embedded_installed():
            echo('Try it: roundtable "Should we …?"   See it: roundtable config --origin')
        else:
            echo(f"{NOBODY} {HOW_ON} The demonstration model: {install('demo')}")
        return 0


@dataclass(frozen=True, slots=True)
class Pasted:
    """A key in place of an answer."""

    key: str = field(repr=False)


def _goes_back(typed: str) -> bool:
    return typed.strip().casefold() in BACK


def _vendor_of(key: str, vendors: Iterable[Provider]) -> Provider | None:
    """Whose key it plainly is; None where that has to be asked, as where it would go to somebody
    else's server."""
    vendor = vendor_of_key(key)
    return next(
        (
            each
            for each in vendors
            if vendor and each.id == vendor.provider and not each.moved(each.address(os.environ))
        ),
        None,
    )


def _called(provider: Provider) -> str:
    """A provider among others, with the server that a variable has moved it to."""
    address = provider.address(os.environ)
    moved = provider.moved(address)
    return f"{provider.label}: {redact(server_of(address or ''))}" if moved else provider.label


_NO_OR_YES = options(("no, go on", False), ("yes", True))
START_ONE = "Start the server, then press Enter"
HOW_ON = (
    "Set a provider's key (roundtable models names the variables), or start Ollama, LM Studio or "
    "llama.cpp. `roundtable demo` shows a table without a model."
)


def _settings() -> Settings:
    """As far as they can be read; each file that cannot is told."""
    try:
        return read_settings(
            os.environ, workspace_here(), forgive=lambda _, error: tell_once(error)
        )
    except RoundtableError as error:  # a variable, or the home itself
        tell_once(error)
        return Settings(home=home_folder(os.environ), workspace=workspace_here())


def _stored(settings: Settings) -> Mapping[str, object]:
    """What the set-up starts from. Nothing is asked where nothing may be written afterwards."""
    try:
        return read_stored(settings.home)
    except NewerFile:
        raise
    except UsageError:  # told already; it is kept beside the new one
        return {}
