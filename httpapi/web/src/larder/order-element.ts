import type { Line, News } from "./basket";
import type { BasketView } from "./basketview";
import { Decimal } from "./decimal";
import { DishDialog } from "./dialog";
import { h, reach, sheet } from "./dom";
import { LarderElement } from "./element";
import type { Fieldset, FormHost } from "./fieldset";
import type { Form } from "./order";
import type { OrderCheck } from "./ordercheck";
import type { OrderFollower } from "./orderfollower";
import { checkoutFile, preload } from "./lazy";
import css from "./order.css";
import { busy, isOnline, notSent, type Placed, type Refusal, type Refused } from "./place";
import { Outcome, type Origin } from "./outcome";
import type { Shop } from "./shop";
import type { Opening } from "./times";

const unreachable = 30_000; // milliseconds until an order is checked again that got no response

/** LarderOrderForm is <larder-order-form>: basket, order form, and the outcome of the order. The parts are in files of their own. */
export class LarderOrderForm extends LarderElement implements FormHost {
  form: Form = { expedition: "delivery", payment: "cash", soonest: true, at: "", fields: {} };
  private readonly heading = h("h2", { part: "order-name", tabindex: "-1" });
  private readonly notice = h("p", { part: "notice", role: "status" });
  private readonly outcome: Outcome;
  private readonly past = h("details", { part: "history", hidden: true, ontoggle: () => this.drawPast() });
  private readonly basket = h("ul", { part: "basket" }, h("li", { class: "muted" }));
  private readonly news = new Map<string, News>(); // what has changed in the menu, by the key of the line
  private readonly total = h("p", { part: "total", class: "row" });
  private readonly summary = h("div", { part: "violations", role: "alert", tabindex: "-1" });
  private readonly offline = h("p", { part: "offline", class: "muted", role: "status" });
  private readonly submit = h("button", { type: "submit", class: "main", part: "place" });
  private readonly pending = h("div"); // until the fields are loaded
  private basketView: BasketView | null = null; // null, like the next three, until checkoutFile is loaded
  private fields: Fieldset | null = null;
  private check: OrderCheck | null = null;
  private follower: OrderFollower | null = null;
  private readonly box: HTMLFormElement;
  private readonly dialog: DishDialog;
  private submitted = false; // the guest has tried to order
  private checking = false;
  private leading = false; // move the focus to the outcome when it is shown
  private given: readonly Opening[] | null = null;

  constructor() {
    super(css);
    this.dialog = new DishDialog(
      () => this.shop,
      this.formatter,
      () => this.changed(),
    );
    this.outcome = new Outcome(this.formatter, {
      again: () => void this.shop?.placing.resume(),
      change: () => void this.startOver(),
      startOver: () => void this.startOver(),
      reorder: (lines) => void this.reorder(lines),
      loaded: () => this.draw(),
    });
    this.box = h(
      "form",
      {
        part: "form",
        novalidate: true,
        onsubmit: (event: Event) => {
          event.preventDefault();
          void this.place();
        },
      },
      this.pending,
      this.summary,
      h("div", { part: "foot" }, this.total, this.offline, this.submit),
    );
    this.root.append(
      h("slot", { name: "header" }),
      this.heading,
      this.outcome.element,
      this.notice,
      this.basket,
      this.box,
      this.past,
      this.dialog.element,
      h("slot", { name: "footer" }),
    );
  }

  /** openings are the times in which the restaurant takes orders, or null if they are not known. A page may set them before the element is defined. */
  get openings(): readonly Opening[] | null {
    return this.given;
  }
  set openings(list: readonly Opening[] | null) {
    this.given = list;
    this.draw();
  }

  /** payments returns the payment types: the attribute payments, or cash and card. */
  get payments(): string[] {
    return (this.getAttribute("payments") || "cash card").split(/[\s,]+/).filter(Boolean);
  }

  learn(): void {
    void this.shop?.learn();
  }

  private origin(): Origin {
    return {
      name: this.shop?.menu?.body.restaurant.name ?? "",
      phone: this.getAttribute("phone") || this.details.guestPhone || "",
      address: this.getAttribute("address") || this.details.address || "",
      zone: this.timeZone,
      language: this.locale,
      format: this.format,
    };
  }

  protected joined(shop: Shop, signal: AbortSignal): void {
    const listen = (target: EventTarget, name: string, work: (event: Event) => void): void =>
      target.addEventListener(name, work, { signal });
    listen(shop, "details", () => this.draw());
    for (const name of ["menu", "fault"])
      listen(shop, name, () => {
        this.dialog.refresh();
        this.changed();
      });
    listen(shop, "news", (event) => {
      this.addNews((event as CustomEvent<News[]>).detail);
      this.changed();
    });
    listen(shop.basket, "change", () => {
      this.edited();
      this.emit("basket", {
        lines: shop.basket.lines.map(({ id, name, quantity }) => ({ id, name, quantity })),
        total: shop.menu ? shop.basket.total(shop.menu).toString() : null,
      });
      this.changed();
    });
    let retry = 0;
    listen(shop.placing, "change", () => {
      clearTimeout(retry);
      if (shop.placing.intent?.state === "lost") retry = setTimeout(() => void shop.placing.wake(), unreachable);
      this.follow(shop, signal);
      this.draw();
    });
    listen(shop.placing, "missed", () => {
      this.notice.textContent = this.message("unsent");
      this.submitted = true;
      this.heading.focus();
      this.later(); // shows what is wrong
    });
    listen(shop.placing, "ended", (event) => this.onEnded((event as CustomEvent<Placed | Refused>).detail));
    listen(shop.placing, "wrong", (event) => this.refuse((event as CustomEvent<Refusal>).detail));
    // Only the form continues an order: a page with only a menu does not know the order URL.
    const wake = (): void => {
      this.changed();
      this.follower?.retry();
      this.follow(shop, signal);
      void shop.placing.wake();
    };
    listen(document, "visibilitychange", () => {
      if (!document.hidden) wake();
    });
    listen(window, "online", wake);
    // Without the signal: it removes its own listeners first.
    signal.addEventListener("abort", () => {
      clearTimeout(retry);
      this.follower?.stop();
    });
    listen(window, "offline", () => this.draw());
    wake();
    preload(this);
  }

  /** follow keeps the state of the order current, if its file can be loaded. */
  private follow(shop: Shop, signal: AbortSignal): void {
    if (!this.follower && !shop.placing.intent) return;
    void checkoutFile.load().then((ok) => {
      if (ok && !signal.aborted) (this.follower ??= new checkoutFile.module!.OrderFollower()).follow(shop, signal);
    });
  }

  /** changed redraws and schedules a validation. */
  changed(): void {
    this.draw();
    this.later();
  }

  /** entered is called when the guest changes a field. */
  entered(): void {
    this.edited();
    this.changed();
  }

  /** edited drops an order that was certainly not sent: the guest changes it and orders again. */
  private edited(): void {
    const { placing } = this.shop!;
    if (!placing.intent || !notSent(placing.intent.state)) return;
    void placing.forget().then((state) => {
      this.draw();
      if (state === "offline" && !placing.intent) this.notice.textContent = this.message("withdrawn");
    });
  }

  /** startOver begins the next order. The focus moves at once: later, it would be taken from where the guest went on. */
  private async startOver(): Promise<void> {
    this.lead(this.heading);
    await this.shop?.placing.forget();
    this.submitted = false;
  }

  /** lead moves the focus, and scrolls so that the order begins in the upper part of the window. */
  private lead(target = this.outcome.element): void {
    target.focus({ preventScroll: true });
    const { top } = this.heading.getBoundingClientRect();
    if (top < 0 || top > innerHeight / 3) reach(this.heading, this);
  }

  /** reorder puts the dishes of an earlier order into the basket, as far as they are available. */
  private async reorder(lines: readonly Line[]): Promise<void> {
    const { menu, basket } = this.shop!;
    const { module } = checkoutFile; // if it is missing, the receipt says so
    if (!menu || !module || this.busy) return;
    const gone = module.reorder(menu, basket, lines);
    this.addNews(basket.compareWith(menu));
    await this.startOver();
    this.notice.textContent = gone.length ? this.message("notAgain", { names: gone.join(", ") }) : "";
  }

  /** later schedules a validation. The page does not move before the response. */
  later(): void {
    this.check?.drop();
    if (this.shop?.menu && this.shop.basket.lines.length && !this.busy) this.check?.begin();
  }

  protected render(): void {
    const shop = this.shop;
    const lines = shop?.basket.lines ?? [];
    const intent = shop?.placing.intent ?? null;
    const online = isOnline();
    this.heading.textContent = this.message("order");
    const focused = this.pending.matches(":focus-within");
    this.equip();
    this.toggleAttribute("placed", intent?.state === "placed");
    this.outcome.draw(intent, shop?.placing.asking ?? false, online, this.origin());
    if (this.leading && !this.outcome.element.hidden) {
      this.leading = false;
      this.lead();
    }
    if (shop && this.basketView) this.basketView.draw(shop);
    else if (!lines.length) this.basket.firstChild!.textContent = this.message("empty");
    this.drawPast();
    // One order at a time: the form is hidden until the outcome of the last order is known.
    const begun = intent !== null && !notSent(intent.state);
    if (begun) this.notice.textContent = "";
    this.box.hidden = begun || lines.length === 0;
    if (this.box.hidden) return;
    if (!this.fields && !this.pending.firstChild)
      this.pending.append(checkoutFile.pending(this.formatter, () => this.draw()));
    this.offline.textContent = intent || online ? "" : this.message("offlineForm");
    this.fields?.draw(this.format, this.busy);
    if (focused) this.fields?.focus("expeditionType");
    const sum = this.money(shop?.menu ? shop.basket.total(shop.menu) : Decimal.zero);
    this.total.replaceChildren(h("span", { class: "grow" }, this.message("total")), h("strong", {}, sum));
    const offer = this.message("place", { price: sum });
    if (this.submit.textContent !== offer) this.submit.textContent = offer; // replacing the text could cancel a click in progress
    this.submit.disabled = this.busy || this.checking || !shop?.menu || !this.fields;
    const some = lines.some(({ id }) => shop?.menu?.buyable(shop.menu.product(id)) ?? true);
    this.submit.hidden = intent !== null || !some; // without a dish that can be ordered, there is no total
    this.total.hidden = !some;
    this.drawViolations();
  }

  private addNews(list: readonly News[]): void {
    for (const news of list) this.news.set(news.line.key, news);
  }

  /** equip adds the basket, the fields and their styles, once they are loaded. */
  private equip(): void {
    const { module } = checkoutFile;
    if (!module || this.fields) return;
    this.basketView = new module.BasketView(this.basket, this.formatter, {
      news: this.news,
      change: (line) => this.dialog.open(line.id, line),
      setQuantity: (line, to) => this.shop?.basket.setQuantity(line.key, to),
      problemsOf: (line, menu, wrong) => this.check?.problemsOf(line, menu, wrong, this.formatter) ?? [],
      focusLost: () => this.heading.focus(),
    });
    const fields = (this.fields = new module.Fieldset(this));
    this.check = new module.OrderCheck({
      form: () => this.form,
      shop: () => this.shop,
      released: () => fields.released,
      draw: () => this.draw(),
    });
    this.pending.replaceWith(this.fields.element);
    const [first, ...others] = this.root.adoptedStyleSheets;
    this.root.adoptedStyleSheets = [first!, sheet(module.css), ...others];
    this.later();
  }

  /** busy reports whether an order may be in progress, or its outcome is not known. */
  private get busy(): boolean {
    return busy(this.shop?.placing.intent);
  }

  /** drawPast lists the orders of this browser. */
  private drawPast(): void {
    const { module } = checkoutFile;
    const past = this.shop?.history.list() ?? [];
    const current = this.shop?.placing.intent;
    const shape = JSON.stringify([
      past,
      this.format,
      this.timeZone,
      this.busy,
      !this.shop?.menu,
      current?.state === "placed" && current.at,
      module ? "" : this.past.open,
    ]);
    if (this.past.dataset.shape === shape) return;
    this.past.dataset.shape = shape;
    this.past.hidden = past.length === 0;
    const actions = {
      reorder: this.busy || !this.shop?.menu ? null : (lines: readonly Line[]) => void this.reorder(lines),
      clear: () => {
        this.shop?.history.clear();
        this.draw();
        this.heading.focus();
      },
    };
    const waiting = !module && this.past.open ? [checkoutFile.pending(this.formatter, () => this.draw())] : [];
    this.past.replaceChildren(
      h("summary", {}, this.message("pastOrders")),
      ...(module?.pastOrders(past, this.formatter, this.locale, this.timeZone, actions) ?? waiting),
    );
  }

  private drawViolations(): void {
    const { check } = this;
    if (!check) return;
    this.fields?.show(check.violations, this.summary, {
      submitted: this.submitted,
      menu: this.shop?.menu,
      line: (index) => {
        const row = check.lineAt(index);
        return row && [row, () => this.basketView?.focusLine(row.key)];
      },
      top: () => this.heading.focus(),
    });
  }

  /** place validates the order and, unless it is invalid, places it. Larder validates it again. */
  private async place(): Promise<void> {
    const { shop, check, fields } = this;
    if (!shop?.menu || !check || this.busy || this.checking || shop.basket.lines.length === 0) return;
    check.stop();
    this.submitted = true;
    this.notice.textContent = "";
    fields?.expire();
    if (!this.form.soonest && this.form.gone) return this.point();
    this.checking = true;
    const body = check.body(shop); // what the guest has agreed to
    try {
      this.draw();
      const valid = isOnline() ? await check.ask() : null;
      if (!isOnline()) check.checkHere();
      if (valid === false || (valid === null && check.violations.length)) {
        this.point();
        return;
      }
    } finally {
      this.checking = false;
      this.draw();
    }
    if (this.box.hidden) return this.point();
    if (shop !== this.shop) return; // the page shows another restaurant
    if (body !== check.body(shop)) return; // changed meanwhile, and drawn again: the guest decides
    this.leading = true;
    void shop.placing.begin(
      body,
      shop.basket.lines.map((line) => ({ ...line })),
    );
  }

  /** point moves the focus to the first error. */
  private point(): void {
    this.draw();
    if (this.box.hidden) return this.lead(); // it shows an earlier order that was placed late
    if (!this.basketView?.focusWrong() && !this.fields?.focusFirstWrong()) this.summary.focus();
  }

  private refuse({ violations, status, lines }: Refusal): void {
    const msg = this.message(status === 401 || status === 403 ? "notTaken" : "unsent");
    this.submitted = true;
    this.emit("violations", violations);
    const wrong = violations.length ? violations : [{ path: "", code: "", msg }];
    const early = !this.check;
    if (early) this.notice.textContent = wrong.map((one) => one.msg).join(" "); // until the fields can show it
    void checkoutFile.load().then((ok) => {
      this.equip();
      this.check?.show(wrong, lines);
      if (ok && early) this.notice.textContent = "";
      this.point();
    });
  }

  private onEnded(intent: Placed | Refused): void {
    if (intent.state === "placed") {
      this.submitted = false;
      this.check?.show([], []);
      this.news.clear();
      this.emit("placed", { orderID: intent.orderID, total: intent.total ?? null });
    } else {
      this.emit("refused", { message: intent.message ?? null });
    }
    this.draw();
    this.lead();
  }
}
