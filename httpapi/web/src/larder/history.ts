// The past orders of this browser, without address and phone number.

import type { Line } from "./basket";
import { orUndefined, type Store } from "./store";

/** Past is an order that was placed. */
export interface Past {
  orderID: string;
  at: number;
  total: string | null;
  lines: Line[];
  end?: "rejected" | "closed" | undefined; // how it ended, if that is known
  reason?: string | undefined; // the restaurant's text about the rejection
}

const most = 10;

const same = (one: Pick<Past, "orderID" | "at">, other: Pick<Past, "orderID" | "at">): boolean =>
  one.orderID === other.orderID && one.at === other.at;

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
    this.write([past, ...this.list().filter((one) => !same(one, past))]);
  }

  /** end stores how an order has ended. */
  end(ended: Omit<Past, "total" | "lines">): void {
    const list = this.list();
    const past = list.find((one) => same(one, ended));
    if (!past || past.end === ended.end) return;
    Object.assign(past, ended);
    this.write(list);
  }

  private write(list: Past[]): void {
    this.store.setItem(this.name, JSON.stringify(list.slice(0, most)));
  }

  clear(): void {
    this.store.removeItem(this.name);
  }
}
