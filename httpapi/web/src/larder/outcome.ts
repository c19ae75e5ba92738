// What became of an order, and the confirmation: see "What to show a guest" in
// docs/http.md. It shows only what larder knows, no states of the kitchen.

import { linePrice } from "./choice";
import { decimal } from "./decimal";
import { h } from "./dom";
import type { Formatter } from "./groups";
import { orUndefined } from "./store";
import { expectedAt, type Intent } from "./place";
import type { Line } from "./basket";
import type { Key } from "./texts";
import { moment } from "./times";

/** Origin is the restaurant of an order, and the language and format of the texts. */
export interface Origin { name: string; phone: string; address: string; zone: string; language: string; format: string }

export interface OutcomeActions { again(): void; change(): void; startOver(): void; reorder(lines: Line[]): void }

/** callTo returns a link to a phone number, such as "+351 22 000 00 00, ext. 4". */
export function callTo(phone: string): HTMLElement {
  const number = /^[+\d\s().\-/]*/.exec(phone)![0].replace(/[^+\d]/g, "");
  return number ? h("a", { href: "tel:" + number, part: "call", dir: "ltr" }, phone) : h("bdi", { part: "call" }, phone);
}

/** linesOf lists the dishes of an order with their prices. */
export function linesOf(lines: readonly Line[], f: Formatter): HTMLElement {
  return h("ul", { part: "receipt-lines" }, ...lines.filter((l) => l.name).map((l) => h("li", { class: "row" },
    h("span", { class: "grow" }, h("b", {}, `${f.number(l.quantity)} × `), h("bdi", { dir: "auto" }, l.name)), h("span", {}, f.money(linePrice(decimal(l.price), decimal(l.quantity)))))));
}

/** Outcome shows the intent. Its status is announced by screen readers, the confirmation below it is not. */
export class Outcome {
  private readonly status = h("div", { role: "status" });
  private readonly more = h("div", { class: "more" });
  readonly element = h("div", { part: "outcome", tabindex: "-1", hidden: true }, this.status, this.more);
  private shape = "";

  constructor(private readonly f: Formatter, private readonly actions: OutcomeActions) {}

  draw(intent: Intent | null, asking: boolean, online: boolean, from: Origin): void {
    const shape = intent ? JSON.stringify([intent, asking, online, from]) : "";
    if (shape === this.shape) return; // unchanged: screen readers would read it again
    this.shape = shape;
    this.element.dataset.state = intent?.state ?? "";
    this.element.hidden = intent === null;
    if (!intent) {
      this.status.replaceChildren();
      this.more.replaceChildren();
      return;
    }
    const [words, buttons] = this.words(intent, asking, online);
    const said = words.map(([key, good]) => h("p", { class: key === "sending" || key === "offline" ? "" : good ? "good" : "wrong", ...(key.startsWith("placed") && { part: "order-id" }) }, this.f.message(key, { id: intent.orderID ?? "" })));
    const text = said.map((p) => p.textContent).join("");
    if (this.status.textContent !== text) this.status.replaceChildren(...said);
    const button = (key: Key, work: () => void): HTMLElement => h("button", { type: "button", part: "outcome-button", "data-does": key, onclick: work }, this.f.message(key));
    const work: Partial<Record<Key, () => void>> = {
      askAgain: this.actions.again, sendAgain: this.actions.again, changeOrder: this.actions.change, orderMore: this.actions.startOver,
      orderAgain: () => this.actions.reorder(intent.lines), print: () => print(),
    };
    const call = from.phone && (intent.state !== "placed" || intent.rejected) && intent.state !== "sending" && intent.state !== "offline"
      ? h("p", {}, this.f.message("call"), " ", callTo(from.phone)) : "";
    this.more.replaceChildren(intent.message && intent.state === "refused" ? h("p", {}, intent.message) : "", call,
      intent.state === "placed" ? this.receipt(intent, from) : "", h("div", { class: "row buttons" }, ...buttons.map((key) => button(key, work[key]!))));
  }

  /** words returns the messages, each with whether it is good, and the buttons. */
  private words(intent: Intent, asking: boolean, online: boolean): [[Key, boolean][], Key[]] {
    switch (intent.state) {
      case "sending": return [[["sending", true]], []];
      case "offline": return online ? [[["offlineLong", false]], ["sendAgain", "changeOrder"]] : [[["offline", false]], ["changeOrder"]];
      case "lost": return online ? [[["lost", false]], ["askAgain"]] : [[["lostOffline", false]], []];
      case "unknown": return [[["unknown", false], ...(online ? [] : [["checkLater", false] as [Key, boolean]])], asking || !online ? [] : ["askAgain"]];
      case "unsent": return [[["unsent", false]], ["sendAgain", "changeOrder"]];
      case "refused": return [[["refused", false]], ["changeOrder"]];
      case "placed": {
        const state: [Key, boolean] = intent.rejected ? ["placedRejected", false] : [intent.closed ? "placedClosed" : "placed", true];
        return [[state, ...(intent.paid ? [["paid", true] as [Key, boolean]] : [])], ["orderMore", "orderAgain", "print"]];
      }
    }
  }

  /** receipt shows what was ordered, when it comes and where, and whom to call. */
  private receipt(intent: Intent, { name, phone, address, zone, language }: Origin): HTMLElement {
    const body = orUndefined(() => JSON.parse(intent.body)) ?? {};
    const delivery = body.expeditionType === "delivery";
    const place = body.address ?? {};
    const flat = (["apartmentNumber", "entrance", "floor"] as const).filter((k) => place[k] !== undefined).map((k) => `${this.f.message(`address.${k}`)} ${place[k]}`);
    const to = [`${place.street ?? ""} ${place.houseNumber ?? ""}`, ...flat, place.cityName ?? ""].join(", ");
    const at = expectedAt(intent.body);
    const type: Key = body.paymentTypeID === "card" ? (delivery ? "cardOnDelivery" : "cardAtPickup") : body.paymentTypeID === "online" ? "online" : "cash";
    const change = body.changeFrom === undefined ? "" : ` (${this.f.message("changeFor", { sum: this.f.money(decimal(body.changeFrom)) })})`;
    const facts: [Key, Node | string][] = [
      ["when", at ? moment(language, at, zone) : this.f.message("soonest")],
      ["orderedAt", moment(language, intent.at, zone)],
      delivery ? ["where", h("bdi", {}, to)] : ["pickupAt", h("bdi", {}, [name, address].filter(Boolean).join(", "))],
      ["payment", this.f.message(type) + change],
    ];
    if (body.comment) facts.push(["comment", h("bdi", {}, String(body.comment))]);
    if (phone) facts.push(["callRestaurant", callTo(phone)]);
    return h("div", { part: "receipt" }, h("h3", {}, h("bdi", { dir: "auto" }, name)), linesOf(intent.lines, this.f),
      intent.total === undefined ? "" : h("p", { class: "row sum" }, h("span", { class: "grow" }, this.f.message("total")), h("strong", {}, this.f.money(decimal(intent.total)))),
      h("dl", {}, ...facts.flatMap(([key, value]) => [h("dt", {}, this.f.message(key)), h("dd", {}, value)])));
  }
}
