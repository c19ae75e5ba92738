// The modifier groups of a dish and of the options chosen in them.

import { picked, picksOf, groupStatus, type Pick } from "./choice";
import { decimal, type Decimal } from "./decimal";
import { h } from "./dom";
import { deepest, type Group, type Menu } from "./menu";
import type { Key, Params } from "./texts";

/** Formatter formats texts, amounts and measures in the language of the element. */
export interface Formatter {
  message(key: Key, params?: Params): string;
  money(amount: Decimal, signed?: boolean): string;
  number(value: string | number): string;
  measure(value: string | number, unit: string): string;
  soldOut(id: string): string; // with the time of its return, if that is known
}

let names = 0;

/**
 * GroupsView shows the groups of a scheme. It is built once and then updated in
 * place, so that the focus stays and screen readers do not repeat themselves.
 */
export class GroupsView {
  readonly element = h("div", { class: "groups" });
  private readonly groups: GroupView[];

  constructor(
    menu: Menu,
    schemeId: string | null,
    formatter: Formatter,
    get: () => Pick[],
    set: (picks: Pick[]) => void,
    depth = deepest,
  ) {
    this.groups = menu.groups(schemeId).map((group) => new GroupView(menu, group, formatter, get, set, depth));
    this.element.append(...this.groups.map((g) => g.element));
  }

  /** update shows the current choice. If submitted, groups that need more are marked as wrong. */
  update(menu: Menu, submitted: boolean): void {
    for (const group of this.groups) group.update(menu, submitted);
  }
}

class GroupView {
  readonly element: HTMLFieldSetElement;
  private readonly state = h("p", { part: "group-state", class: "state", id: `larder-${++names}` });
  private readonly options: OptionView[];

  constructor(
    menu: Menu,
    private readonly group: Group,
    formatter: Formatter,
    private readonly get: () => Pick[],
    set: (picks: Pick[]) => void,
    depth: number,
  ) {
    this.message = (key, params) => formatter.message(key, params);
    this.needs = h("span", { class: group.min > 0 ? "muted badge" : "muted", part: "group-limits" }, this.limits());
    const name = `larder-group-${++names}`;
    this.options = group.options.map((id) => new OptionView(menu, group, id, name, formatter, get, set, depth));
    this.element = h(
      "fieldset",
      { part: "group", "aria-describedby": this.state.id, tabindex: "-1", "data-group": group.id },
      h("legend", { part: "group-name" }, h("bdi", { dir: "auto" }, group.name), " ", this.needs),
      this.state,
      h("ul", {}, ...this.options.map((o) => o.element)),
    );
  }

  private readonly message: Formatter["message"];
  private readonly needs: HTMLElement;

  update(menu: Menu, submitted: boolean): void {
    const { count, missing, full, over } = groupStatus(this.group, this.get());
    const wrong = over || (submitted && missing > 0);
    // The legend says "choose 1", so an untouched group of one needs no more words.
    const untouched = count === 0 && (!submitted || this.group.max === this.group.min);
    let text = "";
    if (missing > 0) text = untouched ? "" : this.message("needs", { n: missing });
    else if (over) text = this.message("tooMany", { max: this.group.max! });
    else if (full && this.group.max! > 1) text = this.message("full");
    else if (count > 0 && this.group.max !== 1) text = this.message("chosen", { n: count });
    if (this.state.textContent !== text) this.state.textContent = text;
    this.state.classList.toggle("wrong", wrong);
    this.needs.classList.toggle("wrong", wrong);
    this.element.classList.toggle("lacking", missing > 0);
    this.element.classList.toggle("over", over);
    for (const option of this.options) option.update(menu, full, over);
  }

  private limits(): string {
    const { min, max } = this.group;
    if (max === null) return min > 0 ? this.message("atLeast", { min }) : this.message("anyNumber");
    if (min === max) return this.message("exactly", { min });
    return min > 0 ? this.message("range", { min, max }) : this.message("upTo", { max });
  }
}

class OptionView {
  readonly element: HTMLLIElement;
  private readonly input: HTMLInputElement;
  private readonly note = h("span", { class: "muted note" });
  private readonly count = h("output", { class: "count" });
  private readonly more: HTMLButtonElement;
  private readonly stepper: HTMLElement;
  private nested: GroupsView | null = null;

  constructor(
    menu: Menu,
    private readonly group: Group,
    private readonly id: string,
    name: string,
    private readonly formatter: Formatter,
    private readonly get: () => Pick[],
    private readonly set: (picks: Pick[]) => void,
    private readonly depth: number,
  ) {
    const option = menu.ingredient(id);
    const label = option?.name ?? id;
    const price = decimal(option?.price);
    const single = group.max === 1 && group.min === 1;
    this.input = h("input", {
      type: single ? "radio" : "checkbox",
      name,
      part: "option-input",
      onchange: () => this.choose(this.input.checked ? 1 : 0),
    });
    const step = (by: number, key: "fewer" | "more", sign: string): HTMLButtonElement =>
      h(
        "button",
        {
          type: "button",
          class: "round",
          "aria-label": formatter.message(key, { name: label }),
          onclick: () => this.choose((this.pick?.quantity ?? 0) + by),
        },
        sign,
      );
    this.more = step(1, "more", "+");
    this.stepper = h("span", { class: "row stepper", hidden: true }, step(-1, "fewer", "−"), this.count, this.more);
    this.element = h(
      "li",
      { part: "option" },
      h(
        "div",
        { class: "row" },
        h(
          "label",
          { class: "row grow" },
          this.input,
          h("span", { class: "grow" }, h("bdi", { dir: "auto" }, label), " ", this.note),
          h(
            "span",
            { part: "option-price" },
            option?.price === null || price.digits === 0n ? "" : formatter.money(price, true),
          ),
        ),
        this.stepper,
      ),
    );
  }

  private get pick(): Pick | undefined {
    return picksOf(this.get(), this.group.id).find((p) => p.id === this.id);
  }

  private choose(quantity: number): void {
    const focused = (this.element.getRootNode() as ShadowRoot).activeElement;
    this.set(picked(this.get(), this.group, this.id, quantity));
    if (focused && this.stepper.contains(focused) && (this.stepper.hidden || (focused as HTMLButtonElement).disabled))
      this.input.focus();
  }

  update(menu: Menu, full: boolean, over: boolean): void {
    const pick = this.pick;
    const usable = menu.usable(this.id, this.depth);
    this.input.checked = pick !== undefined && !(over && this.input.type === "radio"); // so that each of them can be chosen
    this.input.disabled = !pick && (!usable || (full && this.group.max !== 1));
    const note = usable ? "" : this.formatter.soldOut(this.id);
    if (this.note.textContent !== note) this.note.textContent = note;
    this.element.classList.toggle("gone", !usable);
    this.stepper.hidden = !pick || this.group.max === 1;
    this.count.textContent = this.formatter.number(pick?.quantity ?? 0);
    this.more.disabled = full || !usable;
    const schemeId = menu.ingredient(this.id)?.schemeId;
    if (!pick && this.nested) {
      this.nested.element.parentElement?.remove();
      this.nested = null;
    }
    if (pick && !this.nested && this.depth > 1 && menu.groups(schemeId).length > 0) {
      this.nested = new GroupsView(
        menu,
        schemeId!,
        this.formatter,
        () => this.pick?.picks ?? [],
        (picks) => {
          this.set(this.get().map((p) => (p.group === this.group.id && p.id === this.id ? { ...p, picks } : p)));
        },
        this.depth - 1,
      );
      const name = menu.ingredient(this.id)!.name;
      this.element.append(
        h(
          "div",
          { part: "nested", role: "group", "aria-label": this.formatter.message("partOf", { name }) },
          this.nested.element,
        ),
      );
    }
    this.nested?.update(menu, this.element.closest(".submitted") !== null);
  }
}
