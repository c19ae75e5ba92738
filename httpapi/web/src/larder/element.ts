// The base class of both elements: attributes, language, money and the shop.

import { Decimal } from "./decimal";
import { once, sheet } from "./dom";
import { Shop } from "./shop";
import base from "./base.css";
import dialog from "./dialog.css";
import { languageOf, message, type Key, type Language } from "./texts";

const formats = new Map<string, Intl.NumberFormat>(); // creating one is slow
const home = new URL(import.meta.url).origin;

/** LarderElement redraws itself when its attributes or its shop change. */
export abstract class LarderElement extends HTMLElement {
  static observedAttributes = ["src", "restaurant", "lang", "currency", "order-url", "payments", "theme"];
  protected readonly root: ShadowRoot;
  protected shop: Shop | null = null;
  private listening = new AbortController();
  private readonly attach = once(() => this.join());

  constructor(css: string) {
    super();
    this.root = this.attachShadow({ mode: "open" });
    this.root.adoptedStyleSheets = [sheet(base), sheet(dialog), sheet(css)];
  }

  connectedCallback(): void { this.attach(); }

  disconnectedCallback(): void { this.attach(); }

  attributeChangedCallback(): void { this.attach(); }

  /** restaurant is the id of the restaurant whose menu is shown. */
  get restaurant(): string { return this.getAttribute("restaurant") ?? ""; }
  set restaurant(id: string) { this.setAttribute("restaurant", id); }

  /** language comes from the attribute lang, the nearest ancestor with lang, the browser, or is English. */
  get language(): Language {
    return languageOf(this.getAttribute("lang") || this.closest("[lang]")?.getAttribute("lang") || navigator.language || "en");
  }

  protected message(key: Key, params?: Record<string, string | number>): string { return message(this.language, key, params); }

  /** money formats an exact amount, with the currency if the element has one. */
  protected money(amount: Decimal): string {
    const currency = this.getAttribute("currency");
    const name = this.language + currency;
    try {
      let format = formats.get(name);
      if (!format) {
        const style = { minimumFractionDigits: 2, maximumFractionDigits: 2, trailingZeroDisplay: "stripIfInteger", ...(currency && { style: "currency", currency }) };
        formats.set(name, (format = new Intl.NumberFormat(this.language, style as Intl.NumberFormatOptions)));
      }
      return format.format(amount.toString() as unknown as number);
    } catch { // unknown currency
      return `${amount} ${currency}`;
    }
  }

  /** emit dispatches an event "larder:…", which bubbles out of every shadow root. */
  protected emit(name: string, detail: unknown): void {
    this.dispatchEvent(new CustomEvent("larder:" + name, { detail, bubbles: true, composed: true }));
  }

  /** joined is called when the element gets a shop. The signal ends when it leaves that shop. */
  protected abstract joined(shop: Shop, signal: AbortSignal): void;
  protected abstract draw(): void;

  private join(): void {
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
    if (this.isConnected) this.draw();
  }
}
