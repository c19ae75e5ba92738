// Building the body of an order from basket and fields, and finding the place for
// each violation.

import type { Line } from "./basket";
import { Decimal, decimal } from "./decimal";
import type { Pick } from "./choice";
import type { Formatter } from "./groups";
import type { Menu } from "./menu";
import type { Violation } from "./place";

export type Expedition = "delivery" | "pickup";

/** Fields are the values of the form by their path in the body, such as "guest.phone". */
export type Fields = Record<string, string>;

/** Form is what the guest has entered, without the basket. at is a time in RFC 3339. It is gone if the guest has to choose another one. */
export interface Form {
  expedition: Expedition;
  payment: string;
  soonest: boolean;
  at: string;
  fields: Fields;
  remember?: boolean;
  gone?: boolean;
}

const address = [
  "address.cityName",
  "address.street",
  "address.houseNumber",
  "address.apartmentNumber",
  "address.entrance",
  "address.floor",
];

/** fieldsOf returns the fields of an expedition, in the order of the form. */
export function fieldsOf(expedition: Expedition): string[] {
  const guest = ["guest.firstName", "guest.phone"];
  return [...(expedition === "delivery" ? [...guest, ...address] : guest), "comment"];
}

/** required returns the mandatory fields (policy O1). Larder validates them again. */
export function required(expedition: Expedition): string[] {
  return expedition === "delivery"
    ? ["guest.phone", "address.cityName", "address.street", "address.houseNumber"]
    : ["guest.phone"];
}

/** problemsOf returns what is wrong with the fields, as far as it is known without larder (policies O1, O19, H10). */
export function problemsOf({ expedition, payment, fields, soonest, at }: Form): Violation[] {
  const problem = (name: string, code: string): Violation => ({ path: "/" + name.replace(".", "/"), code, msg: "" });
  const missing = required(expedition)
    .filter((name) => !fields[name]?.trim())
    .map((name) => problem(name, "field_required"));
  if (!soonest && !at) missing.push(problem("expectedAt", "field_required"));
  const change = payment === "cash" ? fields.changeFrom?.trim() : "";
  if (change && typeof numberOf(change) === "string") missing.push(problem("changeFrom", "type_mismatch"));
  const phone = fields["guest.phone"]?.trim() ?? "";
  const digits = phone.replace(/\P{Nd}/gu, "");
  return phone && (digits.length < 5 || digits.length > 15 || /^(.)\1*$/u.test(digits))
    ? [problem("guest.phone", "phone_invalid"), ...missing]
    : missing;
}

function ingredients(menu: Menu, picks: Pick[]): unknown[] {
  return picks.map((p) => ({
    ID: p.id,
    groupId: p.group,
    quantity: p.quantity,
    price: menu.ingredient(p.id)?.price,
    // An empty list says that the options of a part are not beside it (policy M13).
    ...(p.picks.length || menu.groups(menu.ingredient(p.id)?.schemeId).length
      ? { ingredients: ingredients(menu, p.picks) }
      : {}),
  }));
}

/**
 * bodyOf returns the body for POST …/orders. It contains the prices that the guest
 * sees, so that larder can report a change, and the groups that the guest used.
 */
export function bodyOf(menu: Menu, lines: readonly Line[], form: Form): string {
  const body: Record<string, any> = {
    expeditionType: form.expedition,
    paymentTypeID: form.payment,
    dishList: lines.map((line) => ({
      ID: line.id,
      price: menu.product(line.id)?.price,
      quantity: Number(line.quantity),
      ingredients: ingredients(menu, line.picks),
    })),
  };
  if (form.soonest) body.soonest = true;
  else body.expectedAt = form.at;
  for (const name of fieldsOf(form.expedition)) put(body, name, form.fields[name]);
  if (form.payment === "cash") put(body, "changeFrom", form.fields.changeFrom);
  return JSON.stringify(body);
}

const numbers = ["changeFrom", "address.floor"];

function put(body: Record<string, any>, name: string, value: string | undefined): void {
  const text = value?.trim();
  if (!text) return;
  const [first, second] = name.split(".") as [string, string?];
  const holder = second ? (body[first] ??= {}) : body;
  holder[second ?? first] = numbers.includes(name) ? numberOf(text) : text;
}

/** numberOf returns a typed number. Some keyboards only have a comma. A text that is not an exact number stays as it is, and larder rejects it. */
function numberOf(text: string): number | string {
  const number = Decimal.of(text.replace(",", "."));
  return number && number.toString().length < 16 ? Number(number.toString()) : text;
}

/** Place is where a violation is shown: at a line of the basket, at a field, or in the summary. */
export interface Place {
  line?: number;
  field?: string;
}

/** placeOf returns the place of a violation, from its JSON Pointer. */
export function placeOf(violation: Violation): Place {
  const parts = violation.path
    .split("/")
    .slice(1)
    .map((p) => p.replace(/~1/g, "/").replace(/~0/g, "~"));
  if (parts[0] === "dishList" && /^\d+$/.test(parts[1] ?? "")) return { line: Number(parts[1]) };
  if (parts[0] === "expectedAt" || parts[0] === "soonest") return { field: "expectedAt" };
  if (parts[0] === "address" && parts[1] === "fullAddress") return { field: "address.street" };
  if (parts.length > 0 && parts[0] !== "dishList") return { field: parts.join(".") };
  return {};
}

/** goneText returns the text about a dish that cannot be ordered any more, or "". */
export function goneText({ id }: Line, menu: Menu): "noDish" | "lineGone" | "" {
  const product = menu.product(id);
  if (!product) return "noDish";
  return menu.buyable(product) ? "" : "lineGone";
}

/**
 * lineMessage returns the message of a violation at a line, without the name of its dish. It numbers equal parts of the
 * dish, such as "Burger 2, Bun" (policy M13).
 */
export function lineMessage({ code, msg, path, params }: Violation, menu: Menu, line: Line, f: Formatter): string {
  const gone = /^\/dishList\/\d+(\/ID)?$/.test(path) && goneText(line, menu);
  if (gone) return f.message(gone, { soldOut: f.soldOut(line.id) });
  if (code === "price_changed")
    return f.message("linePrice", { was: f.money(decimal(params?.sent)), now: f.money(decimal(params?.current)) });
  const { name } = menu.product(line.id) ?? line;
  if (msg.startsWith(name + ": ")) return msg.slice(name.length + 2);
  let picks: readonly Pick[] = line.picks;
  const names: string[] = [];
  for (const index of path.match(/(?<=\/ingredients\/)\d+/g) ?? []) {
    const pick = picks[Number(index)];
    if (!pick) break;
    const equal = picks.filter((p) => p.id === pick.id);
    names.push((menu.ingredient(pick.id)?.name ?? pick.id) + (equal.length > 1 ? ` ${equal.indexOf(pick) + 1}` : ""));
    picks = pick.picks;
  }
  const part = params?.parent?.name;
  return part && names.length && msg.startsWith(part) ? names.join(", ") + msg.slice(part.length) : msg;
}

/** lineMessages returns the messages for a line, as errors. If the line has another error, only its parts are named. */
export function lineMessages(
  violations: readonly Violation[],
  index: number,
  menu: Menu,
  line: Line,
  wrong: boolean,
  f: Formatter,
): [string, true][] {
  return violations
    .filter((v) => placeOf(v).line === index && (!wrong || v.params?.parent))
    .map((v) => [lineMessage(v, menu, line, f), true]);
}

/**
 * withoutDuplicates removes duplicates for the guest: "/guest" is missing, if "/guest/phone" is
 * reported as missing too.
 */
export function withoutDuplicates(violations: readonly Violation[]): Violation[] {
  return violations.filter(
    (v) => v.code !== "field_required" || !violations.some((part) => part.path.startsWith(v.path + "/")),
  );
}
