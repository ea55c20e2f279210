// Sharing: who can do what with which link, a new one for somebody, and an end to any of them.
import { useEffect, useState } from "./vendor/hooks.js";
import { get, post, remove } from "./api.js";
import { day } from "./format.js";
import { Dialog, Failure } from "./parts.js";
import { person } from "./reducer.js";
import { Copied, useSending } from "./sending.js";
import { html } from "./ui.js";
import { t } from "./words.js";

/** The link that was made last, and by which name it can be ended. */
const NOTHING = { url: "", id: "" };

export function Share({ base, info, state, onClose }) {
  const [links, setLinks] = useState(null);
  const [made, setMade] = useState(NOTHING);
  const { busy, error, send } = useSending();
  const load = () => get(`${base}/links`).then((found) => found.tokens.filter((each) => each.kind === "link"), () => []).then((rows) => {
    setLinks(rows);
    return rows;
  });
  useEffect(() => {
    if (info.leads) load();
  }, []);
  const renew = () => send(async () => {
    const { url } = await post(`${base}/address`);
    location.replace(new URL(url, location.href).pathname);
  });
  const end = (id) => send(async () => {
    await remove(`${base}/links/${id}`);
    // A link that leads nowhere is not handed out any more.
    if (made.id === id) setMade(NOTHING);
    await load();
  });
  return html`<${Dialog} title=${t("Share this discussion")} onClose=${onClose} wide>
    <section class="sharing">
      <${Copied} id="this-address" label=${t("Whoever has the address of this page can watch")} text=${location.origin + location.pathname} />
      <p class="soft s">${standing(info)}</p>
      ${info.leads && info.role !== "viewer" && html`<p><button type="button" class="link" disabled=${busy} onClick=${renew}>${t("Make a new address; this one stops working for everybody")}</button></p>`}
    </section>
    <${Failure} error=${error} />
    ${info.leads && html`<${Given} links=${links} state=${state} busy=${busy} onEnd=${end} />
      <${Give} base=${base} state=${state} made=${made.url} onMade=${async (url) => {
        const known = new Set((links || []).map((each) => each.id));
        const rows = await load();
        setMade({ url, id: (rows.find((each) => !known.has(each.id)) || { id: "" }).id });
      }} />`}
  <//>`;
}

/** What this browser may do, and by what. */
function standing(info) {
  if (info.role === "seat" && info.leads) return t("You hold a seat here and lead, through this browser; others who open the address do not.");
  if (info.role === "seat") return t("You hold a seat here, through this browser; others who open the address do not.");
  if (info.leads) return t("You lead through this browser; others who open the address do not.");
  return t("You watch. Only whoever leads can give out other links.");
}

function may(row, state) {
  if (row.seat) return t("Speaks for {name}", { name: person(state, row.seat).name });
  return row.may.includes("lead") ? t("Leads") : t("Watches");
}

function Given({ links, state, busy, onEnd }) {
  if (links === null) return html`<p class="soft s" role="status">${t("Looking for links")}</p>`;
  if (!links.length) return html`<p class="soft s">${t("No other link was given out.")}</p>`;
  return html`<table class="given"><caption>${t("Links that were given out")}</caption>
    <thead><tr><th scope="col">${t("For")}</th><th scope="col">${t("May")}</th><th scope="col">${t("Until")}</th><th><span class="sr">${t("End it")}</span></th></tr></thead>
    <tbody>${links.map((row) => html`<tr key=${row.id}><th scope="row" dir="auto">${row.label || t("Without a name")}</th><td dir="auto">${may(row, state)}${row.locked ? ` ${t("(with a password)")}` : ""}</td>
      <td>${row.expires ? day(row.expires) : t("Until it is ended")}</td>
      <td><button type="button" class="link" disabled=${busy} onClick=${() => onEnd(row.id)} aria-label=${t("End the link for {name}", { name: row.label || t("Without a name") })}>${t("End it")}</button></td></tr>`)}</tbody></table>`;
}

function Give({ base, state, made, onMade }) {
  const [role, setRole] = useState("viewer");
  const [seat, setSeat] = useState(state.seats[0] || "");
  const [label, setLabel] = useState("");
  const [hours, setHours] = useState("");
  const [password, setPassword] = useState("");
  const { busy, error, send } = useSending();
  const submit = (event) => {
    event.preventDefault();
    send(async () => {
      const body = { role, label: label.trim() };
      if (role === "seat") body.seat = seat;
      if (hours) body.hours = Number(hours);
      if (password) body.password = password;
      const { url } = await post(`${base}/share`, body);
      onMade(new URL(url, location.href).href);
    });
  };
  const choice = (value, text) => html`<label class="choice"><input type="radio" name="role" checked=${role === value} onChange=${() => setRole(value)} /> ${text}</label>`;
  return html`<form class="give" onSubmit=${submit}>
    <h3>${t("A link for somebody else")}</h3>
    <fieldset><legend>${t("Who opens it may")}</legend>
      ${choice("viewer", t("watch"))}
      ${!state.closed && choice("seat", t("speak for a seat"))}
      ${choice("host", t("lead, as you do"))}</fieldset>
    ${role === "seat" && html`<label>${t("Seat")}<select value=${seat} onChange=${(event) => setSeat(event.target.value)}>${state.seats.map((id) => html`<option value=${id} selected=${id === seat}>${person(state, id).name}</option>`)}</select></label>`}
    <div class="pair"><label>${t("For whom (optional)")}<input type="text" dir="auto" value=${label} onInput=${(event) => setLabel(event.target.value)} /></label>
      <label>${t("Valid for hours (optional)")}<input type="number" min="1" value=${hours} placeholder=${t("until it is ended")} onInput=${(event) => setHours(event.target.value)} /></label>
      <label>${t("Password (optional)")}<input type="text" autocomplete="off" value=${password} onInput=${(event) => setPassword(event.target.value)} /></label></div>
    <${Failure} error=${error} />
    ${made && html`<${Copied} key=${made} id="shared-link" label=${t("The link; it is shown this once")} text=${made} />`}
    <p class="buttons"><button type="submit" class="main" disabled=${busy}>${t("Make a link")}</button></p>
  </form>`;
}
