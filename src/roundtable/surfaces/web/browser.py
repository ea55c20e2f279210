"""The browser: whether there is one to show a page in, and how it is opened."""

from __future__ import annotations

import shlex
import subprocess
import sys
import webbrowser
from collections.abc import Mapping


def has_display(env: Mapping[str, str], platform: str = sys.platform) -> bool:
    """Whether a window can be shown to whoever started this process."""
    if env.get("CI") or env.get("SSH_CONNECTION") or env.get("SSH_TTY"):
        return False
    if platform in ("darwin", "win32"):
        return True
    return bool(env.get("DISPLAY") or env.get("WAYLAND_DISPLAY"))


def open_browser(url: str, command: str | None = None) -> str:
    """Show a page, by the user's own command or the system's browser. What went wrong, or an
    empty text. `{url}` in the command stands for the address, which otherwise comes last."""
    try:
        if command is None:
            opened = webbrowser.open(url)
            return "" if opened else "No browser could be opened."
        words = shlex.split(command)
        if not words:
            return "The setting `browser` is empty."
        arguments = [word.replace("{url}", url) for word in words]
        if arguments == words:
            arguments.append(url)
        browser = subprocess.Popen(  # noqa: S603 - the command that the user set
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        _let_go(browser)
    except (OSError, ValueError, webbrowser.Error) as error:
        return f"The browser could not be opened: {error}."
    return ""


def _let_go(browser: subprocess.Popen[bytes]) -> None:
    """It stays open as long as its user likes: a thread takes notice when it ends."""
    import threading

    threading.Thread(target=browser.wait, daemon=True, name="browser").start()
