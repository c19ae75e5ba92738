import { lineOf, type News } from "./basket";
import { fractional } from "./choice";
import { Decimal, decimal } from "./decimal";
import { Card } from "./card";
import { DishDialog } from "./dish";
import { h } from "./dom";
import { LarderElement } from "./element";
import css from "./menu.css";
import { sameList, type Category, type Menu } from "./menu";
import type { Shop } from "./shop";
import { IdleJobs } from "./idlejobs";

const firstCards = 10; // built immediately: more than most windows show

/** LarderMenu is <larder-menu>: the menu, its search, and the dialog of a dish. */
export class LarderMenu extends LarderElement {
  private readonly search = h("input", { type: "search", part: "search", autocomplete: "off", enterkeyhint: "search", oninput: () => this.filter() });
  private readonly nav = h("nav", { part: "categories" });
  private readonly status = h("p", { class: "muted", part: "status", role: "status" });
  private readonly list = h("div", { part: "list" });
  private readonly dialog: DishDialog;
  private cards = new Map<string, Card[]>(); // by dish id, one card for each category of the dish
  private listed: Menu | null = null; // the menu that the list was built from
  private wording = "";
  private readonly idleJobs = new IdleJobs();

  constructor() {
    super(css);
    this.dialog = new DishDialog(() => this.shop, { message: this.message.bind(this), money: this.money.bind(this) }, (line) => this.added(line));
    this.root.append(h("div", { class: "head" }, h("slot", { name: "header" }), this.search, this.nav), this.status, this.list, this.dialog.element, h("slot", { name: "footer" }));
  }

  /** open shows the dialog of a dish. */
  open(id: string): void { this.dialog.open(id); }

  protected joined(shop: Shop, signal: AbortSignal): void {
    this.listed = null;
    this.idleJobs.begin([], 0);
    this.cards.clear();
    this.list.replaceChildren();
    const changed = (): void => {
      this.draw();
      this.emit("menu", { version: shop.menu?.body.version ?? null, name: shop.menu?.body.restaurant.name ?? null });
    };
    for (const name of ["menu", "fault"]) shop.addEventListener(name, changed, { signal });
    shop.addEventListener("news", (event) => {
      const news = (event as CustomEvent<News[]>).detail;
      if (news.length) this.emit("basket-news", news.map(({ line, kind, was, now }) => ({ id: line.id, name: line.name, kind, was, now })));
    }, { signal });
  }

  protected render(): void {
    const menu = this.shop?.menu;
    this.search.placeholder = this.message("search");
    this.search.setAttribute("aria-label", this.message("search"));
    this.nav.setAttribute("aria-label", this.message("categories"));
    this.list.setAttribute("aria-busy", String(!menu));
    if (!menu) {
      this.money(Decimal.zero); // the first number format is slow to create; use the waiting time
      this.status.replaceChildren(this.message(this.shop?.fault ?? "loading"),
        this.shop?.fault ? h("button", { type: "button", onclick: () => void this.shop?.load() }, this.message("again")) : "");
      return;
    }
    const wording = this.format;
    if (!this.listed || wording !== this.wording || !sameList(this.listed.body, menu.body)) {
      this.wording = wording;
      this.status.replaceChildren();
      this.build(menu);
    } else {
      for (const product of menu.body.products) this.cards.get(product.id)?.forEach((card) => card.update(menu, product));
    }
    this.listed = menu;
    this.dialog.refresh();
    this.filter();
  }

  /** build creates the first cards immediately and the others when the browser is idle. */
  private build(menu: Menu): void {
    this.cards.clear();
    this.list.replaceChildren();
    this.nav.replaceChildren();
    const jobs: (() => void)[] = [];
    const add = (category: Category): void => {
      const id = "c-" + category.id;
      const name = category.name || this.message("menu");
      const heading = h(category.depth === 0 ? "h2" : "h3", { id, dir: "auto", tabindex: "-1", part: "category-name" }, name);
      const dishes = h("ul", { class: "dishes" });
      const section = h("section", { part: "category", "aria-labelledby": id }, heading, dishes);
      const link = h("button", { type: "button", part: "category-link", class: category.depth ? "inner" : "", onclick: () => {
        this.idleJobs.finish(); // cards that are added above would move the heading
        heading.scrollIntoView({ block: "start", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
        heading.focus({ preventScroll: true });
      } }, name);
      // A section is added with its first card, so that visible content does not move down.
      const show = (): void => {
        this.list.append(section);
        this.nav.append(link);
      };
      if (category.products.length === 0) jobs.push(show);
      for (const { id } of category.products) {
        jobs.push(() => {
          const now = this.shop?.menu ?? menu;
          const product = now.product(id);
          if (!product) return;
          const card = new Card(id, category.depth === 0 ? "h3" : "h4", this.shop?.base ?? "", this.formatter, (dish) => this.choose(dish));
          this.cards.set(id, [...(this.cards.get(id) ?? []), card]);
          card.update(now, product);
          dishes.append(card.element);
          if (dishes.childElementCount === 1) show();
        });
      }
      category.children.forEach(add);
    };
    menu.roots.forEach(add);
    this.idleJobs.begin(jobs, firstCards);
  }

  private readonly formatter = { message: this.message.bind(this), money: this.money.bind(this) };

  /** choose opens the dialog if a dish has options, and otherwise adds it to the basket. */
  private choose(id: string): void {
    const menu = this.shop?.menu;
    const product = menu?.product(id);
    if (!menu || !product) return;
    if (menu.groups(product.schemeId).length > 0 || fractional(product)) {
      this.dialog.open(id);
      return;
    }
    const line = lineOf(menu, id, decimal(1), []);
    this.shop!.basket.add(line);
    this.added(line);
  }

  private added(line: { id: string; name: string; quantity: string; price: string }): void {
    this.status.textContent = this.message("added", { name: line.name });
    this.emit("added", { id: line.id, name: line.name, quantity: line.quantity, price: line.price });
  }

  /** filter shows the dishes that match the search, and their number. */
  private filter(): void {
    const menu = this.shop?.menu;
    if (!menu) return;
    const query = this.search.value.trim();
    if (query === "" && !this.searched) return;
    this.idleJobs.finish();
    const finds = query === "" ? null : menu.found(query);
    let found = 0;
    for (const [id, cards] of this.cards) {
      const shows = menu.product(id) !== undefined && (finds?.has(id) ?? true);
      for (const { element } of cards) element.hidden = !shows;
      if (shows) found++;
    }
    for (const section of this.list.children) (section as HTMLElement).classList.toggle("none", query !== "" && !section.querySelector("li:not([hidden])"));
    this.nav.hidden = query !== "";
    this.status.textContent = query === "" ? "" : found ? this.message("found", { n: found }) : this.message("nothingFound");
    this.searched = query !== "";
  }

  private searched = false;
}
