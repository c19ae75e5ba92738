// The card of one dish in the menu.

import { weighed } from "./choice";
import { Decimal } from "./decimal";
import { h } from "./dom";
import type { Formatter } from "./groups";
import { address } from "./links";
import type { Menu, Product } from "./menu";
import { addressOf, measureOf, photo, priceOf } from "./photo";

/** CardHost is what the cards of one menu share. */
export interface CardHost extends Formatter {
  base: string;
  linked: boolean; // whether dishes have addresses
  slots: ReadonlySet<string>; // the names of the slots that the site fills
}

const templates = new Map<string, HTMLLIElement>();

/** template returns a card without content. Copies are faster than new elements. */
function template(heading: "h3" | "h4", linked: boolean): HTMLLIElement {
  const name = heading + linked;
  let made = templates.get(name);
  if (!made) {
    templates.set(name, (made = h("li", { part: "card", class: "card" }, h("div", { class: "about" },
      h(heading, { part: "name", dir: "auto" }, h(linked ? "a" : "button", { class: "plain", type: !linked && "button", part: "dish-link" })),
      h("p", { class: "muted description", part: "description", dir: "auto" }), h("span", { class: "muted", part: "measure", dir: "auto" }),
      h("div", { class: "row foot" }, h("span", { part: "price", class: "grow" }),
        h("span", { class: "row stepper" }, h("button", { type: "button", part: "fewer" }), h("span", { class: "count", part: "count" }), h("button", { type: "button", part: "add" })))))));
  }
  return made.cloneNode(true) as HTMLLIElement;
}

/** Card shows one dish. It is built once and then updated in place. Its clicks are handled by the list. */
export class Card {
  readonly element: HTMLLIElement;
  private shown = ""; // the address of the photo
  private slot: HTMLSlotElement | null = null;
  private readonly part: (name: string) => HTMLElement;

  constructor(private readonly id: string, heading: "h3" | "h4", private readonly host: CardHost) {
    const element = (this.element = template(heading, host.linked));
    element.dataset.dish = id;
    this.part = (name) => element.querySelector<HTMLElement>(`[part=${name}]`)!;
    if (host.linked) (this.part("dish-link") as HTMLAnchorElement).href = address("#dish=" + encodeURIComponent(id));
  }

  /** update shows the dish, and how much of it is in the basket. */
  update(menu: Menu, product: Product, amount = Decimal.zero, frozen = false): void {
    const { base } = this.host;
    const url = addressOf(product.imageUrls[0], base);
    if (url !== this.shown) {
      this.element.querySelector(".frame")?.remove();
      if (url) this.element.prepend(h("div", { class: "frame" }, photo(url, true)));
      this.element.classList.toggle("pictured", url !== "");
      this.shown = url;
    }
    this.part("dish-link").textContent = product.name;
    this.part("description").textContent = product.description;
    this.part("measure").textContent = measureOf(product, this.host);
    this.part("price").textContent = priceOf(menu, product, this.host);
    this.badge();
    this.buttons(menu, product, amount, frozen);
  }

  private buttons(menu: Menu, product: Product, amount: Decimal, frozen: boolean): void {
    const message = this.host.message;
    const { name } = product;
    const buyable = menu.buyable(product);
    const choice = !simple(menu, product);
    const some = amount.digits > 0n;
    const counted = some && !choice;
    const [fewer, count, add] = [this.part("fewer") as HTMLButtonElement, this.part("count"), this.part("add") as HTMLButtonElement];
    fewer.textContent = "−";
    fewer.disabled = frozen;
    fewer.setAttribute("aria-label", message("fewer", { name }));
    const unit = weighed(product);
    count.textContent = !some ? "" : unit ? this.host.measure(amount.toString(), unit) : this.host.number(amount.toString());
    add.disabled = !buyable;
    add.textContent = !buyable ? message("soldOut") : choice ? message("choose") : counted ? "+" : message("add");
    add.setAttribute("aria-label", !buyable ? `${name}: ${message("soldOut")}`
      : choice ? [message("chooseNamed", { name }), some && message("inBasket", { n: count.textContent! })].filter(Boolean).join(", ")
        : message(counted ? "more" : "addNamed", { name }));
    add.className = counted && buyable ? "round main" : "main";
    const { classList } = this.element;
    classList.toggle("gone", !buyable);
    classList.toggle("some", some);
    classList.toggle("counted", counted);
  }

  /** badge adds the slot of the card if the site fills it. */
  badge(): void {
    const name = "card-" + this.id;
    if (this.host.slots.has(name) === (this.slot !== null)) return;
    this.slot?.remove();
    this.slot = this.slot ? null : h("slot", { name });
    if (this.slot) this.part("measure").after(this.slot);
  }
}

/** simple reports whether one tap adds the dish: it has no options and is not weighed. */
export const simple = (menu: Menu, product: Product): boolean => !weighed(product) && menu.groups(product.schemeId).length === 0;
