// The card of one dish in the menu.

import { weighed } from "./choice";
import { Decimal } from "./decimal";
import { h } from "./dom";
import type { Formatter } from "./groups";
import { address } from "./links";
import type { Menu, Product } from "./menu";
import { measureOf, photo, priceOf } from "./photo";
import { addressOf } from "./picture";

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
    templates.set(
      name,
      (made = h(
        "li",
        { part: "card", class: "card" },
        h(
          "div",
          { class: "about" },
          h(
            heading,
            { part: "name", dir: "auto" },
            h(linked ? "a" : "button", { class: "plain", type: !linked && "button", part: "dish-link" }),
          ),
          h("p", { class: "muted description", part: "description", dir: "auto" }),
          h("span", { class: "muted", part: "measure", dir: "auto" }),
          h(
            "div",
            { class: "row foot" },
            h("span", { part: "price", class: "grow" }),
            h(
              "span",
              { class: "row stepper" },
              h("button", { type: "button", part: "fewer" }, "−"),
              h("span", { class: "count", part: "count" }),
              h("button", { type: "button", part: "add" }),
            ),
          ),
        ),
      )),
    );
  }
  return made.cloneNode(true) as HTMLLIElement;
}

/** Card shows one dish. It is built once and then updated in place. Its clicks are handled by the list. */
export class Card {
  readonly element: HTMLLIElement;
  private shown = ""; // the address of the photo
  private near = false; // the photo is shown
  private slot: HTMLSlotElement | null = null;
  private readonly parts: HTMLElement[]; // in the order of the template

  constructor(
    private readonly id: string,
    heading: "h3" | "h4",
    private readonly host: CardHost,
  ) {
    const element = (this.element = template(heading, host.linked));
    element.dataset.dish = id;
    this.parts = [...element.querySelectorAll<HTMLElement>("[part]")];
    if (host.linked) (this.parts[1] as HTMLAnchorElement).href = address("#dish=" + encodeURIComponent(id));
  }

  /** update shows the dish, and how much of it is in the basket. */
  update(menu: Menu, product: Product, amount = Decimal.zero, frozen = false): void {
    const { host, element } = this;
    const { message } = host;
    const { name } = product;
    const [, link, description, measure, price, fewer, count, add] = this.parts as [
      HTMLElement,
      HTMLElement,
      HTMLElement,
      HTMLElement,
      HTMLElement,
      HTMLButtonElement,
      HTMLElement,
      HTMLButtonElement,
    ];
    const url = addressOf(product.imageUrls[0], host.base);
    if (url !== this.shown) {
      element.querySelector(".frame")?.remove();
      if (url) element.prepend(h("div", { class: "frame" }, photo(this.near && url, true)));
      this.shown = url;
    }
    link.textContent = name;
    description.textContent = product.description;
    measure.textContent = measureOf(product, host);
    price.textContent = priceOf(menu, product, host);
    this.badge();

    const buyable = menu.buyable(product);
    const choice = !simple(menu, product);
    const some = amount.digits > 0n;
    const counted = some && !choice;
    const unit = weighed(product);
    let inBasket = "";
    if (some) inBasket = unit ? host.measure(amount.toString(), unit) : host.number(amount.toString());
    count.textContent = inBasket;
    fewer.disabled = frozen;
    if (counted) fewer.setAttribute("aria-label", message("fewer", { name }));
    add.disabled = !buyable;
    const [text, label] = this.addTexts(product, buyable, choice, inBasket);
    add.textContent = text;
    add.setAttribute("aria-label", label);
    add.className = counted && buyable ? "round main" : "main";
    element.className = ["card", url && "pictured", !buyable && "gone", some && "some", counted && "counted"]
      .filter(Boolean)
      .join(" ");
  }

  /** addTexts returns the text of the button that adds the dish, and its name for screen readers. */
  private addTexts(
    { id, name }: Product,
    buyable: boolean,
    choice: boolean,
    inBasket: string,
  ): [text: string, label: string] {
    const { message, soldOut } = this.host;
    if (!buyable) return [soldOut(id), `${name}: ${soldOut(id)}`];
    if (choice) {
      const label = [message("chooseNamed", { name }), inBasket && message("inBasket", { n: inBasket })];
      return [message("choose"), label.filter(Boolean).join(", ")];
    }
    return inBasket ? ["+", message("more", { name })] : [message("add"), message("addNamed", { name })];
  }

  /** showPhoto loads the photo when the card comes near the window. The browser's own loading="lazy" takes a quarter of the time of a card. */
  showPhoto(): void {
    const img = !this.near && this.element.querySelector("img");
    this.near = true;
    if (img) img.src = this.shown;
  }

  /** badge adds the slot of the card if the site fills it. */
  badge(): void {
    const name = "card-" + this.id;
    if (this.host.slots.has(name) === (this.slot !== null)) return;
    this.slot?.remove();
    this.slot = this.slot ? null : h("slot", { name });
    if (this.slot) this.parts[3]!.after(this.slot);
  }
}

/** simple reports whether one tap adds the dish: it has no options and is not weighed. */
export const simple = (menu: Menu, product: Product): boolean =>
  !weighed(product) && menu.groups(product.schemeId).length === 0;
