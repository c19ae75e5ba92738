// The basket bar: count and total at the bottom of the window, one tap to the form.

import { weighed } from "./choice";
import { Decimal, decimal } from "./decimal";
import { h } from "./dom";
import type { Formatter } from "./groups";
import { busy } from "./place";
import type { Shop } from "./shop";

const peek = 96; // pixels of the form that are in view before the bar goes

/** BasketBar is shown while the basket has dishes and the form is not in view. */
export class BasketBar {
  /** news announces changes to screen readers. */
  readonly news = h("p", { class: "unseen", role: "status" });
  private form: HTMLElement | null = null;
  private readonly observer = new IntersectionObserver((entries) => {
    this.element.classList.toggle("away", entries.at(-1)!.isIntersecting);
  }, { rootMargin: `0px 0px -${peek}px 0px` });
  private readonly count = h("span", { class: "count", part: "basket-count" });
  private readonly words = h("span", { class: "grow" });
  private readonly total = h("strong", { part: "basket-total" });
  readonly element = h("div", { part: "basket-bar", class: "bar", hidden: true },
    h("button", { type: "button", class: "main row", part: "basket-button", onclick: () => this.tapped() }, this.count, this.words, this.total));

  /** opened dispatches "larder:basket-open", and returns false if a listener has prevented the default. */
  constructor(private readonly formatter: Formatter, private readonly opened: () => boolean) {}

  update(shop: Shop, form: HTMLElement | null): void {
    if (form !== this.form) {
      this.observer.disconnect();
      this.element.classList.remove("away");
      if (form) this.observer.observe(form);
      this.form = form;
    }
    const { menu, basket, placing } = shop;
    const ordering = form && busy(placing.intent); // the form shows it
    this.element.hidden = !menu || basket.lines.length === 0 || !!ordering;
    if (this.element.hidden || !menu) return;
    // A weighed dish counts once.
    const n = basket.lines.reduce((sum, { id, quantity }) => sum + (weighed(menu.product(id)) ? 1 : Math.ceil(Number(quantity))), 0);
    this.count.textContent = this.formatter.number(n);
    this.words.textContent = form ? this.formatter.message("viewBasket") : this.formatter.message("items", { n });
    this.total.textContent = this.formatter.money(basket.total(menu));
    this.count.hidden = !form;
    this.summary = `${this.formatter.message("items", { n })}, ${this.total.textContent}`;
  }

  private summary = "";

  /** say announces a change together with the count and the total. */
  say(text: string): void { this.news.textContent = [text, this.element.hidden ? "" : this.summary].filter(Boolean).join(". "); }

  private tapped(): void {
    if (!this.opened() || !this.form) return;
    this.form.scrollIntoView({ block: "start", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
    (this.form.shadowRoot?.querySelector<HTMLElement>("[part=order-name]") ?? this.form).focus({ preventScroll: true });
  }
}

/** amounts returns how much of each dish is in the basket. */
export function amounts(shop: Shop): Map<string, Decimal> {
  const all = new Map<string, Decimal>();
  for (const { id, quantity } of shop.basket.lines) all.set(id, (all.get(id) ?? Decimal.zero).plus(decimal(quantity)));
  return all;
}
