// Keys of model providers, for the owner: which there are, a new one tried and kept. A key is sent
// once and never comes back.
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { get, post, remove } from "../api.js";
import { Dialog, Failure } from "../parts.js";
import { html } from "../ui.js";
import { later, t } from "../words.js";

const HELD = {
  environment: later("Set outside of this page"),
  file: later("Kept in keys.toml"),
  keyring: later("Kept in the system's keyring"),
  none: later("No key"),
};

export function Keys({ onClose, onChange }) {
  const [rows, setRows] = useState(null);
  const [error, setError] = useState(null);
  const [open, setOpen] = useState("");
  const [told, setTold] = useState("");
  const load = async () => {
    try {
      setRows(await get("/api/keys"));
    } catch (refused) {
      setError(refused);
    }
  };
  useEffect(() => {
    load();
  }, []);
  const changed = (what) => {
    setTold(what);
    setOpen("");
    load();
    onChange();
  };
  const forget = async (each) => {
    setError(null);
    try {
      await remove(`/api/keys/${each.provider}`);
      changed(t("The key of {provider} is forgotten.", { provider: each.label }));
    } catch (refused) {
      setError(refused);
    }
  };
  return html`<${Dialog} title=${t("Keys")} wide onClose=${onClose}>
    <p class="soft s">${rows && rows.place === "keyring"
      ? t("A key stays on this machine, in the system's keyring. It is never shown again.")
      : t("A key stays on this machine, in a file that only you can read. It is never shown again.")}</p>
    ${rows && rows.refused && html`<p class="alert" role="note">${rows.refused}</p>`}
    <p class="told" role="status">${told}</p>
    <${Failure} error=${error} />
    ${rows && html`<ul class="providers">${rows.providers.map((each) => html`<li key=${each.provider}>
      <div class="provider"><b>${each.label}</b><span class=${each.held === "none" ? "soft s" : "chip"}>${t(HELD[each.held])}</span>
        <span class="doing">${(each.held === "file" || each.held === "keyring") && html`<button type="button" class="quiet" aria-label=${t("Forget the key of {provider}", { provider: each.label })} onClick=${() => forget(each)}>${t("Forget")}</button>`}
        ${each.held !== "environment" && !rows.refused && html`<button type="button" aria-expanded=${open === each.provider} aria-label=${each.held === "none" ? t("Enter a key of {provider}", { provider: each.label }) : t("Replace the key of {provider}", { provider: each.label })} onClick=${() => {
          setError(null);
          setOpen(open === each.provider ? "" : each.provider);
        }}>${each.held === "none" ? t("Enter a key") : t("Replace")}</button>`}</span></div>
      ${open === each.provider && html`<${Enter} provider=${each} onKept=${changed} />`}</li>`)}</ul>`}
  <//>`;
}

function Enter({ provider, onKept }) {
  const [key, setKey] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(null);
  const field = useRef(null);
  useEffect(() => field.current.focus(), []);
  const keep = async (event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const kept = await post("/api/keys", { provider: provider.provider, key: key.trim() });
      setKey("");
      onKept(kept.tried === "answers"
        ? t("{provider} answers. The key is kept.", { provider: provider.label })
        : t("The key is kept, but it could not be tried: {why}", { why: kept.told }));
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  };
  return html`<form class="enter" onSubmit=${keep}>
    <label>${t("Key of {provider}", { provider: provider.label })}<input type="password" autocomplete="off" spellcheck=${false} ref=${field} maxlength="4000" value=${key} onInput=${(event) => setKey(event.target.value)} /></label>
    ${provider.get && html`<p class="soft s">${provider.get}</p>`}
    <${Failure} error=${error} />
    <p class="buttons"><button type="submit" class="main" disabled=${busy || !key.trim()}>${busy ? t("Trying it") : t("Try and keep it")}</button></p></form>`;
}
