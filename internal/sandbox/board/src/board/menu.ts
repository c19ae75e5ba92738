// Menus and their stop lists: dishes and ingredients can be put out of stock.
import { count, h, refill, say, words } from "./dom";
import { stale } from "./presets";
import { addFault, findMenus, idIn, menuOf, menuPath, named, putMenu, stop, type Board } from "./sandbox";

/** The number of items shown in a list; the search finds the others. */
const most = 120;

/** The delay after typing before a search, in milliseconds. */
const typingPause = 200;

interface Item {
  id: string;
  name: string;
  stopped: boolean;
}

/** The menu view of the board. */
export class Menu {
  readonly title = "Menu";
  readonly root: HTMLElement;
  private restaurant = "";
  private dishes: Item[] = [];
  private parts: Item[] = [];
  private seen = -1;
  private readonly which = h("input", {
    type: "search",
    list: "restaurants",
    onchange: () => void this.open(idIn(this.which.value)),
  });
  private readonly known = h("datalist", { id: "restaurants" });
  private readonly search = h("input", { type: "search", oninput: () => this.show() });
  private readonly only = h("input", { type: "checkbox", onchange: () => this.show() });
  private readonly file = h("input", {
    type: "file",
    accept: ".json,application/json",
    onchange: () => void this.replace(),
  });
  private readonly link = h("a", {}, "The menu view as JSON");
  private readonly undo = h(
    "button",
    { type: "button", hidden: true, onclick: () => void this.restore() },
    "Restore this menu",
  );
  private readonly originals = new Map<string, Blob>(); // by restaurant, before the first cut
  private readonly status = h("p", { className: "faint", role: "status" });
  private readonly wrong = h("p", { className: "wrong", role: "alert" });
  private readonly lists = h("div", { className: "view" });

  constructor() {
    let timer = 0;
    this.which.addEventListener("input", () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => void this.find(), typingPause);
    });
    this.root = h(
      "div",
      { className: "view" },
      h("h1", {}, "Menu and stop list"),
      this.wrong,
      h(
        "section",
        { className: "panel", "aria-label": "Which menu" },
        h(
          "div",
          { className: "fields" },
          h("label", { className: "field" }, "Restaurant", this.which),
          this.known,
          h("label", { className: "field" }, "Search dishes and ingredients", this.search),
          h("label", { className: "field" }, "Replace the menu with a file", this.file),
          h("label", { className: "tick" }, this.only, "Only out of stock"),
        ),
        h(
          "div",
          { className: "bar" },
          h("button", { type: "button", onclick: () => void this.shorten(0) }, "Empty this menu"),
          h("button", { type: "button", onclick: () => void this.shorten(0.5) }, "Halve this menu"),
          h("button", { type: "button", onclick: () => void this.makeStale() }, "Make it stale"),
          this.undo,
        ),
        h("p", {}, this.link),
        this.status,
      ),
      this.lists,
    );
  }

  /** Reloads after changes, also by other clients. */
  board({ menus: changes }: Board): void {
    if (this.seen === changes) return;
    const first = this.seen < 0;
    this.seen = changes;
    void (first ? this.start() : this.reload());
  }

  private async start(): Promise<void> {
    await this.find();
    const ids = [...this.known.options].map(({ value }) => idIn(value));
    const id = ids.find((one) => one !== "default") ?? ids[0];
    if (!id) {
      this.status.textContent = "There are no menus.";
      return;
    }
    this.which.value = named(id);
    await this.open(id);
  }

  private find(): Promise<void> {
    return this.run(async () => {
      const menus = await findMenus(idIn(this.which.value));
      this.known.replaceChildren(...menus.map((id) => h("option", { value: named(id) })));
    });
  }

  private open(restaurant: string): Promise<void> {
    this.restaurant = restaurant;
    return this.reload();
  }

  private reload(): Promise<void> {
    const { restaurant } = this;
    if (!restaurant) return Promise.resolve();
    return this.run(async () => {
      const menu = await menuOf(restaurant);
      if (restaurant !== this.restaurant) return; // another menu was opened meanwhile
      this.dishes = items(menu.products, restaurant);
      this.parts = items(menu.ingredients, restaurant);
      this.link.href = menuPath(restaurant);
      this.show();
    });
  }

  private async replace(): Promise<void> {
    const chosen = this.file.files?.[0];
    if (!chosen || !this.restaurant) return;
    await this.run(async () => {
      const { bytes, wellFormed } = await putMenu(this.restaurant, chosen);
      say(`Menu replaced: ${count(bytes, "byte")}${wellFormed ? "" : ", which are not valid JSON"}`);
    });
    this.file.value = "";
  }

  /** Leaves a part of the dishes in the menu. */
  private shorten(part: number): Promise<void> {
    const { restaurant } = this;
    return this.run(async () => {
      const menu = await menuOf(restaurant);
      const dishes = Array.isArray(menu.products) ? menu.products : [];
      const original = this.originals.get(restaurant) ?? json(menu);
      const left = dishes.slice(0, Math.floor(dishes.length * part));
      await putMenu(restaurant, json({ ...menu, products: left }));
      this.originals.set(restaurant, original);
      say(`${count(left.length, "dish", "dishes")} left of ${dishes.length}`);
    });
  }

  private restore(): Promise<void> {
    const original = this.originals.get(this.restaurant);
    return this.run(async () => {
      if (original) await putMenu(this.restaurant, original);
      this.originals.delete(this.restaurant);
      say("Menu restored");
    });
  }

  private makeStale(): Promise<void> {
    return this.run(async () => {
      await addFault(stale(this.restaurant));
      say("Reads of this menu fail with 503, until you remove the fault in Faults");
    });
  }

  private show(): void {
    this.undo.hidden = !this.originals.has(this.restaurant);
    const out = [...this.dishes, ...this.parts].filter((item) => item.stopped).length;
    this.status.textContent = `${named(this.restaurant)}: ${count(this.dishes.length, "dish", "dishes")}, ${count(this.parts.length, "ingredient")}; ${out} out of stock`;
    refill(this.lists, this.panel("Dishes", this.dishes), this.panel("Ingredients", this.parts));
  }

  private panel(title: string, all: Item[]): HTMLElement {
    const letters = this.search.value.trim().toLowerCase();
    const found = all.filter(
      (item) => (!this.only.checked || item.stopped) && `${item.name} ${item.id}`.toLowerCase().includes(letters),
    );
    return h(
      "section",
      { className: "panel" },
      h("h2", {}, title),
      found.length > most &&
        h("p", { className: "faint" }, `Showing the first ${most} of ${found.length}. Use the search to find others.`),
      found.length === 0 && h("p", { className: "faint" }, all.length === 0 ? "This menu has none." : "Nothing found."),
      h("ul", { className: "stops" }, ...found.slice(0, most).map((item) => this.row(item))),
    );
  }

  private row(item: Item): HTMLLIElement {
    const box = h("input", {
      type: "checkbox",
      checked: !item.stopped,
      "data-key": item.id,
      onchange: () => void this.turn(item, !box.checked),
    });
    return h(
      "li",
      {},
      h(
        "label",
        { className: "tick" },
        box,
        h("span", {}, item.name || item.id, item.stopped && h("span", { className: "out" }, " · out of stock")),
      ),
    );
  }

  private turn(item: Item, stopped: boolean): Promise<void> {
    return this.run(async () => {
      await stop(this.restaurant, { [item.id]: stopped });
      say(`${item.name}: ${stopped ? "out of stock" : "back in stock"}`);
    });
  }

  private async run(action: () => Promise<void>): Promise<void> {
    this.wrong.textContent = "";
    try {
      await action();
    } catch (error) {
      this.wrong.textContent = words(error);
    }
  }
}

const json = (menu: object): Blob => new Blob([JSON.stringify(menu)], { type: "application/json" });

/** Returns the items of a menu, and whether they are on the stop list of the restaurant. */
function items(list: unknown, restaurant: string): Item[] {
  if (!Array.isArray(list)) return [];
  return list
    .filter((one) => one && typeof one === "object")
    .map((one: Record<string, unknown>) => {
      const stops = one.isContainInStopList;
      return {
        id: String(one.id ?? ""),
        name: String(one.name ?? ""),
        stopped: stops === true || (Array.isArray(stops) && stops.includes(restaurant)),
      };
    });
}
