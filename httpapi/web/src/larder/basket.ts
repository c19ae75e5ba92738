// The basket of one restaurant. It survives a reload, is the same in every tab,
// and tells when the menu no longer holds what lies in it.

import { inWords, lacks, linePrice, priced, stray, unitPrice, type Pick } from "./choice";
import { Decimal, decimal } from "./decimal";
import type { Menu } from "./menu";
import { quietly, type Store } from "./store";

/** Line is one dish as it was chosen. Name and price are those that the guest saw last. */
export interface Line { key: string; id: string; name: string; price: string; quantity: string; picks: Pick[] }

/** News is what became of a line: the guest is told once, and sees it at the line. */
export interface News { line: Line; kind: "gone" | "options" | "price"; was?: string; now?: string }

const format = 1; // of what is stored; another one is not read

/** Basket is an EventTarget: "change" comes after each change. */
export class Basket extends EventTarget {
  lines: Line[] = [];

  constructor(private readonly store: Store, readonly name: string) {
    super();
    this.read();
  }

  /** read takes what is stored, after a reload or a change in another tab. */
  read(): void {
    this.lines = parsed(this.store.getItem(this.name));
    this.changed();
  }

  /** add puts a dish in; the same dish with the same picks becomes one line. */
  add(line: Omit<Line, "key">): void {
    const key = keyOf(line);
    const same = this.lines.find((l) => l.key === key);
    if (same) same.quantity = decimal(same.quantity).plus(decimal(line.quantity)).toString();
    else this.lines.push({ key, ...line });
    this.write();
  }

  /** replace puts another choice in the place of a line. */
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

  /** setQuantity sets how many; nought takes the line away. */
  setQuantity(key: string, quantity: Decimal): void {
    const line = this.lines.find((l) => l.key === key);
    if (!line) return;
    if (quantity.compare(Decimal.zero) <= 0) this.lines = this.lines.filter((l) => l !== line);
    else line.quantity = quantity.toString();
    this.write();
  }

  /** take takes out what was ordered; what came in meanwhile stays. */
  take(ordered: { key: string; quantity: string }[]): void {
    for (const { key, quantity } of ordered) {
      const line = this.lines.find((l) => l.key === key);
      if (line) line.quantity = decimal(line.quantity).plus(decimal("-" + quantity)).toString();
    }
    this.lines = this.lines.filter((l) => decimal(l.quantity).compare(Decimal.zero) > 0);
    this.write();
  }

  /** total sums the lines that can be ordered, by the menu's prices. */
  total(menu: Menu): Decimal {
    return this.lines.reduce((sum, line) => {
      const product = menu.product(line.id);
      return product && priced(menu, product, line.picks) ? sum.plus(linePrice(unitPrice(menu, product, line.picks), decimal(line.quantity))) : sum;
    }, Decimal.zero);
  }

  /**
   * against holds the basket against a menu: what cannot be ordered stays and
   * is told as news each time; a changed price is taken over and told once.
   */
  against(menu: Menu): News[] {
    const news: News[] = [];
    let dirty = false;
    for (const line of this.lines) {
      const product = menu.product(line.id);
      if (!product || !menu.buyable(product)) {
        news.push({ line, kind: "gone" });
        continue;
      }
      if (stray(menu, product.schemeId, line.picks) || lacks(menu, product.schemeId, line.picks).length > 0) news.push({ line, kind: "options" });
      if (!priced(menu, product, line.picks)) continue; // the option without a price is named as gone
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

  private changed(): void { this.dispatchEvent(new Event("change")); }
}

/** lineOf makes a line of a choice. */
export function lineOf(menu: Menu, id: string, quantity: Decimal, picks: Pick[]): Omit<Line, "key"> {
  const product = menu.product(id)!;
  const name = picks.length ? `${product.name} (${inWords(menu, picks)})` : product.name;
  return { id, name, price: unitPrice(menu, product, picks).toString(), quantity: quantity.toString(), picks };
}

/** keyOf is the same for the same dish with the same picks, in whatever order they were chosen. */
export function keyOf(line: { id: string; picks: Pick[] }): string {
  const spelt = (picks: Pick[]): string => picks.map((p) => `${p.group}/${p.id}*${p.quantity}[${spelt(p.picks)}]`).sort().join("+");
  return `${line.id}:${spelt(line.picks)}`;
}

function parsed(text: string | null): Line[] {
  const kept = quietly(() => JSON.parse(text ?? "null")) as { format?: number; lines?: unknown } | null;
  if (kept?.format !== format || !Array.isArray(kept.lines)) return [];
  return (kept.lines as Line[]).filter((l) => typeof l?.id === "string" && typeof l.key === "string" && wellFormed(l.picks)
    && decimal(l.quantity).compare(Decimal.zero) > 0);
}

function wellFormed(picks: unknown): boolean {
  return Array.isArray(picks) && picks.every((p) => typeof p?.id === "string" && typeof p.group === "string" && Number.isInteger(p.quantity) && wellFormed(p.picks));
}
