import { lineOf, type News } from "./basket";
import { fractional } from "./choice";
import { decimal } from "./decimal";
import { DishDialog, measureOf } from "./dish";
import { h } from "./dom";
import { LarderElement } from "./element";
import css from "./menu.css";
import type { Category, Menu, Product } from "./menu";
import { photo } from "./photo";
import type { Shop } from "./shop";

const firstCards = 16, moreCards = 40; // built at once, and in each further turn

interface Card { element: HTMLLIElement; update(menu: Menu, product: Product): void }

/** LarderMenu is <larder-menu>: the menu, its search, and the dialog of a dish. */
export class LarderMenu extends LarderElement {
  private readonly search = h("input", { type: "search", part: "search", autocomplete: "off", enterkeyhint: "search", oninput: () => this.filter() });
  private readonly nav = h("nav", { part: "categories" });
  private readonly status = h("p", { class: "muted", part: "status", role: "status" });
  private readonly list = h("div", { part: "list" });
  private readonly dialog: DishDialog;
  private cards = new Map<string, Card>();
  private shape = "";
  private turn = 0;

  constructor() {
    super(css);
    this.dialog = new DishDialog(() => this.shop, { say: this.say.bind(this), money: this.money.bind(this) }, (line) => this.added(line));
    this.root.append(h("div", { class: "head" }, h("slot", { name: "header" }), this.search, this.nav), this.status, this.list, this.dialog.element, h("slot", { name: "footer" }));
  }

  /** open shows the dialog of a dish. */
  open(id: string): void { this.dialog.open(id); }

  protected joined(shop: Shop, signal: AbortSignal): void {
    this.shape = "";
    this.cards.clear();
    this.list.replaceChildren();
    const changed = (): void => {
      this.draw();
      this.tell("menu", { version: shop.menu?.body.version ?? null, name: shop.menu?.body.restaurant.name ?? null });
    };
    for (const name of ["menu", "fault"]) shop.addEventListener(name, changed, { signal });
    shop.addEventListener("news", (event) => {
      const news = (event as CustomEvent<News[]>).detail;
      if (news.length) this.tell("basket-news", news.map(({ line, kind, was, now }) => ({ id: line.id, name: line.name, kind, was, now })));
    }, { signal });
  }

  protected draw(): void {
    const menu = this.shop?.menu;
    this.search.placeholder = this.say("search");
    this.search.setAttribute("aria-label", this.say("search"));
    this.nav.setAttribute("aria-label", this.say("categories"));
    this.list.setAttribute("aria-busy", String(!menu));
    if (!menu) {
      this.status.replaceChildren(this.say(this.shop?.fault ? "noMenu" : "loading"),
        this.shop?.fault ? h("button", { type: "button", onclick: () => void this.shop?.load() }, this.say("again")) : "");
      return;
    }
    const shape = this.language + this.getAttribute("currency") + JSON.stringify([menu.body.categories, menu.body.products.map((p) => [p.id, p.categoryId, p.imageUrls[0]])]);
    if (shape !== this.shape) {
      this.shape = shape;
      this.status.replaceChildren();
      this.build(menu);
    } else {
      for (const product of menu.body.products) this.cards.get(product.id)?.update(menu, product);
    }
    this.dialog.refresh();
    this.filter();
  }

  /** build makes the first cards at once, so that the guest can begin, and the rest in turns. */
  private build(menu: Menu): void {
    const turn = ++this.turn;
    this.cards.clear();
    const links: Node[] = [];
    const waiting: (() => void)[] = [];
    const sections: Node[] = [];
    const add = (category: Category): void => {
      const id = "c-" + category.id;
      const heading = h(category.depth === 0 ? "h2" : "h3", { id, dir: "auto", tabindex: "-1", part: "category-name" }, category.name || this.say("menu"));
      const dishes = h("ul", { class: "dishes" });
      sections.push(h("section", { part: "category", "aria-labelledby": id }, heading, dishes));
      links.push(h("button", { type: "button", part: "category-link", class: category.depth ? "inner" : "", onclick: () => {
        heading.scrollIntoView({ block: "start", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
        heading.focus({ preventScroll: true });
      } }, heading.textContent));
      for (const product of category.products) {
        waiting.push(() => {
          const current = this.shop?.menu ?? menu;
          const card = this.card(product.id, category.depth === 0 ? "h3" : "h4");
          this.cards.set(product.id, card);
          card.update(current, current.product(product.id) ?? product);
          dishes.append(card.element);
        });
      }
      category.children.forEach(add);
    };
    menu.roots.forEach(add);
    this.nav.replaceChildren(...links);
    waiting.splice(0, firstCards).forEach((make) => make());
    this.list.replaceChildren(...sections);
    const more = (): void => {
      if (turn !== this.turn) return;
      waiting.splice(0, moreCards).forEach((make) => make());
      if (waiting.length) setTimeout(more, 0);
      else this.filter();
    };
    setTimeout(more, 0);
  }

  private card(id: string, heading: "h3" | "h4"): Card {
    let shown: Product | null = null;
    const name = h(heading, { part: "name", dir: "auto" });
    const description = h("p", { class: "muted description", part: "description", dir: "auto" });
    const measure = h("span", { class: "muted", part: "measure", dir: "auto" });
    const price = h("span", { part: "price", class: "grow" });
    const button = h("button", { type: "button", part: "add", class: "main", onclick: () => this.choose(id) });
    const frame = h("div", { class: "frame" });
    const element = h("li", { part: "card", class: "card", "data-dish": id }, frame, h("div", { class: "about" }, name, description, measure,
      h("div", { class: "row foot" }, price, button)));
    frame.addEventListener("click", () => button.disabled || button.click());
    const update = (menu: Menu, product: Product): void => {
      const was = shown;
      shown = product;
      if (was === null || was.imageUrls[0] !== product.imageUrls[0]) frame.replaceChildren(photo(product.imageUrls[0], this.shop?.base ?? "", true));
      name.textContent = product.name;
      description.textContent = product.description;
      measure.textContent = measureOf(product, this.speech);
      const groups = menu.groups(product.schemeId).length > 0;
      price.textContent = this.money(decimal(product.price));
      const buyable = menu.buyable(product);
      button.disabled = !buyable;
      button.textContent = this.say(!buyable ? "soldOut" : groups ? "choose" : "add");
      button.setAttribute("aria-label", buyable ? this.say(groups ? "chooseNamed" : "addNamed", { name: product.name }) : `${product.name}: ${this.say("soldOut")}`);
      element.classList.toggle("gone", !buyable);
    };
    return { element, update };
  }

  private readonly speech = { say: this.say.bind(this), money: this.money.bind(this) };

  /** choose opens what must be put together, and adds at once what need not. */
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
    this.status.textContent = this.say("added", { name: line.name });
    this.tell("added", { id: line.id, name: line.name, quantity: line.quantity, price: line.price });
  }

  /** filter shows the dishes that the search finds, and says how many. */
  private filter(): void {
    const menu = this.shop?.menu;
    if (!menu) return;
    const query = this.search.value.trim();
    let found = 0;
    for (const [id, { element }] of this.cards) {
      const product = menu.product(id);
      const shows = product !== undefined && (query === "" || menu.finds(product, query));
      element.hidden = !shows;
      if (shows) found++;
    }
    for (const section of this.list.children) (section as HTMLElement).classList.toggle("none", query !== "" && !section.querySelector("li:not([hidden])"));
    this.nav.hidden = query !== "";
    if (query !== "") this.status.textContent = found ? this.say("found", { n: found }) : this.say("nothingFound");
    else if (this.searched) this.status.textContent = "";
    this.searched = query !== "";
  }

  private searched = false;
}
