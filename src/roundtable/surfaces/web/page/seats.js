// The seats that this browser has: the list leads to the page with the form, and not to one beside it.

const named = (discussion) => `roundtable-seat-${discussion}`;

/** The page of the seat in a discussion that was opened here; empty if there is none. */
export function seatKept(discussion) {
  try {
    return localStorage.getItem(named(discussion)) || "";
  } catch {
    return "";
  }
}

export function keepSeat(discussion, page) {
  try {
    localStorage.setItem(named(discussion), page);
  } catch {
    // The list leads to the host's page then.
  }
}

/** A page that opens nothing any more leads nobody astray. */
export function forgetSeat(page) {
  try {
    for (const name of Object.keys(localStorage)) {
      if (name.startsWith(named("")) && localStorage.getItem(name) === page) localStorage.removeItem(name);
    }
  } catch {
    // Nothing was kept.
  }
}
