// What is asked for: the choices of the form under the names that each procedure gave its options.

/** The options of a procedure that have a place of their own in the form, by what they are for. */
export function partsOf(chosen) {
  const parts = { roles: [] };
  for (const each of chosen ? chosen.options : []) {
    if (each.part === "role") parts.roles.push(each.name);
    else if (each.part) parts[each.part] = each;
  }
  return parts;
}

/** Seats that can be filled: experts by name, or the fixed roles of a procedure. */
export function mostOf(parts) {
  if (parts.count) return parts.count.maximum;
  if (parts.experts) return parts.experts.maximum || 7;
  return parts.roles.length;
}

/** The option that gives one model to all seats. */
export const modelOf = (parts) => parts.model || (parts.models && parts.models.kind === "list" ? parts.models : null);

/** The name under which a seat is asked for: an expert of one's own carries its sentence. */
const named = (seat) => (seat.kind === "own" && seat.sentence ? `${seat.name}: ${seat.sentence}` : seat.id || seat.name);

/** The procedure's own options for what was chosen. Lists may go as they were typed.
 * `seats` are in order: { kind: "library" | "own" | "me" | "role", id, name, sentence, model };
 * `routed` are the models that the program found for them, `usual` its default. */
export function optionsFor({ chosen, parts, seats, model, more, routed, usual }) {
  const kinds = Object.fromEntries((chosen ? chosen.options : []).map((each) => [each.name, each.kind]));
  const options = {};
  for (const [key, value] of Object.entries(more)) {
    if (value === "" || value === false || value === undefined) continue;
    options[key] = kinds[key] === "number" ? Number(value) : value;
  }
  const wanted = model.trim();
  const all = modelOf(parts);
  if (wanted && all) options[all.name] = all.kind === "list" ? [wanted] : wanted;
  if (parts.experts && parts.experts.kind === "rows") rows(options, parts, seats);
  else if (parts.experts) list(options, parts, seats, wanted, routed, usual);
  else if (parts.roles.length) roles(options, parts, seats, wanted, all);
  return options;
}

/** A table whose seats are written out one by one; a person sits beside them. */
function rows(options, parts, seats) {
  const experts = seats.filter((each) => each.kind !== "me");
  const me = seats.find((each) => each.kind === "me");
  if (experts.length > 1) {
    options[parts.experts.name] = experts.map((each) => ({
      profile: each.id || each.name,
      role: each.name,
      perspective: each.sentence || each.perspective || "",
      display_name: each.name,
      ...(each.model ? { model: each.model } : {}),
    }));
  }
  if (me && parts.person) options[parts.person.name] = me.name;
}

/** A table whose experts are named, with models beside them: in order, or by name. */
function list(options, parts, seats, wanted, routed, usual) {
  if (!seats.length) return;
  options[parts.experts.name] = seats.map(named);
  if (parts.count) options[parts.count.name] = Math.max(2, seats.length);
  const own = (each) => (each.kind === "me" ? "outside" : each.model);
  if (!parts.models || !seats.some(own)) return;
  if (parts.models.kind === "list") {
    // In order: the others keep what was found for them.
    options[parts.models.name] = seats.map((each) => own(each) || wanted || routed[each.id] || usual);
  } else {
    options[parts.models.name] = Object.fromEntries(seats.filter(own).map((each) => [each.name, own(each)]));
  }
}

/** A table of fixed roles. */
function roles(options, parts, seats, wanted, all) {
  const chosen = seats.filter((each) => each.kind === "me" || each.model);
  if (!chosen.length) return;
  // A model for all would be stronger than that of a role.
  if (wanted && all) {
    delete options[all.name];
    for (const each of parts.roles) options[each] = wanted;
  }
  for (const each of chosen) options[each.id] = each.kind === "me" ? "outside" : each.model;
}
