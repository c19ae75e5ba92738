import { amounts, BasketBar } from "./bar";
import { keyOf, lineOf, type Line, type News } from "./basket";
import { Card, simple, type CardHost } from "./card";
import { Decimal, decimal } from "./decimal";
import { DishDialog } from "./dialog";
import { h, reach } from "./dom";
import { LarderElement } from "./element";
import { IdleJobs } from "./idlejobs";
import { address, dropped, follow, linked, occupied } from "./links";
import { dishFile, preload } from "./lazy";
import css from "./menu.css";
import { sameList, type Category, type Menu } from "./menu";
import { busy } from "./place";
import type { Search } from "./search";
import type { Shop } from "./shop";
import { Strip } from "./strip";

const perCard = 60_000; // pixels of the window for one card that is built immediately
const skeletons = 8;

/** Shelf is the section of one category. Its cards are built when it comes near the window, or when the browser is idle. */
interface Shelf {
  category: Category;
  section: HTMLElement;
  dishes: HTMLElement;
  made: number;
}

/** LarderMenu is <larder-menu>: the menu, its search, the dialog of a dish, and the basket bar. */
export class LarderMenu extends LarderElement {
  private readonly search = h("input", {
    type: "search",
    part: "search",
    autocomplete: "off",
    enterkeyhint: "search",
    oninput: () => this.filter(),
    onfocus: () => setTimeout(() => this.finder()?.index(), 50),
  });
  private readonly strip = new Strip();
  private readonly status = h("p", { class: "muted", part: "status", role: "status", tabindex: "-1" });
  private readonly list = h("div", { part: "list", onclick: (event: Event) => this.clicked(event as MouseEvent) });
  private readonly bar = new BasketBar(this.formatter, () => this.emit("basket-open", null, true));
  private readonly dialog: DishDialog;
  private readonly shelves = new Map<Element, Shelf>(); // by section
  private readonly near = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) this.fill(this.shelves.get(target));
    },
    { rootMargin: "100% 0px" },
  );
  private cards = new Map<string, Card[]>(); // by dish id, one card for each category of the dish
  private cardHost: CardHost = { ...this.formatter, base: "", linked: true, slots: new Set() };
  private listed: Menu | null = null; // the menu that the list was built from
  private wording = "";
  private basket = new Map<string, Decimal>(); // what the cards show
  private frozen = false;
  private followed = false; // the link in the address was opened
  private readonly idleJobs = new IdleJobs();

  constructor() {
    super(css);
    this.dialog = new DishDialog(
      () => this.shop,
      this.formatter,
      (line) => this.added(line),
      true,
    );
    this.root.append(
      h("div", { class: "head" }, h("slot", { name: "header" }), this.search, this.strip.element),
      this.status,
      this.list,
      this.bar.news,
      this.dialog.element,
      h("slot", { name: "footer" }),
      this.bar.element,
    );
  }

  /** open shows the dialog of a dish. */
  open(id: string): void {
    this.dialog.open(id);
  }

  protected joined(shop: Shop, signal: AbortSignal): void {
    this.listed = null;
    this.followed = false;
    this.dialog.refresh();
    this.idleJobs.begin([]);
    this.cards.clear();
    this.shelves.clear();
    this.near.disconnect();
    this.strip.clear();
    this.list.replaceChildren(
      h(
        "slot",
        { name: "loading" },
        ...Array.from({ length: skeletons }, () =>
          h(
            "div",
            { class: "card pictured skeleton", "aria-hidden": "true" },
            h("div", { class: "frame" }),
            h("div", { class: "about" }),
          ),
        ),
      ),
    );
    const changed = (): void => {
      this.draw();
      this.emit("menu", { version: shop.menu?.body.version ?? null, name: shop.menu?.body.restaurant.name ?? null });
    };
    for (const name of ["menu", "fault"]) shop.addEventListener(name, changed, { signal });
    shop.addEventListener(
      "news",
      (event) => {
        const news = (event as CustomEvent<News[]>).detail;
        if (news.length)
          this.emit(
            "basket-news",
            news.map(({ line, kind, was, now }) => ({ id: line.id, name: line.name, kind, was, now })),
          );
      },
      { signal },
    );
    for (const target of [shop.basket, shop.placing])
      target.addEventListener("change", () => this.drawBasket(), { signal });
    follow(() => this.follow(), signal);
    addEventListener("beforeprint", () => this.shelves.forEach((shelf) => this.fill(shelf)), { signal });
    const slotted = new MutationObserver(() => this.fillSlots());
    slotted.observe(this, { childList: true, subtree: true, attributes: true, attributeFilter: ["slot"] });
    signal.addEventListener("abort", () => slotted.disconnect());
  }

  protected render(): void {
    const menu = this.shop?.menu;
    this.search.placeholder = this.message("search");
    this.search.setAttribute("aria-label", this.message("search"));
    this.strip.nav.setAttribute("aria-label", this.message("categories"));
    this.list.setAttribute("aria-busy", String(!menu));
    if (!menu) {
      this.money(Decimal.zero); // the first number format is slow to create; use the waiting time
      const fault = this.shop ? this.shop.fault : this.fault;
      this.status.replaceChildren(
        this.message(fault ?? "loading"),
        this.shop && fault
          ? h(
              "button",
              {
                type: "button",
                onclick: () => {
                  this.status.focus(); // the button goes
                  void this.shop?.load();
                },
              },
              this.message("again"),
            )
          : "",
      );
      this.list.hidden = !!fault;
      return;
    }
    this.list.hidden = false;
    const wording = this.format + this.getAttribute("links");
    this.basket = amounts(this.shop!);
    if (!this.listed || wording !== this.wording || !sameList(this.listed.body, menu.body)) {
      this.wording = wording;
      this.status.replaceChildren();
      this.build(menu);
    } else {
      for (const id of this.cards.keys()) this.update(id);
    }
    this.listed = menu;
    this.dialog.refresh();
    this.filter();
    this.drawBasket();
    if (!this.followed) {
      this.followed = true;
      if (!occupied() && history.state?.larder !== "form") this.follow();
    }
  }

  /** build creates the first cards immediately and the others when the browser is idle. */
  private build(menu: Menu): void {
    this.cards.clear();
    this.shelves.clear();
    this.near.disconnect();
    this.list.replaceChildren();
    this.strip.clear();
    this.cardHost = {
      ...this.formatter,
      base: this.shop?.base ?? "",
      linked: this.getAttribute("links") !== "off",
      slots: this.slotNames(),
    };
    const jobs: (() => void)[] = [];
    let first = (innerWidth * innerHeight) / perCard;
    const add = (category: Category): void => {
      const id = "c-" + category.id;
      const name = category.name || this.message("menu");
      const dishes = h("ul", { class: "dishes" });
      const section = h(
        "section",
        { part: "category", "aria-labelledby": id },
        h(category.depth === 0 ? "h2" : "h3", { id, dir: "auto", tabindex: "-1", part: "category-name" }, name),
        dishes,
      );
      const shelf = { category, section, dishes, made: 0 };
      this.shelves.set(section, shelf);
      const all = category.products.length;
      this.reserve(shelf, all);
      this.list.append(section);
      this.near.observe(section);
      this.strip.add(section, name, category.depth > 0, () => {
        if (this.cardHost.linked && category.id)
          history.replaceState(history.state, "", address("#category=" + encodeURIComponent(category.id)));
        this.jump(category.id);
      });
      if (first > 0) {
        // what the window shows has its real height from the first frame
        section.classList.add("first");
        this.fill(shelf, first);
        first -= all;
      }
      for (let n = shelf.made + 1; n <= all; n++) jobs.push(() => this.fill(shelf, n));
      category.children.forEach(add);
    };
    menu.roots.forEach(add);
    this.idleJobs.begin(jobs);
    this.strip.changed();
    preload(this, () => dishFile.module?.controlStrip(this.strip), this.cardHost.slots, menu);
  }

  /** fill builds the first cards of a category; without a number all of them, with their photos. */
  private fill(shelf: Shelf | undefined, upTo = 0): void {
    const all = shelf?.category.products ?? [];
    while (shelf && shelf.made < Math.min(upTo || all.length, all.length)) {
      const { id } = all[shelf.made++]!;
      const card = new Card(id, shelf.category.depth === 0 ? "h3" : "h4", this.cardHost);
      this.cards.set(id, [...(this.cards.get(id) ?? []), card]);
      this.update(id, [card]);
      if (this.finds?.has(id) === false) card.element.hidden = true;
      shelf.dishes.append(card.element);
      if (shelf.made === all.length) shelf.section.classList.add("full");
    }
    if (!upTo) for (const { id } of all) this.cards.get(id)!.forEach((card) => card.showPhoto());
  }

  /** reserve keeps the height of a number of cards free, for a section that is not drawn. */
  private reserve({ section }: Shelf, cards: number): void {
    section.style.setProperty("--_n", String(cards));
  }

  private update(id: string, cards = this.cards.get(id)): void {
    const menu = this.shop?.menu;
    const product = menu?.product(id);
    if (menu && product) cards?.forEach((card) => card.update(menu, product, this.basket.get(id), this.frozen));
  }

  /** jump scrolls to a category. It returns false if the menu does not have it. */
  private jump(id: string, smooth = true): boolean {
    const shelf = [...this.shelves.values()].find((one) => one.category.id === id);
    if (!shelf) return false;
    const { section } = shelf;
    const heading = section.firstElementChild as HTMLElement;
    this.fill(shelf);
    this.strip.jump(section);
    reach(heading, this, smooth);
    heading.focus({ preventScroll: true });
    return true;
  }

  /** follow opens what the address links to. It reports whether this menu has it. */
  private follow(): boolean {
    const link = linked();
    const menu = this.shop?.menu;
    if (!link || !menu || this.getAttribute("links") === "off") return false;
    if (link.kind === "dish") {
      if (menu.product(link.id)) this.dialog.open(link.id);
      else if (!dropped()) return false;
      else this.status.textContent = this.message("noDish");
      return true;
    }
    return this.jump(link.id, false);
  }

  /** clicked handles the clicks of all cards: on a button, or anywhere else on a card. */
  private clicked(event: MouseEvent): void {
    const path = event.composedPath() as HTMLElement[]; // a badge of the site is not inside the card's tree
    const card = path.find((one) => one.matches?.("[part=card][data-dish]") && this.list.contains(one));
    const id = card?.dataset.dish;
    if (id === undefined || event.defaultPrevented) return;
    const control = path.slice(0, path.indexOf(card!)).find((one) => one.matches?.("button, a, input, label, summary"));
    if (control && !card!.contains(control)) return; // a control of the site
    const part = control?.getAttribute("part") ?? "dish-link"; // or anywhere else on the card
    if (part === "add") {
      this.choose(id);
    } else if (part === "fewer") {
      this.fewer(id, card!);
    } else if (part === "dish-link") {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a new tab
      event.preventDefault();
      card!.querySelector<HTMLElement>("[part=dish-link]")!.focus({ preventScroll: true }); // gets the focus back
      this.dialog.open(id);
    }
  }

  /** choose adds a simple dish to the basket, and otherwise opens the dialog. */
  private choose(id: string): void {
    const menu = this.shop?.menu;
    const product = menu?.product(id);
    if (!menu || !product) return;
    if (!simple(menu, product)) {
      this.dialog.open(id);
      return;
    }
    const line = lineOf(menu, id, decimal(1), []);
    this.shop!.basket.add(line);
    this.added(line);
  }

  private fewer(id: string, card: HTMLElement): void {
    const basket = this.shop?.basket;
    const line =
      basket?.lines.find((l) => l.key === keyOf({ id, picks: [] })) ?? basket?.lines.find((l) => l.id === id);
    if (!basket || !line) return;
    basket.setQuantity(line.key, decimal(line.quantity).plus(decimal(-1)));
    this.bar.say("");
    if (!this.basket.has(id)) card.querySelector<HTMLElement>("[part=add]")!.focus(); // the button is gone
  }

  private added({ id, name, quantity, price }: Omit<Line, "key">): void {
    this.bar.say(this.message("added", { name }));
    this.emit("added", { id, name, quantity, price });
  }

  /** drawBasket shows in the cards and in the bar what is in the basket. */
  private drawBasket(): void {
    const shop = this.shop;
    if (!shop || !this.listed) return;
    const [before, frozen] = [this.basket, this.frozen];
    this.frozen = busy(shop.placing.intent);
    this.basket = amounts(shop);
    for (const id of new Set([...before.keys(), ...this.basket.keys()])) {
      if (frozen !== this.frozen || before.get(id)?.toString() !== this.basket.get(id)?.toString()) this.update(id);
    }
    const root = this.getRootNode() as ParentNode;
    this.bar.update(
      shop,
      root.querySelector?.<HTMLElement>(`larder-order-form[restaurant="${CSS.escape(this.restaurant)}"]`) ?? null,
    );
  }

  /** finder returns the search in the current menu, or null until it is loaded. */
  private finder(): Search | null {
    const menu = this.shop?.menu;
    if (menu && dishFile.module && this.index?.menu !== menu) this.index = new dishFile.module.Search(menu);
    return this.index;
  }

  /** filter shows the dishes that match the search, and their number. */
  private filter(): void {
    const menu = this.shop?.menu;
    if (!menu) return;
    const query = /[\p{L}\p{N}]/u.test(this.search.value) ? this.search.value.trim() : ""; // marks alone are no search
    if (query === "" && !this.searched) return;
    const finder = this.finder();
    if (query !== "" && !finder) {
      this.status.replaceChildren(dishFile.pending(this.formatter, () => this.filter()));
      return;
    }
    const finds = (this.finds = query === "" ? null : finder!.found(query));
    for (const [id, cards] of this.cards) {
      const hides = !menu.product(id) || finds?.has(id) === false;
      for (const { element } of cards) if (element.hidden !== hides) element.hidden = hides;
    }
    const shown = ({ products }: Category): number => products.filter(({ id }) => finds?.has(id) ?? true).length;
    const empty = (category: Category): boolean => !shown(category) && category.children.every(empty); // the heading of an inner category follows that of the outer one
    for (const shelf of this.shelves.values()) {
      this.reserve(shelf, shown(shelf.category));
      shelf.section.classList.toggle("none", empty(shelf.category));
    }
    const named = finds ? finder!.named(query, finds) : new Set<string>();
    dishFile.module?.rank(this.list, this.shelves.values(), menu.roots, named);
    const found = finds?.size;
    this.strip.element.hidden = query !== "";
    const text = found ? this.message("found", { n: found }) : this.message("nothingFound");
    this.status.textContent = query === "" ? "" : text;
    this.searched = query !== "";
    const { top } = this.getBoundingClientRect();
    if (this.searched && top < 0) scrollBy({ top, behavior: "instant" }); // to what was found
  }

  private searched = false;
  private index: Search | null = null;
  private finds: Set<string> | null = null; // the dishes that match the search

  private slotNames(): Set<string> {
    return new Set([...this.children].map((c) => c.slot).filter((name) => name.startsWith("card-")));
  }

  private fillSlots(): void {
    this.cardHost.slots = this.slotNames();
    for (const cards of this.cards.values()) for (const card of cards) card.badge();
  }
}
