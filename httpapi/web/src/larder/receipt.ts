// The confirmation of an order, and the past orders of this browser.

import { lineOf, type Basket, type Line } from "./basket";
import { linePrice, priced } from "./choice";
import { Decimal, decimal } from "./decimal";
import { h } from "./dom";
import type { Formatter } from "./groups";
import type { Past } from "./history";
import type { Menu } from "./menu";
import type { Origin } from "./outcome";
import { expectedAt, type Intent } from "./place";
import { orUndefined } from "./store";
import type { Key } from "./texts";
import { moment } from "./times";

/** linesOf lists the dishes of an order with their prices. */
function linesOf(lines: readonly Line[], f: Formatter): HTMLElement {
  return h(
    "ul",
    { part: "receipt-lines" },
    ...lines
      .filter((l) => l.name)
      .map((l) =>
        h(
          "li",
          { class: "row" },
          h(
            "span",
            { class: "grow" },
            h("b", {}, l.unit ? f.measure(l.quantity, l.unit) + " " : `${f.number(l.quantity)} × `),
            h("bdi", { dir: "auto" }, l.name),
          ),
          h("span", {}, f.money(linePrice(decimal(l.price), decimal(l.quantity)))),
        ),
      ),
  );
}

/** callTo returns a link to a phone number, such as "+351 22 000 00 00, ext. 4". */
export function callTo(phone: string): HTMLElement {
  const [found = ""] = /\+?[\s(]*\d[\d\s().\-/–]*(?![\-.\d]*\p{L})/u.exec(phone) ?? [];
  const number = found.replace(/[^+\d]/g, "");
  return number
    ? h("a", { href: "tel:" + number, part: "call", dir: "ltr" }, phone)
    : h("bdi", { part: "call" }, phone);
}

/** receipt shows what is ordered, when it comes and where, and whom to call. */
export function receipt(intent: Intent, { name, phone, address, zone, language }: Origin, f: Formatter): HTMLElement {
  const body = orUndefined(() => JSON.parse(intent.body)) ?? {};
  const delivery = body.expeditionType === "delivery";
  const place = body.address ?? {};
  const flat = (["apartmentNumber", "entrance", "floor"] as const)
    .filter((k) => place[k] !== undefined)
    .map((k) => `${f.message(`address.${k}`)} ${place[k]}`);
  const to = [`${place.street ?? ""} ${place.houseNumber ?? ""}`, ...flat, place.cityName ?? ""].join(", ");
  const at = expectedAt(intent.body);
  const placed = intent.state === "placed" ? intent : undefined;
  const soon = Date.parse(placed?.expectedAt ?? ""); // of an order for as soon as possible
  const soonest =
    f.message("soonest") + (soon ? `, ${f.message("about", { time: moment(language, soon, zone) })}` : "");
  const guest = body.guest ?? {};
  const total = placed
    ? placed.total
    : intent.lines
        .reduce((sum, l) => sum.plus(linePrice(decimal(l.price), decimal(l.quantity))), Decimal.zero)
        .toString();
  const card = delivery ? "cardOnDelivery" : "cardAtPickup";
  const other = body.paymentTypeID === "online" ? "online" : "cash";
  const type: Key = body.paymentTypeID === "card" ? card : other;
  const change =
    body.changeFrom === undefined ? "" : ` (${f.message("changeFor", { sum: f.money(decimal(body.changeFrom)) })})`;
  const facts: [Key, Node | string][] = [
    ["when", at ? moment(language, at, zone) : soonest],
    ["orderedAt", moment(language, intent.at, zone)],
    delivery ? ["where", h("bdi", {}, to)] : ["pickupAt", h("bdi", {}, [name, address].filter(Boolean).join(", "))],
    ["who", h("bdi", {}, [guest.firstName, guest.phone].filter(Boolean).join(", "))],
    ["payment", f.message(type) + change],
  ];
  if (body.comment) facts.push(["comment", h("bdi", {}, String(body.comment))]);
  if (phone) facts.push(["callRestaurant", callTo(phone)]);
  return h(
    "div",
    { part: "receipt" },
    h("h3", {}, h("bdi", { dir: "auto" }, name)),
    linesOf(intent.lines, f),
    total === undefined
      ? ""
      : h(
          "p",
          { class: "row sum" },
          h("span", { class: "grow" }, f.message("total")),
          h("strong", {}, f.money(decimal(total))),
        ),
    h("dl", {}, ...facts.flatMap(([key, value]) => [h("dt", {}, f.message(key)), h("dd", {}, value)])),
  );
}

/** reorder puts the dishes of an earlier order into the basket, as far as they are available. It returns the names of the others. */
export function reorder(menu: Menu, basket: Basket, lines: readonly Line[]): string[] {
  const gone: string[] = [];
  for (const { id, name, quantity, picks } of lines) {
    const product = menu.product(id);
    if (product && menu.buyable(product) && priced(menu, product, picks))
      basket.add(lineOf(menu, id, decimal(quantity), picks));
    else gone.push(name);
  }
  return gone;
}

/** PastActions is what a guest can do with past orders. Without reorder, the button is disabled. */
export interface PastActions {
  reorder: ((lines: readonly Line[]) => void) | null;
  clear(): void;
}

/** pastOrders lists the orders of this browser. */
export function pastOrders(
  past: readonly Past[],
  f: Formatter,
  language: string,
  zone: string,
  actions: PastActions,
): HTMLElement[] {
  return [
    ...past.map((one) =>
      h(
        "section",
        { part: "past-order" },
        h(
          "p",
          { class: "row" },
          h(
            "span",
            { class: "grow" },
            f.message("pastOrder", { id: one.orderID, time: moment(language, one.at, zone) }),
          ),
          h("strong", {}, one.total === null ? "" : f.money(decimal(one.total))),
        ),
        one.end ? h("p", { class: one.end === "rejected" ? "wrong" : "muted" }, f.message(one.end)) : "",
        one.reason ? h("p", { part: "reason" }, f.message("reason", { text: one.reason })) : "",
        linesOf(one.lines, f),
        h(
          "button",
          {
            type: "button",
            "aria-label": f.message("orderAgainNamed", { id: one.orderID }),
            disabled: !actions.reorder,
            onclick: () => actions.reorder?.(one.lines),
          },
          f.message("orderAgain"),
        ),
      ),
    ),
    h("button", { type: "button", "data-does": "clearPast", onclick: () => actions.clear() }, f.message("clearPast")),
  ];
}
