import type { Line, News } from "./basket";
import { fractional, picksText, linePrice, priced, unitPrice } from "./choice";
import { Decimal, decimal } from "./decimal";
import { DishDialog } from "./dish";
import { h } from "./dom";
import { LarderElement } from "./element";
import { Fieldset, type FormHost } from "./fieldset";
import { bodyOf, placeOf, withoutDuplicates, type Form } from "./order";
import css from "./order.css";
import { ended, type Intent, type Violation } from "./place";
import { outcome } from "./outcome";
import type { Shop } from "./shop";
import { orUndefined } from "./store";

const pause = 400; // milliseconds between the last change and the validation

/** LarderOrderForm is <larder-order-form>: basket, order form, and the outcome of the order. */
export class LarderOrderForm extends LarderElement implements FormHost {
  form: Form = { expedition: "delivery", payment: "cash", soonest: true, at: "", fields: {} };
  private readonly heading = h("h2", { part: "order-name", tabindex: "-1" });
  private readonly outcome = h("div", { part: "outcome", role: "status", tabindex: "-1" });
  private readonly basket = h("ul", { part: "basket" });
  private readonly total = h("p", { part: "total", class: "row" });
  private readonly summary = h("div", { part: "violations", role: "alert", tabindex: "-1" });
  private readonly submit = h("button", { type: "submit", class: "main", part: "place" });
  private readonly fields = new Fieldset(this);
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

  constructor() {
    super(css);
    const formatter = { message: this.message.bind(this), money: this.money.bind(this) };
    this.dialog = new DishDialog(() => this.shop, formatter, () => this.changed());
    this.box = h("form", { part: "form", novalidate: true, onsubmit: (event: Event) => {
      event.preventDefault();
      void this.place();
    } }, this.fields.element, this.summary, this.total, this.submit);
    this.root.append(h("slot", { name: "header" }), this.heading, this.outcome, this.basket, this.box, this.dialog.element, h("slot", { name: "footer" }));
  }

  /** payments returns the payment types: the attribute payments, or cash and card. */
  get payments(): string[] { return (this.getAttribute("payments") || "cash card").split(/[\s,]+/).filter(Boolean); }

  text(key: Parameters<FormHost["text"]>[0], params?: Record<string, string | number>): string { return this.message(key, params); }

  protected joined(shop: Shop, signal: AbortSignal): void {
    this.recall();
    const listen = (target: EventTarget, name: string, work: (event: Event) => void): void => target.addEventListener(name, work, { signal });
    for (const name of ["menu", "fault"]) listen(shop, name, () => this.changed());
    listen(shop, "news", (event) => {
      for (const news of (event as CustomEvent<News[]>).detail) this.news.set(news.line.key, news);
      this.changed();
    });
    listen(shop.basket, "change", () => {
      this.emit("basket", { lines: shop.basket.lines.map(({ id, name, quantity }) => ({ id, name, quantity })), total: shop.menu ? shop.basket.total(shop.menu).toString() : null });
      this.changed();
    });
    listen(shop.placing, "change", () => this.draw());
    listen(shop.placing, "ended", (event) => this.onEnded((event as CustomEvent<Intent>).detail));
    listen(shop.placing, "wrong", (event) => this.refuse((event as CustomEvent<{ violations: Violation[]; status: number }>).detail));
    // Only the form continues an order: a page with only a menu does not know the order URL.
    listen(document, "visibilitychange", () => { if (document.visibilityState === "visible") void shop.placing.wake(); });
    void shop.placing.wake();
  }

  /** changed stores what was entered, redraws, and schedules a validation. */
  changed(): void {
    orUndefined(() => sessionStorage.setItem("larder:guest", JSON.stringify(this.form)));
    this.draw();
    this.later();
  }

  /** later schedules a validation. The page does not move before the response. */
  later(): void {
    clearTimeout(this.timer);
    this.question?.abort();
    if (this.shop?.menu && this.shop.basket.lines.length && !this.busy) this.timer = setTimeout(() => void this.ask(), pause);
  }

  protected render(): void {
    const shop = this.shop;
    const lines = shop?.basket.lines ?? [];
    const intent = shop?.placing.intent ?? null;
    this.heading.textContent = this.message("order");
    outcome(this.outcome, intent, shop?.placing.asking ?? false, this.formatter, {
      again: () => void shop?.placing.resume(),
      startOver: () => {
        shop?.placing.forget();
        this.submitted = false;
        this.heading.focus();
      },
    });
    if (this.leading && !this.outcome.hidden) {
      this.leading = false;
      this.outcome.focus();
    }
    this.drawBasket(lines);
    // One order at a time: the form is hidden until the outcome of the last order is known.
    this.box.hidden = intent !== null && intent.state !== "unsent" || lines.length === 0;
    if (this.box.hidden) return;
    this.fields.draw(this.format, this.busy);
    const sum = this.money(shop?.menu ? shop.basket.total(shop.menu) : Decimal.zero);
    this.total.replaceChildren(h("span", { class: "grow" }, this.message("total")), h("strong", {}, sum));
    const offer = this.message("place", { price: sum });
    if (this.submit.textContent !== offer) this.submit.textContent = offer; // replacing the text could cancel a click in progress
    this.submit.disabled = this.busy || this.checking || !shop?.menu;
    this.submit.hidden = intent?.state === "unsent";
    this.drawViolations();
  }

  private readonly formatter = { message: this.message.bind(this), money: this.money.bind(this) };

  /** busy reports whether an order is in progress or its outcome is not known. */
  private get busy(): boolean {
    const state = this.shop?.placing.intent?.state;
    return state !== undefined && !ended(state);
  }

  private drawBasket(lines: Line[]): void {
    const menu = this.shop?.menu ?? null;
    const focused = (this.root.activeElement as HTMLElement | null)?.dataset.focus;
    const rows = lines.map((line) => {
      const product = menu?.product(line.id);
      const quantity = decimal(line.quantity);
      const set = (to: Decimal): void => this.shop?.basket.setQuantity(line.key, to);
      const button = (what: string, label: string, text: string, work: () => void, round = true): HTMLButtonElement => h("button", {
        type: "button", class: round ? "round" : "", "aria-label": label, "data-focus": what + line.key, disabled: this.busy, onclick: work,
      }, text);
      const price = menu && product && priced(menu, product, line.picks) ? this.money(linePrice(unitPrice(menu, product, line.picks), quantity)) : "";
      const name = product?.name ?? line.name;
      const words = this.wordsOf(line);
      return h("li", { part: "line", "data-line": line.id, "aria-invalid": words.some(([, wrong]) => wrong) }, h("div", { class: "row" }, h("div", { class: "grow" }, h("strong", {}, name),
        menu && line.picks.length > 0 && h("p", { class: "muted" }, picksText(menu, line.picks))), h("span", { part: "line-price" }, price)),
        ...words.map(([text, wrong]) => h("p", { class: wrong ? "wrong" : "muted", part: "line-note" }, text)),
        h("div", { class: "row actions" }, button("-", this.message("fewer", { name }), "−", () => set(quantity.plus(decimal(-1)))), h("output", { class: "count" }, line.quantity),
          button("+", this.message("more", { name }), "+", () => set(quantity.plus(decimal(1)))),
          h("span", { class: "grow" }),
          product && menu && (line.picks.length > 0 || fractional(product) || menu.groups(product.schemeId).length > 0)
            && button("c", this.message("changeNamed", { name }), this.message("change"), () => this.dialog.open(line.id, line), false),
          button("x", this.message("removeNamed", { name }), this.message("remove"), () => set(Decimal.zero), false)));
    });
    this.basket.replaceChildren(...rows.length ? rows : [h("li", { class: "muted" }, this.shop?.placing.intent?.state === "placed" ? "" : this.message("empty"))]);
    if (focused) {
      const again = [...this.basket.querySelectorAll<HTMLElement>("[data-focus]")].find((b) => b.dataset.focus === focused);
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
    else if (news?.kind === "price") words.push([this.message("linePrice", { was: this.money(decimal(news.was)), now: this.money(decimal(news.now)) }), false]);
    if (!words.some(([, wrong]) => wrong)) for (const v of this.violations) if (this.asked[placeOf(v).line ?? -1] === line.key) words.push([v.msg, true]);
    return words;
  }

  private drawViolations(): void {
    const elsewhere: Violation[] = [];
    const things = new Set<Violation | string>(); // a field counts once, even with several errors
    this.fields.clear();
    for (const violation of withoutDuplicates(this.violations)) {
      const { line, field } = placeOf(violation);
      const msg = violation.code === "field_required" ? this.message("fillIn") : violation.msg;
      const marked = line === undefined && field !== undefined && this.fields.mark(field, msg, this.submitted);
      if (line === undefined && !marked) elsewhere.push(violation);
      things.add(marked ? field : violation);
    }
    const shown = this.submitted ? things.size : 0;
    const words = shown ? [this.message("wrong", { n: shown }), ...elsewhere.map((v) => v.msg)] : [];
    if (this.summary.textContent !== words.join("")) this.summary.replaceChildren(...words.map((w) => h("p", { class: "wrong" }, w)));
  }

  private body(): string { return bodyOf(this.shop!.menu!, this.shop!.basket.lines, this.form); }

  /** ask validates the order. If a newer request was sent, it ignores the response. */
  private async ask(): Promise<boolean | null> {
    if (!this.shop?.menu || this.shop.basket.lines.length === 0) return null;
    const question = (this.question = new AbortController());
    const asked = this.shop.basket.lines.map((l) => l.key);
    const verdict = await this.shop.api.validate(this.body(), question.signal);
    if (question.signal.aborted || question !== this.question) return null;
    this.violations = verdict?.violations ?? [];
    this.asked = asked;
    this.draw();
    return verdict?.valid ?? null;
  }

  /** place validates the order and, unless it is invalid, places it. Larder validates it again. */
  private async place(): Promise<void> {
    const shop = this.shop;
    if (!shop?.menu || this.busy || this.checking || shop.basket.lines.length === 0) return;
    clearTimeout(this.timer);
    this.submitted = this.checking = true;
    try {
      const valid = await this.ask();
      if (valid === false) {
        this.point();
        return;
      }
    } finally {
      this.checking = false;
      this.draw();
    }
    this.leading = true;
    this.asked = shop.basket.lines.map((l) => l.key);
    void shop.placing.begin(this.body(), shop.basket.lines.map(({ key, quantity }) => ({ key, quantity })));
  }

  /** point moves the focus to the first error. */
  private point(): void {
    this.draw();
    const line = this.basket.querySelector<HTMLElement>("[aria-invalid=true] button:not(:disabled)");
    (line ?? this.fields.firstWrong() ?? this.summary).focus();
  }

  private refuse({ violations, status }: { violations: Violation[]; status: number }): void {
    this.violations = violations.length ? violations : [{ path: "", code: "", msg: this.message(status === 401 || status === 403 ? "notTaken" : "unsent") }];
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
    this.outcome.focus();
  }

  /** recall restores what was entered before a reload. */
  private recall(): void {
    const kept = orUndefined(() => JSON.parse(sessionStorage.getItem("larder:guest") ?? "null")) as Form | null | undefined;
    if (kept && typeof kept.fields === "object" && kept.fields) this.form = { ...this.form, ...kept };
    if (!this.payments.includes(this.form.payment)) this.form.payment = this.payments[0] ?? "cash";
  }
}
