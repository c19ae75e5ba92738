// The dialog in which the guest chooses the options of a dish.

import { lineOf, type Line } from "./basket";
import { fractional, groupProblems, linePrice, priced, unitPrice, type Pick } from "./choice";
import { Decimal, decimal } from "./decimal";
import { h } from "./dom";
import { GroupsView, type Formatter } from "./groups";
import { deepest, type Menu, type Product } from "./menu";
import { photo } from "./photo";
import type { Shop } from "./shop";
import type { Key } from "./texts";

/** Done is called with the line that was added to the basket. */
export type Done = (line: Omit<Line, "key">) => void;

/** DishDialog is a modal dialog. The browser keeps the focus in it and restores it afterwards. */
export class DishDialog {
  readonly element: HTMLDialogElement;
  private product: Product | null = null;
  private picks: Pick[] = [];
  private quantity = decimal(1);
  private groups: GroupsView | null = null;
  private editing: Line | null = null;
  private submitted = false;
  private readonly alert = h("p", { part: "dish-alert", class: "wrong", role: "alert" });
  private readonly amount = h("input", { class: "amount", inputmode: "decimal", autocomplete: "off", part: "quantity", onchange: () => this.setQuantity(this.amount.value) });
  private readonly submit = h("button", { type: "submit", class: "main grow", part: "dish-add" });

  constructor(private readonly shop: () => Shop | null, private readonly formatter: Formatter, private readonly done: Done) {
    this.element = h("dialog", { part: "dish", "aria-labelledby": "dish-name", onclose: () => this.clear(), onclick: (event: Event) => {
      if (event.target === this.element) this.element.close(); // a click outside the box
    } });
  }

  private get menu(): Menu | null { return this.shop()?.menu ?? null; }

  /** open shows a dish, either new or with the choices of a line. */
  open(id: string, line: Line | null = null): void {
    const product = this.menu?.product(id);
    if (!this.menu || !product) return;
    this.product = product;
    this.editing = line;
    this.picks = line?.picks ?? [];
    this.quantity = decimal(line?.quantity ?? 1);
    this.submitted = false;
    this.build(this.menu, product);
    this.update();
    this.element.showModal();
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
    this.groups = new GroupsView(menu, product.schemeId, this.formatter, () => this.picks, (picks) => {
      this.picks = picks;
      this.update();
    });
    const unit = product.measure?.value === 1 ? product.measure.unit : "";
    const known = unit === "kg" || unit === "liter";
    this.amount.setAttribute("aria-label", known ? message("quantityIn", { unit: message(unit) }) : message("quantity"));
    const step = (by: string, key: "fewer" | "more", sign: string): HTMLButtonElement => h("button", {
      type: "button", class: "round", "aria-label": message(key, { name: product.name }), onclick: () => this.setQuantity(this.quantity.plus(decimal(by)).toString()),
    }, sign);
    const by = known ? "0.1" : "1";
    this.element.replaceChildren(h("form", { novalidate: true, onsubmit: (event: Event) => this.confirm(event) },
      h("button", { type: "button", class: "round close", "aria-label": message("close"), part: "dish-close", onclick: () => this.element.close() }, "×"),
      h("div", { class: "body" },
        photo(product.imageUrls[0], this.shop()!.base, false),
        h("h2", { id: "dish-name", part: "dish-name", tabindex: "-1", autofocus: true }, product.name),
        product.description && h("p", { part: "dish-description" }, product.description),
        h("p", { class: "muted" }, measureOf(product, this.formatter)), this.alert, this.groups.element),
      h("div", { class: "foot row" }, h("span", { class: "row stepper" }, step("-" + by, "fewer", "−"), this.amount, step(by, "more", "+")), this.submit)));
  }

  private setQuantity(text: string): void {
    const wanted = Decimal.of(text.replace(",", "."));
    const good = wanted && wanted.compare(Decimal.zero) > 0 && wanted.compare(decimal(1000)) <= 0 && wanted.scale <= 3;
    if (good && (wanted.whole || fractional(this.product!))) this.quantity = wanted;
    this.update();
  }

  private update(): void {
    const { menu, product } = this;
    if (!menu || !product) return;
    const now = menu.product(product.id);
    const gone = !now || !menu.buyable(now);
    this.element.firstElementChild?.classList.toggle("submitted", this.submitted);
    this.groups?.update(menu, this.submitted);
    this.amount.value = this.quantity.toString();
    const price = priced(menu, now ?? product, this.picks) ? this.formatter.money(linePrice(unitPrice(menu, now ?? product, this.picks), this.quantity)) : "–";
    this.submit.textContent = gone ? this.formatter.message("soldOut") : this.formatter.message(this.editing ? "saveFor" : "addFor", { price });
    this.submit.disabled = gone;
    const found = groupProblems(menu, product.schemeId, this.picks);
    const away = found.flatMap((l) => l.gone).map((id) => this.formatter.message("goneOption", { name: menu.ingredient(id)?.name ?? id }));
    const needed = this.submitted ? found.filter((l) => l.missing > 0).map((l) => l.group.name) : [];
    const words = gone ? this.formatter.message("goneDish", { name: product.name })
      : [...away, needed.length ? this.formatter.message("stillNeeded", { names: needed.join(", ") }) : ""].filter(Boolean).join(" ");
    if (this.alert.textContent !== words) this.alert.textContent = words;
  }

  private confirm(event: Event): void {
    event.preventDefault();
    const { menu, product } = this;
    const shop = this.shop();
    if (!menu || !product || !shop || this.submit.disabled) return;
    this.setQuantity(this.amount.value); // the key Enter submits before the field's change event
    if (groupProblems(menu, product.schemeId, this.picks).length > 0) {
      this.submitted = true;
      this.update();
      const lacking = this.element.querySelector<HTMLElement>(".lacking, .gone:has(:checked)");
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

  private clear(): void {
    this.product = this.groups = this.editing = null;
    this.element.replaceChildren();
  }
}

/** shapeOf returns everything that requires a rebuild of the dialog. Other changes are updated in place. */
function shapeOf(menu: Menu, product: Product, schemeId = product.schemeId, depth = deepest): string {
  if (depth === 0) return "";
  const groups = menu.groups(schemeId);
  const options = groups.flatMap((g) => g.options).map((id) => menu.ingredient(id));
  const nested = options.map((o) => [o?.name, o?.price, o?.schemeId ? shapeOf(menu, product, o.schemeId, depth - 1) : ""]);
  return JSON.stringify([product.name, product.description, groups, nested]);
}

/** measureOf returns the size and the calories of a dish as text. */
export function measureOf(product: Product, formatter: Formatter): string {
  const { value, unit } = product.measure ?? {};
  const known = unit === "kg" || unit === "liter" || unit === "pcs";
  const calories = product.nutrition?.calories;
  return [value && unit ? `${decimal(value)} ${known ? formatter.message(unit) : unit}` : "", calories ? formatter.message("calories", { n: calories }) : ""].filter(Boolean).join(" · ");
}
