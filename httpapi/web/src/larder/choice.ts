// What a guest has chosen for a dish, and what its groups say to it (policies
// M1 to M5). Quantities count for one unit of what holds them.

import { Decimal, decimal } from "./decimal";
import { deepest, type Group, type Menu, type Product } from "./menu";

/** Pick is one chosen option of a group, with what was chosen for it in turn. */
export interface Pick { id: string; group: string; quantity: number; picks: Pick[] }

/** Standing is how far a group is filled. */
export interface Standing {
  count: number;
  missing: number; // how many are still needed
  full: boolean; // no more go in
}

export const picksOf = (picks: readonly Pick[], group: string): Pick[] => picks.filter((p) => p.group === group);

export function standing(group: Group, picks: readonly Pick[]): Standing {
  const count = picksOf(picks, group.id).reduce((sum, p) => sum + p.quantity, 0);
  return { count, missing: Math.max(0, group.min - count), full: group.max !== null && count >= group.max };
}

/**
 * picked gives the picks with an option's quantity set; 0 takes it away. In a
 * group that takes one, another one makes way. Beyond the group's limit nothing
 * changes.
 */
export function picked(picks: readonly Pick[], group: Group, id: string, quantity: number): Pick[] {
  const others = group.max === 1 && quantity > 0 ? picks.filter((p) => p.group !== group.id || p.id === id) : [...picks];
  const before = others.find((p) => p.group === group.id && p.id === id);
  const rest = others.filter((p) => p !== before);
  if (quantity <= 0) return rest;
  const count = picksOf(rest, group.id).reduce((sum, p) => sum + p.quantity, 0) + quantity;
  if (group.max !== null && count > group.max && quantity > (before?.quantity ?? 0)) return [...picks];
  const pick = { id, group: group.id, quantity, picks: before?.picks ?? [] };
  return before ? others.map((p) => (p === before ? pick : p)) : [...rest, pick];
}

/** Lack is a group that needs more, or holds what cannot be had. */
export interface Lack { group: Group; missing: number; gone: string[] }

/** lacks lists, in the menu's order, what keeps the picks from being an order. */
export function lacks(menu: Menu, schemeId: string | null | undefined, picks: readonly Pick[], depth = deepest): Lack[] {
  const found: Lack[] = [];
  for (const group of menu.groups(schemeId)) {
    const own = picksOf(picks, group.id);
    const gone = own.filter((p) => !group.options.includes(p.id) || !menu.usable(p.id)).map((p) => p.id);
    const { missing, count } = standing(group, picks);
    const over = group.max !== null && count > group.max;
    if (missing > 0 || gone.length > 0 || over) found.push({ group, missing, gone });
    if (depth > 1) for (const p of own) found.push(...lacks(menu, menu.ingredient(p.id)?.schemeId, p.picks, depth - 1));
  }
  return found;
}

/** stray tells whether picks stand in groups that the scheme no longer has. */
export function stray(menu: Menu, schemeId: string | null | undefined, picks: readonly Pick[]): boolean {
  const groups = new Set(menu.groups(schemeId).map((g) => g.id));
  return picks.some((p) => !groups.has(p.group) || stray(menu, menu.ingredient(p.id)?.schemeId, p.picks));
}

function extras(menu: Menu, picks: readonly Pick[]): Decimal {
  return picks.reduce((sum, p) => {
    const one = decimal(menu.ingredient(p.id)?.price).plus(extras(menu, p.picks));
    return sum.plus(one.times(decimal(p.quantity)));
  }, Decimal.zero);
}

/** unitPrice is the price of one unit of the dish as it is composed. */
export function unitPrice(menu: Menu, product: Product, picks: readonly Pick[]): Decimal {
  return decimal(product.price).plus(extras(menu, picks));
}

/** priced reports whether the menu has a price for the dish and everything picked (policy W9a). */
export function priced(menu: Menu, product: Product, picks: readonly Pick[]): boolean {
  const known = (all: readonly Pick[]): boolean => all.every((p) => menu.ingredient(p.id)?.price !== null && known(p.picks));
  return product.price !== null && known(picks);
}

/** linePrice is policy P1: rounded half up to two digits. */
export const linePrice = (unit: Decimal, quantity: Decimal): Decimal => unit.times(quantity).round(2);

/** fractional tells whether a dish is sold in parts of a unit (policy M8). */
export const fractional = (product: Product): boolean => product.measure?.unit === "kg" || product.measure?.unit === "liter";

/** inWords names the picks, parts within parts in brackets. */
export function inWords(menu: Menu, picks: readonly Pick[]): string {
  return picks.map((p) => {
    const name = menu.ingredient(p.id)?.name ?? p.id;
    return name + (p.quantity > 1 ? ` × ${p.quantity}` : "") + (p.picks.length ? ` (${inWords(menu, p.picks)})` : "");
  }).join(", ");
}
