// The basket as the order form shows it: each line with its price, notes and buttons.
// It is in a file of its own, with the fields of the order.

import type { Line, News } from "./basket";
import { simple } from "./card";
import { groupProblems, picksText, linePrice, priced, unfit, unitPrice, weighed } from "./choice";
import { Decimal, decimal } from "./decimal";
import { h } from "./dom";
import type { Formatter } from "./groups";
import type { Menu } from "./menu";
import { busy } from "./place";
import { goneText } from "./order";
import type { Shop } from "./shop";

/** Note is a message for a line, with whether it is an error. */
export type Note = [text: string, wrong: boolean];

/** BasketHost is the order form that shows the basket. */
export interface BasketHost {
  readonly news: ReadonlyMap<string, News>; // what has changed in the menu, by the key of the line
  change(line: Line): void; // shows the dish, so that the guest can change the line
  setQuantity(line: Line, to: Decimal): void;
  problemsOf(line: Line, menu: Menu, wrong: boolean): Note[]; // why the line is not valid; wrong if another note is an error
  focusLost(): void; // the button with the focus is gone
}

/** BasketView fills the list of the lines. */
export class BasketView {
  constructor(
    private readonly element: HTMLElement,
    private readonly formatter: Formatter,
    private readonly host: BasketHost,
  ) {}

  /**
   * draw shows the lines. While the outcome of an order is not known, its lines are not part of them: only what the
   * guest has added since, for the next order.
   */
  draw({ basket, menu, placing: { intent } }: Shop): void {
    const { message } = this.formatter;
    const focused = ((this.element.getRootNode() as ShadowRoot).activeElement as HTMLElement | null)?.dataset.focus;
    const pending = busy(intent) ? intent!.lines : [];
    const rows: HTMLElement[] = [];
    for (const line of basket.lines) {
      const ordered = decimal(pending.find((one) => one.key === line.key)?.quantity ?? 0);
      const quantity = decimal(line.quantity).plus(ordered.times(decimal(-1)));
      if (quantity.compare(Decimal.zero) > 0) rows.push(this.row(menu, line, quantity, ordered));
    }
    const gone = menu ? basket.lines.filter((line) => !pending.length && goneText(line, menu)) : [];
    if (gone.length)
      rows.push(
        h(
          "li",
          {},
          h(
            "button",
            {
              type: "button",
              part: "remove-gone",
              "data-focus": "gone",
              onclick: () => gone.forEach((line) => this.host.setQuantity(line, Decimal.zero)),
            },
            message("removeGone"),
          ),
        ),
      );
    if (pending.length && rows.length) rows.unshift(h("li", {}, h("h3", { part: "next-order" }, message("nextOrder"))));
    if (!rows.length && intent?.state !== "placed" && !pending.length)
      rows.push(h("li", { class: "muted" }, message("empty")));
    this.element.replaceChildren(...rows);
    if (focused && !this.focus(focused)) this.host.focusLost();
  }

  /** focusLine moves the focus to a line. */
  focusLine(key: string): void {
    this.focus("x" + key);
  }

  /** focusWrong moves the focus to the first line that is not valid. It reports whether there is one. */
  focusWrong(): boolean {
    const button = this.element.querySelector<HTMLElement>("[aria-invalid=true] button:not(:disabled)");
    button?.focus();
    return button !== null;
  }

  private focus(name: string): boolean {
    const all = [...this.element.querySelectorAll<HTMLElement>("[data-focus]")];
    const button = all.find((b) => b.dataset.focus === name);
    button?.focus();
    return button !== undefined;
  }

  /** row returns a line with a quantity. The quantity that is already ordered is not part of it. */
  private row(menu: Menu | null, line: Line, quantity: Decimal, ordered: Decimal): HTMLElement {
    const { message, money, number, measure } = this.formatter;
    const product = menu?.product(line.id);
    const unit = weighed(product);
    const by = unit ? "0.1" : "1";
    const set = (to: Decimal): void => this.host.setQuantity(line, to.plus(ordered));
    const button = (what: string, label: string, text: string, work: () => void, round = true): HTMLButtonElement =>
      h(
        "button",
        {
          type: "button",
          class: round ? "round" : "",
          "aria-label": label,
          "data-focus": what + line.key,
          onclick: work,
        },
        text,
      );
    const price =
      menu && product && menu.buyable(product) && priced(menu, product, line.picks)
        ? money(linePrice(unitPrice(menu, product, line.picks), quantity))
        : "";
    const name = product?.name ?? line.name;
    const notes = this.notesOf(line, menu);
    const change = (): void => this.host.change(line);
    return h(
      "li",
      { part: "line", "data-line": line.id, "aria-invalid": notes.some(([, wrong]) => wrong) },
      h(
        "div",
        { class: "row" },
        h(
          "div",
          { class: "grow" },
          h("strong", { dir: "auto" }, name),
          menu && line.picks.length > 0 && h("p", { class: "muted", dir: "auto" }, picksText(menu, line.picks)),
        ),
        h("span", { part: "line-price" }, price),
      ),
      ...notes.map(([text, wrong]) => h("p", { class: wrong ? "wrong" : "muted", part: "line-note" }, text)),
      h(
        "div",
        { class: "row actions" },
        button("-", message("fewer", { name }), "−", () => set(quantity.plus(decimal("-" + by)))),
        h("output", { class: "count" }, unit ? measure(quantity.toString(), unit) : number(quantity.toString())),
        button("+", message("more", { name }), "+", () => set(quantity.plus(decimal(by)))),
        h(
          "span",
          { class: "row ends" },
          product &&
            menu &&
            (line.picks.length > 0 || !simple(menu, product)) &&
            button("c", message("changeNamed", { name }), message("change"), change, false),
          button("x", message("removeNamed", { name }), message("remove"), () => set(Decimal.zero), false),
        ),
      ),
    );
  }

  private notesOf(line: Line, menu: Menu | null): Note[] {
    const { message, soldOut } = this.formatter;
    if (!menu) return [];
    const gone = goneText(line, menu);
    const notes: Note[] = gone ? [[message(gone, { soldOut: soldOut(line.id) }), true]] : this.changes(line, menu);
    const wrong = notes.some(([, isWrong]) => isWrong);
    return [...notes, ...this.host.problemsOf(line, menu, wrong)];
  }

  /** changes returns what has changed in the menu for a line. */
  private changes(line: Line, menu: Menu): Note[] {
    const { message, money, soldOut } = this.formatter;
    const news = this.host.news.get(line.key);
    const product = menu.product(line.id)!;
    // A snoozed option may have returned since the news.
    if (news?.kind === "options" && unfit(menu, product, line.picks)) {
      const gone = groupProblems(menu, product.schemeId, line.picks).flatMap((problem) => problem.gone);
      const away = gone.map((id) => menu.ingredient(id)).filter((option) => option?.available === false);
      const names = away.map((option) => `${option!.name}: ${soldOut(option!.id)}`);
      return [[[...names, message("lineOptions")].join(". "), true]];
    }
    if (news?.kind !== "price") return [];
    return [[message("linePrice", { was: money(decimal(news.was)), now: money(decimal(news.now)) }), false]];
  }
}
