// What the dialog of a dish shows: the dish, and the options that the guest chooses.

import { lineOf, type Line } from "./basket";
import {
  fractional,
  groupProblems,
  knownPicks,
  least,
  linePrice,
  priced,
  unitPrice,
  weighed,
  type Pick,
} from "./choice";
import { Decimal, decimal } from "./decimal";
import css from "./dialog.css";
import { h, sheet } from "./dom";
import { GroupsView, type Formatter } from "./groups";
import { deepest, type Menu, type Product } from "./menu";
import { gallery } from "./gallery";
import { measureOf, priceOf } from "./photo";
import type { Shop } from "./shop";
import type { Key } from "./texts";

const most = 999; // of a dish in a line (policy H10)
const firstWeight = "0.5"; // kilograms or litres of a weighed dish, until the guest enters another quantity

/** Done is called with the line that was added to the basket. */
export type Done = (line: Omit<Line, "key">) => void;

/** DishView is the content of the dialog. */
export class DishView {
  private product: Product | null = null;
  private picks: Pick[] = [];
  private quantity = decimal(1);
  private groups: GroupsView | null = null;
  private editing: Line | null = null;
  private submitted = false;
  private wasGone = false; // the dish was sold out when it was opened
  private lost: string[] = []; // names of the options of the line that the menu no longer has
  private readonly alert = h("p", { part: "dish-alert", class: "wrong", role: "alert" });
  private readonly amount = h("input", {
    class: "amount",
    inputmode: "decimal",
    autocomplete: "off",
    part: "quantity",
    oninput: () => this.typed(),
    onchange: () => this.setQuantity(this.amount.value),
  });
  private readonly limits = h("p", { class: "wrong limits", role: "alert" }); // of the quantity, after a wrong one
  private counted = true; // the field has a quantity, so that the button can have a price
  private readonly submit = h("button", { type: "submit", class: "main grow", part: "dish-add" });
  private readonly price = h("strong", { part: "dish-price" });
  private stepper: HTMLElement | null = null;

  constructor(
    private readonly element: HTMLDialogElement,
    private readonly shop: () => Shop | null,
    private readonly formatter: Formatter,
    private readonly done: Done,
  ) {
    const root = element.getRootNode() as ShadowRoot;
    root.adoptedStyleSheets = [root.adoptedStyleSheets[0]!, sheet(css), ...root.adoptedStyleSheets.slice(1)];
  }

  private get menu(): Menu | null {
    return this.shop()?.menu ?? null;
  }

  /** open shows a dish, either new or with the choices of a line. */
  open(id: string, line: Line | null): void {
    const product = this.menu?.product(id);
    if (!this.menu || !product) return;
    this.product = product;
    this.editing = line;
    this.picks = line?.picks ?? [];
    this.lost = [];
    this.quantity = decimal(line?.quantity ?? (weighed(product) ? firstWeight : 1));
    this.showQuantity();
    this.submitted = false;
    this.wasGone = !this.menu.buyable(product);
    this.build(this.menu, product);
    this.update();
  }

  /** clear drops the dish after the dialog was closed. */
  clear(): void {
    this.product = this.groups = this.editing = this.stepper = null;
  }

  /** refresh updates the open dialog after a change of the menu. */
  refresh(): void {
    if (!this.product || !this.menu) return;
    const now = this.menu.product(this.product.id);
    if (now) this.product = now;
    if (now && shapeOf(this.menu, now) !== this.shape) this.build(this.menu, now);
    this.update();
  }

  private shape = "";

  private build(menu: Menu, product: Product): void {
    const message = (key: Key, params?: Record<string, string | number>): string => this.formatter.message(key, params);
    this.shape = shapeOf(menu, product);
    this.dropLost(menu, product);
    this.groups = new GroupsView(
      menu,
      product.schemeId,
      this.formatter,
      () => this.picks,
      (picks) => {
        this.picks = picks;
        this.update();
      },
    );
    const unit = weighed(product);
    const by = unit ? "0.1" : "1";
    const label = unit ? message(unit) : "";
    this.amount.setAttribute("aria-label", unit ? message("quantityIn", { unit: label }) : message("quantity"));
    const step = (by: string, key: "fewer" | "more", sign: string): HTMLButtonElement =>
      h(
        "button",
        {
          type: "button",
          class: "round",
          "aria-label": message(key, { name: product.name }),
          onclick: () => {
            const next = this.quantity.plus(decimal(by));
            if (next.compare(Decimal.zero) > 0) this.setQuantity(next.toString());
          },
        },
        sign,
      );
    const size = measureOf(product, this.formatter, false);
    this.stepper = h(
      "span",
      { class: "row stepper" },
      step("-" + by, "fewer", "−"),
      this.amount,
      unit && h("span", { part: "quantity-unit" }, label),
      step(by, "more", "+"),
    );
    this.element.replaceChildren(
      h(
        "form",
        { novalidate: true, onsubmit: (event: Event) => this.confirm(event) },
        h(
          "button",
          {
            type: "button",
            class: "round close",
            "aria-label": message("close"),
            part: "dish-close",
            onclick: () => this.element.close(),
          },
          "×",
        ),
        h(
          "div",
          { class: "body" },
          gallery(product.imageUrls, this.shop()!.base, message),
          h("h2", { id: "dish-name", part: "dish-name", dir: "auto", tabindex: "-1", autofocus: true }, product.name),
          product.description && h("p", { part: "dish-description", dir: "auto" }, product.description),
          h("p", { class: "row" }, this.price, h("span", { class: "muted" }, size)),
          nutritionOf(product, this.formatter),
          this.alert,
          this.groups.element,
        ),
        h("div", { class: "foot row" }, this.limits, this.stepper, this.submit),
      ),
    );
  }

  /** dropLost removes the picks that the menu no longer offers, and remembers their names: the guest cannot see or remove them. */
  private dropLost(menu: Menu, product: Product): void {
    const lost: Pick[] = [];
    const all = this.picks;
    const words = this.editing?.name.slice(product.name.length + 2, -1).split(", ") ?? []; // as in lineOf
    this.picks = knownPicks(menu, product.schemeId, all, lost);
    this.lost.push(
      ...lost.map(
        (p) => menu.ingredient(p.id)?.name ?? ((words.length === all.length && words[all.indexOf(p)]) || p.id),
      ),
    );
  }

  /** take uses a text as the quantity. It reports whether it is a quantity of this dish. */
  private take(text: string): boolean {
    const wanted = Decimal.of(text.trim().replace(",", "."));
    this.counted =
      wanted !== null &&
      wanted.compare(Decimal.zero) > 0 &&
      wanted.compare(decimal(most)) <= 0 &&
      wanted.scale <= 3 &&
      (wanted.whole || fractional(this.product!));
    if (this.counted) this.quantity = wanted!;
    return this.counted;
  }

  /** typed shows the price of what the guest is typing. Only the finished text is called wrong. */
  private typed(): void {
    if (this.take(this.amount.value)) this.markQuantity();
    this.update();
  }

  /** setQuantity reports whether the text is a quantity of this dish. If not, the text stays and is marked as wrong. */
  private setQuantity(text: string): boolean {
    if (this.take(text)) this.showQuantity();
    else this.markQuantity();
    this.update();
    return this.counted;
  }

  private showQuantity(): void {
    this.counted = true;
    this.amount.value = this.quantity.toString();
    this.markQuantity();
  }

  /** markQuantity marks the field, and shows the limits, unless it has a quantity. */
  private markQuantity(): void {
    const { message, number, measure } = this.formatter;
    const product = this.product!;
    const unit = weighed(product);
    const say = (value: string | number): string => (unit ? measure(value, unit) : number(value));
    this.amount.setAttribute("aria-invalid", String(!this.counted));
    this.limits.textContent = this.counted
      ? ""
      : message("quantityLimits", { min: say(fractional(product) ? "0.001" : 1), max: say(most) });
  }

  private update(): void {
    const { menu, product } = this;
    if (!menu || !product) return;
    const now = menu.product(product.id);
    const gone = !now || !menu.buyable(now);
    this.element.firstElementChild?.classList.toggle("submitted", this.submitted);
    this.groups?.update(menu, this.submitted);
    this.price.textContent = priceOf(menu, now ?? product, this.formatter);
    const rest = least(menu, product.schemeId, this.picks); // of what must still be chosen
    const unit = unitPrice(menu, now ?? product, this.picks).plus(rest);
    const price =
      this.counted && priced(menu, now ?? product, this.picks)
        ? this.formatter.money(linePrice(unit, this.quantity))
        : "";
    const key = this.submitKey(price !== "", rest.digits > 0n);
    this.submit.textContent = gone ? this.formatter.soldOut(product.id) : this.formatter.message(key, { price });
    this.submit.disabled = gone;
    if (this.stepper) this.stepper.hidden = gone;
    const found = groupProblems(menu, product.schemeId, this.picks);
    const away = found
      .flatMap((l) => l.gone)
      .map((id) => this.formatter.message("goneOption", { name: menu.ingredient(id)?.name ?? id }));
    const needed = this.submitted ? found.filter((l) => l.missing > 0).map((l) => l.group.name) : [];
    const problems = [
      this.lost.length ? this.formatter.message("notAgain", { names: this.lost.join(", ") }) : "",
      ...away,
      needed.length ? this.formatter.message("stillNeeded", { names: needed.join(", ") }) : "",
    ];
    const soldOut = this.formatter.soldOut(product.id);
    const goneText = this.wasGone ? soldOut : this.formatter.message("goneDish", { name: product.name });
    const words = gone ? goneText : problems.filter(Boolean).join(" ");
    if (this.alert.textContent !== words) this.alert.textContent = words;
  }

  /** submitKey returns the key of the text of the button. from means that options are missing that cost something. */
  private submitKey(known: boolean, from: boolean): Key {
    if (this.editing) return known ? "saveFor" : "save";
    if (!known) return "add";
    return from ? "addFrom" : "addFor";
  }

  private confirm(event: Event): void {
    event.preventDefault();
    const { menu, product } = this;
    const shop = this.shop();
    if (!menu || !product || !shop || this.submit.disabled) return;
    if (!this.setQuantity(this.amount.value)) {
      // the key Enter submits before the field's change event
      this.amount.focus();
      return;
    }
    if (groupProblems(menu, product.schemeId, this.picks).length > 0) {
      this.submitted = true;
      this.update();
      const lacking = this.element.querySelector<HTMLElement>(".over, .lacking, .gone:has(:checked)");
      lacking?.scrollIntoView({ block: "center" });
      (lacking?.querySelector<HTMLElement>("input:not(:disabled)") ?? lacking)?.focus();
      return;
    }
    const line = lineOf(menu, product.id, this.quantity, this.picks);
    if (this.editing) shop.basket.replace(this.editing.key, line);
    else shop.basket.add(line);
    this.element.close();
    this.done(line);
  }
}

/** shapeOf returns everything that requires a rebuild of the dialog. Other changes are updated in place. */
function shapeOf(menu: Menu, product: Product, schemeId = product.schemeId, depth = deepest): string {
  if (depth === 0) return "";
  const groups = menu.groups(schemeId);
  const options = groups.flatMap((g) => g.options).map((id) => menu.ingredient(id));
  const nested = options.map((o) => [
    o?.name,
    o?.price,
    o?.schemeId ? shapeOf(menu, product, o.schemeId, depth - 1) : "",
  ]);
  return JSON.stringify([product.name, product.description, groups, nested]);
}

/** nutritionOf returns a table with the nutrition of one serving, of a weighed dish per kilogram or litre, or null if it is unknown. */
function nutritionOf(product: Product, formatter: Formatter): HTMLElement | null {
  const unit = weighed(product);
  const { calories, proteins, fats, carbohydrates } = product.nutrition ?? {};
  const grams = (n: number): string => formatter.measure(decimal(n).times(decimal("0.001")).toString(), "kg");
  const cells = (
    [
      ["energy", calories, (n: number) => formatter.message("calories", { n })],
      ["proteins", proteins, grams],
      ["fats", fats, grams],
      ["carbohydrates", carbohydrates, grams],
    ] as const
  ).filter(([, n]) => n !== null && n !== undefined);
  return cells.length
    ? h(
        "table",
        { part: "nutrition" },
        h(
          "caption",
          { class: "muted" },
          unit ? formatter.message("nutritionPer", { unit: formatter.message(unit) }) : formatter.message("nutrition"),
        ),
        h(
          "tbody",
          {},
          h("tr", {}, ...cells.map(([key]) => h("th", { scope: "col" }, formatter.message(key)))),
          h("tr", {}, ...cells.map(([, n, text]) => h("td", {}, text(n!)))),
        ),
      )
    : null;
}
