// Sending something to the program, and forms in windows that do it. What is refused stays to be read.
import { useRef, useState } from "./vendor/hooks.js";
import { post } from "./api.js";
import { Dialog, Failure } from "./parts.js";
import { html } from "./ui.js";
import { t } from "./words.js";

/** Sends something, shows that it is under way, and keeps what was refused. */
export function useSending() {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(null);
  const under = useRef(false);
  const send = async (work) => {
    if (under.current) return false;
    under.current = true;
    setBusy(true);
    setError(null);
    try {
      await work();
      return true;
    } catch (refused) {
      setError(refused);
      return false;
    } finally {
      under.current = false;
      setBusy(false);
    }
  };
  return { busy, error, send, setError };
}

/** A form in a window: what is refused stays in it. */
export function Form({ title, action, path, body, onClose, children, danger = false, ready = true }) {
  const { busy, error, send } = useSending();
  const submit = async (event) => {
    event.preventDefault();
    if (ready && (await send(() => post(path, body())))) onClose();
  };
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <form onSubmit=${submit}>
      ${children}
      <${Failure} error=${error} />
      <p class="buttons"><button type="button" class="quiet" onClick=${onClose}>${t("Cancel")}</button>
      <button type="submit" class=${danger ? "danger" : "main"} disabled=${busy || !ready}>${action}</button></p>
    </form>
  <//>`;
}

/** A text that can be taken along, with the button that does it. */
export function Copied({ label, text, id }) {
  const [done, set] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      set(true);
    } catch {
      document.getElementById(id).select();
    }
  };
  return html`<div class="made"><label>${label}<input id=${id} type="text" readonly value=${text} onFocus=${(event) => event.target.select()} /></label>
    <button type="button" onClick=${copy}>${done ? t("Copied") : t("Copy")}</button></div>`;
}
