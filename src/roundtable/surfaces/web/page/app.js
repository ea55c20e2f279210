// Which page this is: the list, a discussion behind a link, or a discussion in a file.
import { render } from "./vendor/preact.js";
import { useEffect, useState } from "./vendor/hooks.js";
import { get, post } from "./api.js";
import { Discussion } from "./discussion.js";
import { Brand, Failure } from "./parts.js";
import { forgetSeat, keepSeat } from "./seats.js";
import { html } from "./ui.js";
import { learnWords, t } from "./words.js";

function Link({ token }) {
  const base = `/api/r/${token}`;
  const [info, setInfo] = useState(null);
  const [error, setError] = useState(null);
  const load = async () => {
    try {
      const opened = await get(base);
      if (opened.role === "seat") keepSeat(opened.discussion_id, location.pathname);
      setInfo(opened);
      setError(null);
    } catch (refused) {
      if (refused.status === 404) forgetSeat(location.pathname);
      setError(refused);
    }
  };
  useEffect(() => {
    load();
  }, [token]);
  if (error && error.status === 401) return html`<${Locked} base=${base} onOpen=${load} />`;
  if (error) {
    return html`<main class="plain"><${Brand} /><h1>${t("This page does not open")}</h1><${Failure} error=${error} />
      <p><button type="button" class="main" onClick=${load}>${t("Try again")}</button></p></main>`;
  }
  if (!info) return html`<main class="plain"><${Brand} /><h1 class="sr">Roundtable</h1><p class="faint" role="status">${t("Opening")}</p></main>`;
  return html`<${Discussion} base=${base} info=${info} />`;
}

function Locked({ base, onOpen }) {
  const [password, set] = useState("");
  const [error, setError] = useState(null);
  const unlock = async (event) => {
    event.preventDefault();
    try {
      await post(`${base}/unlock`, { password });
      onOpen();
    } catch (refused) {
      setError(refused);
    }
  };
  return html`<main class="plain"><${Brand} /><h1>${t("This discussion has a password")}</h1>
    <form onSubmit=${unlock}><label>${t("Password")}<input type="password" autocomplete="current-password" autofocus value=${password} onInput=${(event) => set(event.target.value)} /></label>
      <${Failure} error=${error} />
      <p class="buttons"><button type="submit" class="main" disabled=${!password}>${t("Open")}</button></p></form></main>`;
}

async function page() {
  const saved = document.getElementById("saved");
  if (saved) {
    const data = JSON.parse(saved.textContent);
    return html`<${Discussion} base="" info=${data.info} saved=${data} />`;
  }
  const link = location.pathname.match(/^\/r\/([^/]+)/);
  if (link) return html`<${Link} token=${link[1]} />`;
  // Whoever reads one discussion does not wait for what the owner's pages are made of.
  const { Home } = await import("./list/home.js");
  return html`<${Home} />`;
}

const root = document.getElementById("root");
learnWords().then(page).then((drawn) => {
  root.replaceChildren();
  render(drawn, root);
});
