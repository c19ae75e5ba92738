// Types of larder's elements and events. Copy this file into your project: TypeScript
// then knows document.querySelector("larder-menu") and addEventListener("larder:placed", …).

/** A text, or plural forms of which `other` is required. "{n}" and other parameters keep their names. */
export type LarderText =
  string | { zero?: string; one?: string; two?: string; few?: string; many?: string; other: string };

/** Texts by key. /web/texts.json has all keys. */
export type LarderTexts = Record<string, LarderText>;

/** The attributes of both elements. */
export interface LarderAttributes {
  restaurant: string;
  src?: string;
  lang?: string;
  "menu-lang"?: string;
  texts?: string;
  currency?: string;
  theme?: "light" | "dark";
  "time-zone"?: string;
  links?: string;
}

export interface LarderMenuAttributes extends LarderAttributes {}

export interface LarderOrderFormAttributes extends LarderAttributes {
  payments?: string;
  "order-url"?: string;
  phone?: string;
  address?: string;
  "lead-time"?: string;
  "max-lead"?: string;
  /** Set by the form while it shows a confirmation. */
  placed?: boolean;
}

export interface LarderElement extends HTMLElement {
  restaurant: string;
  texts: LarderTexts | null;
  readonly language: string;
}

export interface LarderMenu extends LarderElement {
  /** Opens the dialog of a dish. */
  open(id: string): void;
}

export interface LarderOrderForm extends LarderElement {
  readonly payments: string[];
  /** The intervals in which the restaurant takes orders, or null if they are not known. */
  openings: readonly LarderOpening[] | null;
}

/** An interval in RFC 3339. */
export interface LarderOpening {
  from: string;
  to: string;
}

export interface LarderViolation {
  path: string;
  code: string;
  msg: string;
  params?: Record<string, unknown>;
}

export interface LarderBasketNews {
  id: string;
  name: string;
  kind: "gone" | "options" | "price";
  was?: string;
  now?: string;
}

/** The events of the elements. They bubble, so document and window receive them too. Prices, totals and quantities are decimal strings such as "219.9". */
export interface LarderEventMap {
  "larder:menu": CustomEvent<{ version: number | null; name: string | null }>;
  "larder:added": CustomEvent<{ id: string; name: string; quantity: string; price: string }>;
  "larder:basket": CustomEvent<{ lines: { id: string; name: string; quantity: string }[]; total: string | null }>;
  "larder:basket-open": CustomEvent<null>;
  "larder:basket-news": CustomEvent<LarderBasketNews[]>;
  "larder:violations": CustomEvent<LarderViolation[]>;
  "larder:placed": CustomEvent<{ orderID: string; total: string | null }>;
  "larder:refused": CustomEvent<{ message: string | null }>;
}

declare global {
  interface HTMLElementTagNameMap {
    "larder-menu": LarderMenu;
    "larder-order-form": LarderOrderForm;
  }
  interface HTMLElementEventMap extends LarderEventMap {}
  interface DocumentEventMap extends LarderEventMap {}
  interface WindowEventMap extends LarderEventMap {}
}
