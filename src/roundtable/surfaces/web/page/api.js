// Requests to the program that serves this page. A refusal is an error with what to do about it.

import { forPeople } from "./format.js";
import { t } from "./words.js";

export class Refused extends Error {
  constructor(status, message, remedy, body) {
    super(message);
    this.status = status;
    this.remedy = remedy;
    this.body = body;
  }
}

export async function get(path) {
  return answer(await reached(fetch(path, { headers: { accept: "application/json" }, credentials: "same-origin" })));
}

export async function post(path, body = {}) {
  return answer(await reached(fetch(path, {
    method: "POST",
    headers: { accept: "application/json", "content-type": "application/json" },
    credentials: "same-origin",
    body: JSON.stringify(body),
  })));
}

export async function remove(path) {
  const headers = { accept: "application/json", "content-type": "application/json" };
  return answer(await reached(fetch(path, { method: "DELETE", headers, credentials: "same-origin" })));
}

async function reached(request) {
  try {
    return await request;
  } catch {
    throw new Refused(0, t("The server does not answer."), t("Check that `roundtable serve` is running; what you wrote is kept."));
  }
}

async function answer(response) {
  const text = await response.text();
  let body = null;
  try {
    body = text ? JSON.parse(text) : null;
  } catch {
    body = null;
  }
  if (response.ok) return body;
  const wait = response.headers.get("retry-after");
  const told = body && (body.error || body.message || (typeof body.detail === "string" ? body.detail : ""));
  const invalid = body && Array.isArray(body.detail) ? body.detail.map((each) => each.msg).join("; ") : "";
  throw new Refused(
    response.status,
    told || invalid || t("The server refused it ({status}).", { status: response.status }),
    (body && forPeople(body.remedy)) || (wait ? t("Try again in {n} s.", { n: wait }) : ""),
    body,
  );
}

/** A new name for something that is sent, so that sending it twice does it once. */
export function freshKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
