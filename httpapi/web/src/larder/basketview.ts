// The basket as the order form shows it: each line with its price, notes and buttons.

import type { Line, News } from "./basket";
import { simple } from "./card";
import { picksText, linePrice, priced, unitPrice, weighed } from "./choice";
import { Decimal, decimal } from "./decimal";
import { h } from "./dom";
import type { Formatter } from "./groups";
import type { Menu } from "./menu";
import type { Shop } from "./shop";

/** Note is a message for a line, with whether it is an error. */
export type Note = [text: string, wrong: boolean];

/** BasketHost is the order form that shows the basket. */
export interface BasketHost {
  change(line: Line): void; // shows the dish, so that the guest can change the line
  setQuantity(line: Line, to: Decimal): void;
  problemsOf(line: Line, menu: Menu, wrong: boolean): Note[]; // why the line is not valid; wrong if another note is an error
  focusLost(): void; // the button with the focus is gone
}

/** BasketView is the list of the lines. */
export class BasketView {
  readonly element = h("ul", { part: "basket" });
  private readonly news = new Map<string, News>(); // by the key of the line

  constructor(
    private readonly formatter: Formatter,
    private readonly host: BasketHost,
  ) {}

  /** addNews adds what has changed in the menu for a line. */
  addNews(list: readonly News[]): void {
    for (const news of list) this.news.set(news.line.key, news);
  }

  /** clearNews forgets what has changed. */
  clearNews(): void {
    this.news.clear();
  }

  draw(shop: Shop | null, busy: boolean): void {
    const focused = ((this.element.getRootNode() as ShadowRoot).activeElement as HTMLElement | null)?.dataset.focus;
    const rows = (shop?.basket.lines ?? []).map((line) => this.row(shop!.menu, line, busy));
    const empty = shop?.placing.intent?.state === "placed" ? "" : this.formatter.message("empty");
    this.element.replaceChildren(...(rows.length ? rows : [h("li", { class: "muted" }, empty)]));
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

  private row(menu: Menu | null, line: Line, busy: boolean): HTMLElement {
    const { message, money, number } = this.formatter;
    const product = menu?.product(line.id);
    const quantity = decimal(line.quantity);
    const by = weighed(product) ? "0.1" : "1";
    const set = (to: Decimal): void => this.host.setQuantity(line, to);
    const button = (what: string, label: string, text: string, work: () => void, round = true): HTMLButtonElement =>
      h(
        "button",
        {
          type: "button",
          class: round ? "round" : "",
          "aria-label": label,
          "data-focus": what + line.key,
          disabled: busy,
          onclick: work,
        },
        text,
      );
    const price =
      menu && product && priced(menu, product, line.picks)
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
        h("output", { class: "count" }, number(line.quantity)),
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
    const { message } = this.formatter;
    if (!menu) return this.changes(line);
    const product = menu.product(line.id);
    const notes: Note[] = product && menu.buyable(product) ? this.changes(line) : [[message("lineGone"), true]];
    const wrong = notes.some(([, isWrong]) => isWrong);
    return [...notes, ...this.host.problemsOf(line, menu, wrong)];
  }

  /** changes returns what has changed in the menu for a line. */
  private changes(line: Line): Note[] {
    const { message, money } = this.formatter;
    const news = this.news.get(line.key);
    if (news?.kind === "options") return [[message("lineOptions"), true]];
    if (news?.kind !== "price") return [];
    return [[message("linePrice", { was: money(decimal(news.was)), now: money(decimal(news.now)) }), false]];
  }
}
