// The past orders of this browser, without address and phone number.

import type { Line } from "./basket";
import { orUndefined, type Store } from "./store";

/** Past is an order that was placed. */
export interface Past {
  orderID: string;
  at: number;
  total: string | null;
  lines: Line[];
}

const most = 10;

/** History keeps the latest orders of one restaurant. */
export class History {
  constructor(
    private readonly store: Store,
    readonly name: string,
  ) {}

  /** list returns the orders, newest first. */
  list(): Past[] {
    const kept = orUndefined(() => JSON.parse(this.store.getItem(this.name) ?? "[]")) as Past[] | undefined;
    return Array.isArray(kept)
      ? kept.filter((p) => typeof p?.orderID === "string" && Array.isArray(p.lines)).slice(0, most)
      : [];
  }

  /** add stores an order, once. */
  add(past: Past): void {
    const others = this.list().filter((p) => p.orderID !== past.orderID || p.at !== past.at);
    this.store.setItem(this.name, JSON.stringify([past, ...others].slice(0, most)));
  }

  clear(): void {
    this.store.removeItem(this.name);
  }
}
