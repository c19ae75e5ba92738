import type { Details } from "./api";
import type { Line, News } from "./basket";
import { picksText, linePrice, priced, unitPrice, weighed } from "./choice";
import { simple } from "./card";
import { Decimal, decimal } from "./decimal";
import { DishDialog } from "./dialog";
import { h, reach, sheet } from "./dom";
import { LarderElement } from "./element";
import type { Fieldset, FormHost } from "./fieldset";
import type { Form } from "./order";
import { checkoutFile, preload } from "./lazy";
import css from "./order.css";
import { busy, isOnline, notSent, type Intent, type Refusal, type Violation } from "./place";
import { Outcome, type Origin } from "./outcome";
import type { Shop } from "./shop";
import type { Opening } from "./times";

const pause = 400; // milliseconds between the last change and the validation
const unreachable = 30_000; // milliseconds until an order is checked again that got no response

/** LarderOrderForm is <larder-order-form>: basket, order form, and the outcome of the order. */
export class LarderOrderForm extends LarderElement implements FormHost {
  form: Form = { expedition: "delivery", payment: "cash", soonest: true, at: "", fields: {} };
  private readonly heading = h("h2", { part: "order-name", tabindex: "-1" });
  private readonly notice = h("p", { part: "notice", role: "status" });
  private readonly outcome: Outcome;
  private readonly past = h("details", { part: "history", hidden: true, ontoggle: () => this.drawPast() });
  private readonly basket = h("ul", { part: "basket" });
  private readonly total = h("p", { part: "total", class: "row" });
  private readonly summary = h("div", { part: "violations", role: "alert", tabindex: "-1" });
  private readonly offline = h("p", { part: "offline", class: "muted", role: "status" });
  private readonly submit = h("button", { type: "submit", class: "main", part: "place" });
  private readonly pending = h("div"); // until the fields are loaded
  private fields: Fieldset | null = null;
  private readonly box: HTMLFormElement;
  private readonly dialog: DishDialog;
  private news = new Map<string, News>();
  private violations: Violation[] = [];
  private asked: string[] = []; // the keys of the validated lines; violations refer to them by index
  private submitted = false; // the guest has tried to order
  private timer = 0;
  private question: AbortController | null = null;
  private checking = false;
  private leading = false; // move the focus to the outcome when it is shown
  private details: Details = {};
  private live = { key: "", stop: new AbortController(), over: false }; // the stream of the order's state
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
      this.total,
      this.offline,
      this.submit,
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

  text(key: Parameters<FormHost["text"]>[0], params?: Record<string, string | number>): string {
    return this.message(key, params);
  }

  get timeZone(): string {
    return this.getAttribute("time-zone") || this.details.timeZone || "";
  }

  private origin(): Origin {
    return {
      name: this.shop?.menu?.body.restaurant.name ?? "",
      phone: this.getAttribute("phone") || this.details.guestPhone || "",
      address: this.getAttribute("address") || this.details.address || "",
      zone: this.timeZone,
      language: this.language,
      format: this.format,
    };
  }

  protected joined(shop: Shop, signal: AbortSignal): void {
    this.details = {}; // of the restaurant before
    this.live.stop.abort();
    this.live.key = "";
    const listen = (target: EventTarget, name: string, work: (event: Event) => void): void =>
      target.addEventListener(name, work, { signal });
    for (const name of ["menu", "fault"])
      listen(shop, name, () => {
        this.dialog.refresh();
        this.changed();
      });
    listen(shop, "news", (event) => {
      for (const news of (event as CustomEvent<News[]>).detail) this.news.set(news.line.key, news);
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
    listen(shop.placing, "change", () => {
      this.follow(signal);
      this.draw();
    });
    listen(shop.placing, "missed", () => {
      this.notice.textContent = this.message("unsent");
      this.submitted = true;
      this.heading.focus();
      this.later(); // shows what is wrong
    });
    listen(shop.placing, "ended", (event) => this.onEnded((event as CustomEvent<Intent>).detail));
    listen(shop.placing, "wrong", (event) => this.refuse((event as CustomEvent<Refusal>).detail));
    // Only the form continues an order: a page with only a menu does not know the order URL.
    const wake = (): void => {
      this.changed();
      if (this.live.over) this.live.key = "";
      this.follow(signal);
      void shop.placing.wake();
    };
    listen(document, "visibilitychange", () => {
      if (document.visibilityState === "visible") wake();
    });
    listen(window, "online", wake);
    let retry = 0;
    listen(shop.placing, "change", () => {
      clearTimeout(retry);
      if (shop.placing.intent?.state === "lost") retry = setTimeout(() => void shop.placing.wake(), unreachable);
    });
    listen(signal, "abort", () => {
      clearTimeout(retry);
      this.live.stop.abort();
    });
    listen(window, "offline", () => this.draw());
    void shop.api.restaurant().then((details) => {
      if (signal.aborted) return;
      this.details = details;
      this.draw();
    });
    void shop.placing.wake();
    this.follow(signal);
    preload(this);
  }

  /** follow keeps the state of the placed order current, until it is final. A site's own backend has no such stream. */
  private follow(signal: AbortSignal): void {
    const { placing, api, orderURL } = this.shop!;
    const intent = placing.intent;
    const changes =
      intent &&
      !orderURL &&
      (intent.state === "unknown" || (intent.state === "placed" && !intent.closed && !intent.rejected));
    const key = changes && !signal.aborted ? intent.key : "";
    if (key === this.live.key) return;
    this.live.stop.abort();
    const live: typeof this.live = (this.live = { key, stop: new AbortController(), over: false });
    if (!key) return;
    void checkoutFile.load().then(async (ok) => {
      if (!ok)
        live.key = ""; // the next change tries again
      else
        await checkoutFile.module!.followOrder(
          api.orderEvents,
          key,
          live.stop.signal,
          () => api.look(key),
          (seen) => placing.observe(key, seen),
        );
      live.over = true; // larder has rejected it: waking tries again
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

  private async startOver(): Promise<void> {
    await this.shop?.placing.forget();
    this.submitted = false;
    this.lead(this.heading);
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
    for (const news of basket.compareWith(menu)) this.news.set(news.line.key, news);
    await this.startOver();
    this.notice.textContent = gone.length ? this.message("notAgain", { names: gone.join(", ") }) : "";
  }

  /** later schedules a validation. The page does not move before the response. */
  later(): void {
    clearTimeout(this.timer);
    this.question?.abort();
    if (this.shop?.menu && this.shop.basket.lines.length && !this.busy)
      this.timer = setTimeout(() => void this.ask(), pause);
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
    this.drawBasket(lines);
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
    this.submit.hidden = intent !== null;
    this.drawViolations();
  }

  /** equip adds the fields and their styles, once they are loaded. */
  private equip(): void {
    const { module } = checkoutFile;
    if (!module || this.fields) return;
    this.fields = new module.Fieldset(this);
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
    this.past.replaceChildren(
      h("summary", {}, this.message("pastOrders")),
      ...(module
        ? module.pastOrders(past, this.formatter, this.language, this.timeZone, actions)
        : this.past.open
          ? [checkoutFile.pending(this.formatter, () => this.draw())]
          : []),
    );
  }

  private drawBasket(lines: Line[]): void {
    const menu = this.shop?.menu ?? null;
    const focused = (this.root.activeElement as HTMLElement | null)?.dataset.focus;
    const rows = lines.map((line) => {
      const product = menu?.product(line.id);
      const quantity = decimal(line.quantity);
      const by = weighed(product) ? "0.1" : "1";
      const set = (to: Decimal): void => this.shop?.basket.setQuantity(line.key, to);
      const button = (what: string, label: string, text: string, work: () => void, round = true): HTMLButtonElement =>
        h(
          "button",
          {
            type: "button",
            class: round ? "round" : "",
            "aria-label": label,
            "data-focus": what + line.key,
            disabled: this.busy,
            onclick: work,
          },
          text,
        );
      const price =
        menu && product && priced(menu, product, line.picks)
          ? this.money(linePrice(unitPrice(menu, product, line.picks), quantity))
          : "";
      const name = product?.name ?? line.name;
      const words = this.wordsOf(line);
      return h(
        "li",
        { part: "line", "data-line": line.id, "aria-invalid": words.some(([, wrong]) => wrong) },
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
        ...words.map(([text, wrong]) => h("p", { class: wrong ? "wrong" : "muted", part: "line-note" }, text)),
        h(
          "div",
          { class: "row actions" },
          button("-", this.message("fewer", { name }), "−", () => set(quantity.plus(decimal("-" + by)))),
          h("output", { class: "count" }, this.formatter.number(line.quantity)),
          button("+", this.message("more", { name }), "+", () => set(quantity.plus(decimal(by)))),
          h(
            "span",
            { class: "row ends" },
            product &&
              menu &&
              (line.picks.length > 0 || !simple(menu, product)) &&
              button(
                "c",
                this.message("changeNamed", { name }),
                this.message("change"),
                () => this.dialog.open(line.id, line),
                false,
              ),
            button("x", this.message("removeNamed", { name }), this.message("remove"), () => set(Decimal.zero), false),
          ),
        ),
      );
    });
    this.basket.replaceChildren(
      ...(rows.length
        ? rows
        : [h("li", { class: "muted" }, this.shop?.placing.intent?.state === "placed" ? "" : this.message("empty"))]),
    );
    if (focused) {
      const again = [...this.basket.querySelectorAll<HTMLElement>("[data-focus]")].find(
        (b) => b.dataset.focus === focused,
      );
      (again ?? this.heading).focus();
    }
  }

  /** wordsOf returns the messages for a line, each with whether it is an error. */
  private wordsOf(line: Line): [string, boolean][] {
    const news = this.news.get(line.key);
    const menu = this.shop?.menu;
    const words: [string, boolean][] = [];
    const product = menu?.product(line.id);
    if (menu && (!product || !menu.buyable(product))) words.push([this.message("lineGone"), true]);
    else if (news?.kind === "options") words.push([this.message("lineOptions"), true]);
    else if (news?.kind === "price")
      words.push([
        this.message("linePrice", { was: this.money(decimal(news.was)), now: this.money(decimal(news.now)) }),
        false,
      ]);
    const { module } = checkoutFile;
    if (module && menu)
      words.push(
        ...module.lineMessages(
          this.violations,
          this.asked.indexOf(line.key),
          menu,
          line.picks,
          words.some(([, wrong]) => wrong),
        ),
      );
    return words;
  }

  private drawViolations(): void {
    this.fields?.show(this.violations, this.summary, {
      submitted: this.submitted,
      menu: this.shop?.menu,
      line: (index) => {
        const row = this.shop?.basket.lines.find((l) => l.key === this.asked[index]);
        return row && [row, () => this.focusLine(row.key)];
      },
      top: () => this.heading.focus(),
    });
  }

  private focusLine(key: string): void {
    [...this.basket.querySelectorAll<HTMLElement>("[data-focus]")].find((b) => b.dataset.focus === "x" + key)?.focus();
  }

  private body(): string {
    return checkoutFile.module!.bodyOf(this.shop!.menu!, this.shop!.basket.lines, this.form);
  }

  /** ask validates the order. If a newer request was sent, it ignores the response. */
  private async ask(): Promise<boolean | null> {
    if (!this.shop?.menu || this.shop.basket.lines.length === 0 || !this.fields) return null;
    const question = (this.question = new AbortController());
    const asked = this.shop.basket.lines.map((l) => l.key);
    const verdict = await this.shop.api.validate(this.body(), question.signal);
    await this.fields.released;
    if (question.signal.aborted || question !== this.question) return null;
    this.violations = verdict?.violations ?? checkoutFile.module!.problemsOf(this.form);
    this.asked = asked;
    this.draw();
    return verdict?.valid ?? null;
  }

  /** place validates the order and, unless it is invalid, places it. Larder validates it again. */
  private async place(): Promise<void> {
    const shop = this.shop;
    if (!shop?.menu || !this.fields || this.busy || this.checking || shop.basket.lines.length === 0) return;
    clearTimeout(this.timer);
    this.submitted = true;
    this.notice.textContent = "";
    this.fields?.expire();
    if (!this.form.soonest && this.form.gone) return this.point();
    this.checking = true;
    const body = this.body(); // what the guest has agreed to
    try {
      this.draw();
      const valid = isOnline() ? await this.ask() : null;
      if (!isOnline()) this.violations = checkoutFile.module!.problemsOf(this.form);
      if (valid === false || (valid === null && this.violations.length)) {
        this.point();
        return;
      }
    } finally {
      this.checking = false;
      this.draw();
    }
    if (this.box.hidden) return this.lead(); // it shows an earlier order that was placed late
    if (body !== this.body()) return; // changed meanwhile, and drawn again: the guest decides
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
    const line = this.basket.querySelector<HTMLElement>("[aria-invalid=true] button:not(:disabled)");
    if (line) line.focus();
    else if (!this.fields?.focusFirstWrong()) this.summary.focus();
  }

  private refuse({ violations, status, lines }: Refusal): void {
    this.asked = lines;
    this.violations = violations.length
      ? violations
      : [{ path: "", code: "", msg: this.message(status === 401 || status === 403 ? "notTaken" : "unsent") }];
    this.submitted = true;
    this.emit("violations", violations);
    this.point();
  }

  private onEnded(intent: Intent): void {
    if (intent.state === "placed") {
      this.submitted = false;
      this.violations = [];
      this.news.clear();
      this.emit("placed", { orderID: intent.orderID, total: intent.total ?? null });
    } else {
      this.emit("refused", { message: intent.message ?? null });
    }
    this.draw();
    this.lead();
  }
}
