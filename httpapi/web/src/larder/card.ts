// The card of one dish in the menu.

import { decimal } from "./decimal";
import { measureOf } from "./dish";
import { h } from "./dom";
import type { Formatter } from "./groups";
import type { Menu, Product } from "./menu";
import { photo } from "./photo";

/** Card shows one dish. It is built once and then updated in place. */
export class Card {
  readonly element: HTMLLIElement;
  private shown = ""; // the address of the photo
  private readonly frame = h("div", { class: "frame" });
  private readonly name: HTMLElement;
  private readonly description = h("p", { class: "muted description", part: "description", dir: "auto" });
  private readonly measure = h("span", { class: "muted", part: "measure", dir: "auto" });
  private readonly price = h("span", { part: "price", class: "grow" });
  private readonly button: HTMLButtonElement;

  constructor(id: string, heading: "h3" | "h4", private readonly base: string, private readonly formatter: Formatter, choose: (id: string) => void) {
    this.name = h(heading, { part: "name", dir: "auto" });
    this.button = h("button", { type: "button", part: "add", class: "main", onclick: () => choose(id) });
    this.frame.append(photo(undefined, base, true));
    this.frame.addEventListener("click", () => this.button.disabled || this.button.click());
    this.element = h("li", { part: "card", class: "card", "data-dish": id }, this.frame,
      h("div", { class: "about" }, this.name, this.description, this.measure, h("div", { class: "row foot" }, this.price, this.button)));
  }

  update(menu: Menu, product: Product): void {
    const message = this.formatter.message;
    const url = product.imageUrls[0] ?? "";
    if (url !== this.shown) this.frame.replaceChildren(photo(url, this.base, true));
    this.shown = url;
    this.name.textContent = product.name;
    this.description.textContent = product.description;
    this.measure.textContent = measureOf(product, this.formatter);
    this.price.textContent = product.price === null ? "" : this.formatter.money(decimal(product.price));
    const groups = menu.groups(product.schemeId).length > 0;
    const buyable = menu.buyable(product);
    this.button.disabled = !buyable;
    this.button.textContent = message(!buyable ? "soldOut" : groups ? "choose" : "add");
    this.button.setAttribute("aria-label", buyable ? message(groups ? "chooseNamed" : "addNamed", { name: product.name }) : `${product.name}: ${message("soldOut")}`);
    this.element.classList.toggle("gone", !buyable);
  }
}
