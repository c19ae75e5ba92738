// The basket of one restaurant. It survives a reload, all tabs share it, and it
// reports lines that the current menu cannot fulfil.

import { picksText, linePrice, priced, unfit, unitPrice, weighed, type Pick } from "./choice";
import { Decimal, decimal } from "./decimal";
import type { Menu } from "./menu";
import { orUndefined, type Store } from "./store";

/** Line is a chosen dish. Its name and price are the last ones that the guest saw. */
export interface Line {
  key: string;
  id: string;
  name: string;
  price: string;
  quantity: string;
  picks: Pick[];
  unit?: "kg" | "liter" | null; // of a weighed dish, whose quantity is its weight or volume
}

/** News is an effect of a new menu on a line. It is shown at the line. */
export interface News {
  line: Line;
  kind: "gone" | "options" | "price";
  was?: string;
  now?: string;
}

const format = 1; // of the stored data; other formats are ignored

/** Basket dispatches "change" after each change. */
export class Basket extends EventTarget {
  lines: Line[] = [];

  constructor(
    private readonly store: Store,
    readonly name: string,
  ) {
    super();
    this.read();
  }

  /** read loads the stored lines, after a reload or a change in another tab. */
  read(): void {
    this.lines = parsed(this.store.getItem(this.name));
    this.changed();
  }

  /** add adds a dish. The same dish with the same picks increases the quantity of its line. */
  add(line: Omit<Line, "key">): void {
    const key = keyOf(line);
    const same = this.lines.find((l) => l.key === key);
    if (same) same.quantity = decimal(same.quantity).plus(decimal(line.quantity)).toString();
    else this.lines.push({ key, ...line });
    this.write();
  }

  /** replace replaces a line by a changed choice. */
  replace(key: string, line: Omit<Line, "key">): void {
    const at = this.lines.findIndex((l) => l.key === key);
    if (at < 0 || this.lines.some((l) => l.key === keyOf(line) && l.key !== key)) {
      this.lines = this.lines.filter((l) => l.key !== key);
      this.add(line);
      return;
    }
    this.lines[at] = { key: keyOf(line), ...line };
    this.write();
  }

  /** setQuantity sets the quantity of a line. Zero or less removes the line. */
  setQuantity(key: string, quantity: Decimal): void {
    const line = this.lines.find((l) => l.key === key);
    if (!line) return;
    if (quantity.compare(Decimal.zero) <= 0) this.lines = this.lines.filter((l) => l !== line);
    else line.quantity = quantity.toString();
    this.write();
  }

  /** removeOrdered removes the ordered quantities. Dishes that were added later stay. */
  removeOrdered(ordered: { key: string; quantity: string }[]): void {
    for (const { key, quantity } of ordered) {
      const line = this.lines.find((l) => l.key === key);
      if (line)
        line.quantity = decimal(line.quantity)
          .plus(decimal("-" + quantity))
          .toString();
    }
    this.lines = this.lines.filter((l) => decimal(l.quantity).compare(Decimal.zero) > 0);
    this.write();
  }

  /** total sums the lines that can be ordered and have a price, with the prices of the menu. */
  total(menu: Menu): Decimal {
    return this.lines.reduce((sum, line) => {
      const product = menu.product(line.id);
      return product && menu.buyable(product) && priced(menu, product, line.picks)
        ? sum.plus(linePrice(unitPrice(menu, product, line.picks), decimal(line.quantity)))
        : sum;
    }, Decimal.zero);
  }

  /**
   * compareWith compares the basket with a menu. A line that cannot be ordered stays
   * and is reported each time. A changed price is stored and reported once.
   */
  compareWith(menu: Menu): News[] {
    const news: News[] = [];
    let dirty = false;
    for (const line of this.lines) {
      const product = menu.product(line.id);
      if (!product || !menu.buyable(product)) {
        news.push({ line, kind: "gone" });
        continue;
      }
      if (unfit(menu, product, line.picks)) news.push({ line, kind: "options" });
      if (!priced(menu, product, line.picks)) continue; // the option without a price is already reported
      const now = unitPrice(menu, product, line.picks);
      if (now.compare(decimal(line.price)) !== 0) {
        news.push({ line, kind: "price", was: line.price, now: now.toString() });
        line.price = now.toString();
        dirty = true;
      }
    }
    if (dirty) this.save();
    return news;
  }

  private write(): void {
    this.save();
    this.changed();
  }

  private save(): void {
    this.store.setItem(this.name, JSON.stringify({ format, lines: this.lines }));
  }

  private changed(): void {
    this.dispatchEvent(new Event("change"));
  }
}

/** lineOf returns the line for a choice. */
export function lineOf(menu: Menu, id: string, quantity: Decimal, picks: Pick[]): Omit<Line, "key"> {
  const product = menu.product(id)!;
  const name = picks.length ? `${product.name} (${picksText(menu, picks)})` : product.name;
  return {
    id,
    name,
    price: unitPrice(menu, product, picks).toString(),
    quantity: quantity.toString(),
    picks,
    unit: weighed(product),
  };
}

/** keyOf returns the key of a line. It does not depend on the order in which options were picked. */
export function keyOf(line: { id: string; picks: Pick[] }): string {
  const spelt = (picks: Pick[]): string =>
    picks
      .map((p) => `${p.group}/${p.id}*${p.quantity}[${spelt(p.picks)}]`)
      .sort()
      .join("+");
  return `${line.id}:${spelt(line.picks)}`;
}

function parsed(text: string | null): Line[] {
  const kept = orUndefined(() => JSON.parse(text ?? "null")) as { format?: number; lines?: unknown } | null;
  if (kept?.format !== format || !Array.isArray(kept.lines)) return [];
  return (kept.lines as Line[]).filter(
    (l) =>
      typeof l?.id === "string" &&
      typeof l.key === "string" &&
      wellFormed(l.picks) &&
      decimal(l.quantity).compare(Decimal.zero) > 0,
  );
}

function wellFormed(picks: unknown): boolean {
  return (
    Array.isArray(picks) &&
    picks.every(
      (p) =>
        typeof p?.id === "string" && typeof p.group === "string" && Number.isInteger(p.quantity) && wellFormed(p.picks),
    )
  );
}
