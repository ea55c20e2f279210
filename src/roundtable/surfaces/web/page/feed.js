// The events of one discussion: first what there is, in batches, then what comes, as it comes.
// When the connection breaks it is made again from the last number that was taken in.
import { get } from "./api.js";

const BATCH = 250;
const FIRST = 100;
/** Milliseconds for which what comes is gathered, so that a burst is drawn once. */
const GATHER = 40;
const WAITS = [500, 1000, 2000, 4000, 8000];

/**
 * `on` hears: events(list), draft(words), driven({ driven }), away({ away, waiting }), connection("live" | "lost" | "ended"), gone(error).
 * `last()` says which event was taken in last. Returns what ends it.
 */
export function follow(base, on, last) {
  let stopped = false;
  let source = null;
  let timer = 0;
  let failures = 0;
  let gathered = [];
  let flush = 0;

  const give = () => {
    clearTimeout(flush);
    flush = 0;
    if (!gathered.length || stopped) return;
    const events = gathered;
    gathered = [];
    on.events(events);
  };
  const again = (error) => {
    if (source) source.close();
    source = null;
    give();
    if (stopped) return;
    if (error && (error.status === 404 || error.status === 401)) {
      on.gone(error);
      return;
    }
    on.connection("lost");
    clearTimeout(timer);
    timer = setTimeout(begin, WAITS[Math.min(failures, WAITS.length - 1)]);
    failures += 1;
  };

  async function begin() {
    try {
      // The first batch is small: something to read comes soon, and the rest behind it.
      for (let limit = last() ? BATCH : FIRST; ; limit = BATCH) {
        const page = await get(`${base}/events?after=${last()}&limit=${limit}`);
        if (stopped) return;
        if (page.events.length) on.events(page.events);
        if (!page.events.length || last() >= page.last_seq) break;
        await new Promise((resolve) => setTimeout(resolve));
      }
    } catch (error) {
      again(error);
      return;
    }
    if (stopped) return;
    if (on.over()) {
      on.connection("ended");
      return;
    }
    listen();
  }

  function listen() {
    source = new EventSource(`${base}/feed?after=${last()}`);
    source.onopen = () => {
      failures = 0;
      on.away({ away: false, waiting: false }); // told anew if it is still so
      on.connection("live");
    };
    source.addEventListener("event", (message) => {
      gathered.push(JSON.parse(message.data));
      if (!flush) flush = setTimeout(give, GATHER);
    });
    source.addEventListener("away", (message) => on.away(JSON.parse(message.data)));
    source.addEventListener("driven", (message) => on.driven(JSON.parse(message.data)));
    source.addEventListener("draft", (message) => on.draft(JSON.parse(message.data)));
    source.addEventListener("end", () => {
      give();
      source.close();
      if (on.over()) on.connection("ended");
      else again(); // the server went away, the discussion did not
    });
    source.onerror = () => again();
  }

  begin();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
      clearTimeout(flush);
      if (source) source.close();
    },
    /** Read again from the last event, at once. */
    resume() {
      if (source) source.close();
      clearTimeout(timer);
      begin();
    },
  };
}
