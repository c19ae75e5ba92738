// The base class of both elements: attributes, language, money and the shop.

import type { Details } from "./api";
import { decimal, type Decimal } from "./decimal";
import { once, sheet } from "./dom";
import { measureText, moneyText, numberText } from "./format";
import type { Formatter } from "./groups";
import { checkoutFile } from "./lazy";
import { diagnose, home } from "./report";
import { Shop } from "./shop";
import base from "./base.css";
import { canonical, inEnglish, message, wordingsOf, type Key, type Params, type Texts, type Wording } from "./texts";

const patience = 3_000; // milliseconds without texts before English is shown, and without the attribute restaurant before that is reported

/** LarderElement redraws itself when its attributes or its shop change. */
export abstract class LarderElement extends HTMLElement {
  static observedAttributes = [
    "src",
    "restaurant",
    "lang",
    "currency",
    "order-url",
    "payments",
    "theme",
    "texts",
    "menu-lang",
    "phone",
    "address",
    "time-zone",
    "lead-time",
    "max-lead",
    "links",
  ];
  protected readonly root: ShadowRoot;
  protected shop: Shop | null = null;
  protected fault: Key | null = null; // the text about a missing restaurant
  private listening = new AbortController();
  private wordings: Wording[] | null = null; // null until the first texts are loaded
  private tag = ""; // of the wordings
  private source: string | Partial<Texts> | null = null; // of the wordings
  private own: Partial<Texts> | null = null;
  private edition = 0;
  private readonly attach = once(() => this.join());

  constructor(css: string) {
    super();
    this.root = this.attachShadow({ mode: "open" });
    this.root.adoptedStyleSheets = [sheet(base), sheet(css)];
  }

  connectedCallback(): void {
    const { texts } = this;
    if (delete (this as { texts?: unknown }).texts && texts) this.texts = texts; // it was set before the element was defined
    this.attach();
    setTimeout(() => {
      if (this.restaurant || !this.isConnected) return;
      this.fault = "noRestaurant";
      this.draw();
      diagnose((find) => find.reportElement(this.localName));
    }, patience);
  }

  disconnectedCallback(): void {
    this.attach();
  }

  attributeChangedCallback(): void {
    this.attach();
  }

  /** restaurant is the id of the restaurant whose menu is shown. */
  get restaurant(): string {
    return this.getAttribute("restaurant") ?? "";
  }
  set restaurant(id: string) {
    this.setAttribute("restaurant", id);
  }

  /** texts replaces texts of the element, by key. Missing texts are those of the attribute lang. */
  get texts(): Partial<Texts> | null {
    return this.own;
  }
  set texts(texts: Partial<Texts> | null) {
    this.own = texts;
    this.attach();
  }

  /** language comes from the attribute lang, the nearest ancestor with lang, the browser, or is English. */
  get language(): string {
    return canonical(
      this.getAttribute("lang") || this.closest("[lang]")?.getAttribute("lang") || navigator.language || "en",
    );
  }

  /** locale is the language of formats: the browser's, with its region, if it is the language of the texts. */
  get locale(): string {
    const { language } = this;
    return navigator.languages?.find((one) => one.startsWith(language + "-")) ?? language;
  }

  /** format changes if the texts or the formats of the element change. */
  protected get format(): string {
    return [this.edition, this.language, this.getAttribute("currency"), this.shop?.menu?.cents].join();
  }

  protected message(key: Key, params?: Params): string {
    return message(this.wordings ?? [inEnglish], key, params);
  }

  /** money formats an exact amount, with the currency if the element has one, and with "+" if signed. */
  money(amount: Decimal, signed = false): string {
    const currency = this.getAttribute("currency") ?? "";
    return moneyText(amount, this.locale, currency, this.shop?.menu?.cents ?? false, signed);
  }

  get details(): Details {
    return this.shop?.details ?? {};
  }

  get timeZone(): string {
    return this.getAttribute("time-zone") || this.details.timeZone || "";
  }

  /** formatter formats texts, amounts and measures for parts of the element. */
  readonly formatter: Formatter = {
    message: (key, params) => this.message(key, params),
    money: (amount, signed) => this.money(amount, signed),
    number: (value) => numberText(decimal(value), this.locale),
    measure: (value, unit) =>
      measureText(value, unit, this.locale, (name) => (name === "pcs" ? this.message(name) : name)),
    soldOut: (id) => checkoutFile.module?.soldOut(id, this) ?? this.message("soldOut"),
  };

  /** emit dispatches an event "larder:…", which bubbles out of every shadow root. It returns false if its default was prevented. */
  protected emit(name: string, detail: unknown, cancelable = false): boolean {
    return this.dispatchEvent(new CustomEvent("larder:" + name, { detail, bubbles: true, composed: true, cancelable }));
  }

  /** joined is called when the element gets a shop. The signal ends when it leaves that shop. */
  protected abstract joined(shop: Shop, signal: AbortSignal): void;
  protected abstract render(): void;

  /** draw renders the element if its texts are loaded, so that guests do not see English first. */
  protected draw(): void {
    if (!this.wordings || !this.isConnected) return;
    this.render();
    this.markLanguages(this.wordings[0]!.language);
  }

  private content = ""; // the language of names and descriptions, or "" if it is that of the page
  private readonly additions = new MutationObserver((records) => {
    for (const { addedNodes } of records)
      for (const node of addedNodes) if (node instanceof Element) this.markContent(node);
  });

  /** markLanguages sets lang on the texts if they have another language than the page, and on names and descriptions (dir="auto"). */
  private markLanguages(language: string): void {
    const other = language.split("-")[0] !== this.language.split("-")[0];
    for (const child of this.root.children)
      if (!(child instanceof HTMLSlotElement))
        child.toggleAttribute("lang", other) && child.setAttribute("lang", language);
    const content = this.getAttribute("menu-lang") || (other ? this.language : "");
    if (content === this.content) return;
    this.content = content;
    this.additions.disconnect();
    if (content) this.additions.observe(this.root, { childList: true, subtree: true });
    for (const child of this.root.children) this.markContent(child);
  }

  private markContent(within: Element): void {
    const marked = within.matches("[dir=auto]") ? [within] : within.querySelectorAll("[dir=auto]");
    for (const element of marked)
      if (this.content) element.setAttribute("lang", this.content);
      else element.removeAttribute("lang");
  }

  /** spell loads the texts if the language or the source of the texts has changed. Until then, the old ones stay. */
  private spell(): void {
    const tag = this.language;
    const source = this.own ?? this.getAttribute("texts") ?? "";
    if (tag === this.tag && source === this.source) return;
    this.tag = tag;
    this.source = source;
    const use = (wordings: Wording[]): void => {
      if (tag !== this.tag || source !== this.source) return;
      this.wordings = wordings;
      this.edition++;
      this.draw();
    };
    const timer = setTimeout(() => this.wordings ?? use([inEnglish]), patience);
    void wordingsOf(tag, source).then((wordings) => {
      clearTimeout(timer);
      use(wordings);
    });
  }

  private join(): void {
    if (this.isConnected) this.spell();
    const src = this.getAttribute("src");
    const at = src ? new URL(src, document.baseURI).href.replace(/\/+$/, "") : home;
    const shop = this.isConnected && this.restaurant ? Shop.of(at, this.restaurant) : null;
    if (shop) {
      shop.lang = this.language;
      const orderURL = this.getAttribute("order-url");
      if (orderURL) shop.orderURL = new URL(orderURL, document.baseURI).href;
    }
    if (shop !== this.shop) {
      this.listening.abort();
      this.listening = new AbortController();
      this.shop?.leave();
      this.shop = shop;
      if (shop) {
        this.joined(shop, this.listening.signal);
        shop.enter();
      }
    }
    this.draw();
  }
}
