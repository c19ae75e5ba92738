// The basket bar: count and total, or the order in progress, at the bottom of the window. One tap goes to the form.

import { weighed } from "./choice";
import { Decimal, decimal } from "./decimal";
import { h, reach } from "./dom";
import type { Formatter } from "./groups";
import { departed } from "./links";
import { busy, orderIDOf, type Intent } from "./place";
import type { Shop } from "./shop";
import type { Key } from "./texts";

const peek = 96; // pixels of the form that are in view before the bar goes
const forPlaced = 3 * 3_600_000; // milliseconds in which a placed order is shown: larder may not learn when it is completed

/** BasketBar is shown while the basket has dishes, or the form shows an order, and the form is not in view. */
export class BasketBar {
  /** news announces changes to screen readers. */
  readonly news = h("p", { class: "unseen", role: "status" });
  private form: HTMLElement | null = null;
  private readonly observer = new IntersectionObserver(
    (entries) => {
      this.element.classList.toggle("away", entries.at(-1)!.isIntersecting);
    },
    { rootMargin: `0px 0px -${peek}px 0px` },
  );
  private readonly count = h("span", { class: "count", part: "basket-count" });
  private readonly words = h("span", { class: "grow" });
  private readonly total = h("strong", { part: "basket-total" });
  readonly element = h(
    "div",
    { part: "basket-bar", class: "bar", hidden: true },
    h(
      "button",
      { type: "button", class: "main row", part: "basket-button", onclick: () => this.tapped() },
      this.count,
      this.words,
      this.total,
    ),
  );

  /** opened dispatches "larder:basket-open", and returns false if a listener has prevented the default. */
  constructor(
    private readonly formatter: Formatter,
    private readonly opened: () => boolean,
  ) {}

  update(shop: Shop, form: HTMLElement | null): void {
    if (form !== this.form) {
      this.observer.disconnect();
      this.element.classList.remove("away");
      if (form) this.observer.observe(form);
      this.form = form;
    }
    const { menu, basket, placing } = shop;
    const empty = basket.lines.length === 0;
    const order = form && orderText(placing.intent, empty);
    this.target = order ? "outcome" : "order-name";
    if ((this.element.hidden = !menu || (!order && empty))) return;
    this.count.hidden = !form || !!order;
    if (order) {
      this.words.textContent = this.formatter.message(order, { id: orderIDOf(placing.intent) });
      this.total.textContent = this.summary = "";
      return;
    }
    // A weighed dish counts once.
    const n = basket.lines.reduce(
      (sum, { id, quantity }) => sum + (weighed(menu.product(id)) ? 1 : Math.ceil(Number(quantity))),
      0,
    );
    this.count.textContent = this.formatter.number(n);
    this.words.textContent = this.formatter.message(form ? "viewBasket" : "items", { n });
    this.total.textContent = this.formatter.money(basket.total(menu));
    this.summary = `${this.formatter.message("items", { n })}, ${this.total.textContent}`;
  }

  private summary = "";
  private target = ""; // the part of the form that a tap goes to

  /** say announces a change together with the count and the total. */
  say(text: string): void {
    this.news.textContent = [text, this.element.hidden ? "" : this.summary].filter(Boolean).join(". ");
  }

  private tapped(): void {
    if (!this.opened() || !this.form) return;
    const { host } = this.element.getRootNode() as ShadowRoot;
    if (host.getAttribute("links") !== "off") departed();
    reach(this.form, host);
    (this.form.shadowRoot?.querySelector<HTMLElement>(`[part=${this.target}]`) ?? this.form).focus({
      preventScroll: true,
    });
  }
}

/** orderText returns the text about an order whose outcome the form shows, or "". The basket comes first if the guest orders more. */
function orderText(intent: Intent | null, empty: boolean): Key | "" {
  if (busy(intent)) return intent?.state === "sending" ? "sending" : "askAgain";
  if (intent?.state === "placed" && empty && !intent.closed && Date.now() - intent.at < forPlaced)
    return intent.rejected ? "rejected" : "confirmed";
  return intent?.state === "offline" ? "order" : "";
}

/** amounts returns how much of each dish is in the basket. */
export function amounts(shop: Shop): Map<string, Decimal> {
  const all = new Map<string, Decimal>();
  for (const { id, quantity } of shop.basket.lines) all.set(id, (all.get(id) ?? Decimal.zero).plus(decimal(quantity)));
  return all;
}
