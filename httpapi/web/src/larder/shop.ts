// What the elements of one restaurant on a page share: menu, basket, placing and
// the event stream.

import { Api, type Details } from "./api";
import { Basket, type News } from "./basket";
import { History } from "./history";
import { checkoutFile } from "./lazy";
import { Menu } from "./menu";
import { ended, Placing, type Answer, type Placed, type Refused } from "./place";
import { diagnose } from "./report";
import { FallbackStore, storages } from "./store";
import { follow, type MenuEvent } from "./stream";
import type { Key } from "./texts";

const shops = new Map<string, Shop>();

/**
 * Shop is the state of one restaurant. It dispatches "menu" after each new
 * version or stop list, then "news" (detail: News[]) with its effects on the
 * basket, and "fault" if there is no menu and none could be loaded. It dispatches
 * "details" after it has read the details of the restaurant.
 */
export class Shop extends EventTarget {
  menu: Menu | null = null;
  fault: Key | null = null; // the text about it
  details: Details = {};
  readonly basket: Basket;
  readonly placing: Placing;
  readonly history: History;
  readonly api: Api;
  lang = "en";
  orderURL = "";
  private readonly store = new FallbackStore(storages());
  private users = 0;
  private stop: AbortController | null = null;
  private reading = 0;
  private newest = 0; // the newest version that an event announced

  /** of returns the shop of a restaurant. All elements of the page share it. */
  static of(base: string, restaurant: string): Shop {
    const name = `${base}|${restaurant}`;
    let shop = shops.get(name);
    if (!shop) shops.set(name, (shop = new Shop(base, restaurant, name)));
    return shop;
  }

  private constructor(
    readonly base: string,
    readonly restaurant: string,
    name: string,
  ) {
    super();
    this.api = new Api(base, restaurant, () => this.lang);
    this.basket = new Basket(this.store, "larder:basket:" + name);
    this.history = new History(this.store, "larder:history:" + name);
    const { place, look } = this.api.transport(() => this.orderURL);
    this.placing = new Placing(this.store, "larder:order:" + name, {
      look,
      place: async (key, body) => {
        const answer = await place(key, body);
        const { status } = answer;
        if (!status || (status > 400 && (status < 406 || !answer.body?.code)))
          diagnose((find) =>
            find.reportOrder(this.orderURL || this.api.path + "/orders", this.orderURL !== "", answer),
          );
        return answer;
      },
    });
    this.placing.addEventListener("ended", (event) => {
      // here, so that it happens once and does not depend on the elements
      const intent = (event as CustomEvent<Placed | Refused>).detail;
      if (intent.state !== "placed") return;
      const { lines, orderID = "", at, total = null } = intent;
      this.history.add({ orderID, at, total, lines });
      this.basket.removeOrdered(lines);
    });
    this.placing.addEventListener("change", () => {
      const { intent } = this.placing;
      if (intent?.state !== "placed" || !(intent.rejected || intent.closed)) return;
      const { orderID = "", at, reason } = intent;
      this.history.end({ orderID, at, end: intent.rejected ? "rejected" : "closed", reason });
    });
  }

  /** enter loads the menu and follows the events until the last element leaves. */
  enter(): void {
    if (this.users++ > 0) return this.placing.read(); // dispatches "change", so that the basket bar finds a form that is added later
    const { signal } = (this.stop = new AbortController());
    this.refresh();
    follow(this.api.events, signal, (event) => this.onEvent(event));
    addEventListener(
      "storage",
      (event) => {
        if (event.key === this.basket.name) this.basket.read();
        if (event.key === this.placing.name) this.placing.read();
      },
      { signal },
    );
    addEventListener(
      "beforeunload",
      (event) => {
        const intent = this.placing.intent; // ask before a reload loses an intent that is only in memory
        if (
          intent &&
          !ended(intent.state) &&
          intent.state !== "unsent" &&
          !this.store.survivesReload(this.placing.name)
        )
          event.preventDefault();
      },
      { signal },
    );
    document.addEventListener(
      "visibilitychange",
      () => {
        if (!document.hidden) this.refresh(); // a suspended page may have missed events
      },
      { signal },
    );
    addEventListener("online", () => this.refresh(), { signal });
  }

  private refresh(): void {
    void this.load();
    void this.learn();
  }

  leave(): void {
    if (--this.users > 0) return;
    this.stop?.abort();
    this.stop = null;
  }

  /** load reads the menu. If responses arrive out of order, the newest version wins. */
  async load(): Promise<void> {
    const turn = ++this.reading;
    try {
      const body = await this.api.menu();
      if (turn !== this.reading && this.menu && body.version <= this.menu.body.version) return;
      this.fault = null;
      this.menu = new Menu(body);
    } catch (error) {
      if (!this.menu) {
        // otherwise keep the menu that is shown
        if (!this.fault) diagnose((find) => find.reportMenu(this.api.path + "/menu"));
        this.fault = (error as Partial<Answer>).body?.code === "restaurant_not_found" ? "noRestaurant" : "noMenu";
      }
    }
    this.notify();
    if (this.menu && this.menu.body.version < this.newest) {
      this.newest = 0; // retry once: an instance that is behind announces the newer version itself
      void this.load();
    }
  }

  /** learn reads the details of the restaurant, such as its hours. What an event has said counts more. */
  async learn(said: Details = {}): Promise<void> {
    const { details } = this;
    const snoozed = (): string => JSON.stringify(details.snoozed ?? []);
    const before = snoozed();
    for (const more of [{}, this.api.restaurant()]) {
      Object.assign(details, await more, said);
      this.dispatchEvent(new Event("details"));
    }
    if (snoozed() !== before) void checkoutFile.load().then(() => this.menu && this.notify()); // it has the times
  }

  private onEvent({ accepts, version = 0, products = [], ingredients = [] }: MenuEvent): void {
    if (accepts) {
      void this.load(); // snoozes do not change the version
      return void this.learn({ accepts });
    }
    this.newest = version;
    const { menu } = this;
    const shown = menu?.body.version ?? 0;
    if ((!menu && !this.fault) || version < shown) return; // the first read is in progress, or the event is old
    if (menu?.stop([...products, ...ingredients])) this.notify();
    if (version > shown) void this.load(); // stop lists change other fields too, such as orderable
  }

  private notify(): void {
    this.dispatchEvent(new Event(this.fault ? "fault" : "menu"));
    const news = this.menu ? this.basket.compareWith(this.menu) : [];
    this.dispatchEvent(new CustomEvent<News[]>("news", { detail: news }));
  }
}
