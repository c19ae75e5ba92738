// What a guest has chosen for a dish, and the rules of its groups (policies M1 to
// M5). Quantities are per unit of the dish or option that contains them.

import { Decimal, decimal } from "./decimal";
import { deepest, type Group, type Menu, type Product } from "./menu";

/** Pick is one chosen option of a group, with the options chosen within it. */
export interface Pick {
  id: string;
  group: string;
  quantity: number;
  picks: Pick[];
}

/** GroupStatus is the number of options chosen in a group, against its limits. */
export interface GroupStatus {
  count: number;
  missing: number; // the number still needed
  full: boolean; // the maximum is reached
  over: boolean; // the maximum is exceeded
}

export const picksOf = (picks: readonly Pick[], group: string): Pick[] => picks.filter((p) => p.group === group);

export function groupStatus(group: Group, picks: readonly Pick[]): GroupStatus {
  const count = picksOf(picks, group.id).reduce((sum, p) => sum + p.quantity, 0);
  return {
    count,
    missing: Math.max(0, group.min - count),
    full: group.max !== null && count >= group.max,
    over: group.max !== null && count > group.max,
  };
}

/**
 * picked returns the picks with the quantity of an option set; 0 removes it. In a
 * group for one option, the new option replaces the old one. A quantity above the
 * limit of the group changes nothing.
 */
export function picked(picks: readonly Pick[], group: Group, id: string, quantity: number): Pick[] {
  const others =
    group.max === 1 && quantity > 0 ? picks.filter((p) => p.group !== group.id || p.id === id) : [...picks];
  const before = others.find((p) => p.group === group.id && p.id === id);
  const rest = others.filter((p) => p !== before);
  if (quantity <= 0) return rest;
  const count = picksOf(rest, group.id).reduce((sum, p) => sum + p.quantity, 0) + quantity;
  if (group.max !== null && count > group.max && quantity > (before?.quantity ?? 0)) return [...picks];
  const pick = { id, group: group.id, quantity, picks: before?.picks ?? [] };
  return before ? others.map((p) => (p === before ? pick : p)) : [...rest, pick];
}

/** GroupProblem is a group with an invalid choice: too few, too many or unavailable options. */
export interface GroupProblem {
  group: Group;
  missing: number;
  gone: string[];
}

/** groupProblems returns the groups that prevent an order, in the order of the menu. */
export function groupProblems(
  menu: Menu,
  schemeId: string | null | undefined,
  picks: readonly Pick[],
  depth = deepest,
): GroupProblem[] {
  const found: GroupProblem[] = [];
  for (const group of menu.groups(schemeId)) {
    const own = picksOf(picks, group.id);
    const gone = own.filter((p) => !group.options.includes(p.id) || !menu.usable(p.id)).map((p) => p.id);
    const { missing, over } = groupStatus(group, picks);
    if (missing > 0 || gone.length > 0 || over) found.push({ group, missing, gone });
    if (depth > 1)
      for (const p of own) found.push(...groupProblems(menu, menu.ingredient(p.id)?.schemeId, p.picks, depth - 1));
  }
  return found;
}

/** hasUnknownGroups reports whether picks are in groups that the scheme does not have. */
export function hasUnknownGroups(menu: Menu, schemeId: string | null | undefined, picks: readonly Pick[]): boolean {
  const groups = new Set(menu.groups(schemeId).map((g) => g.id));
  return picks.some((p) => !groups.has(p.group) || hasUnknownGroups(menu, menu.ingredient(p.id)?.schemeId, p.picks));
}

/** unfit reports whether the menu does not offer the dish with these picks. */
export const unfit = (menu: Menu, { schemeId }: Product, picks: readonly Pick[]): boolean =>
  hasUnknownGroups(menu, schemeId, picks) || groupProblems(menu, schemeId, picks).length > 0;

/** knownPicks returns the picks that the menu still offers, sold out or not, and adds the others to lost. */
export function knownPicks(
  menu: Menu,
  schemeId: string | null | undefined,
  picks: readonly Pick[],
  lost: Pick[],
): Pick[] {
  return picks.flatMap((p) => {
    const option = menu.ingredient(p.id);
    if (option && menu.groups(schemeId).some((g) => g.id === p.group && g.options.includes(p.id)))
      return { ...p, picks: knownPicks(menu, option.schemeId, p.picks, lost) };
    lost.push(p);
    return [];
  });
}

function extras(menu: Menu, picks: readonly Pick[]): Decimal {
  return picks.reduce((sum, p) => {
    const one = decimal(menu.ingredient(p.id)?.price).plus(extras(menu, p.picks));
    return sum.plus(one.times(decimal(p.quantity)));
  }, Decimal.zero);
}

/** unitPrice returns the price of one unit of the dish with its options. */
export function unitPrice(menu: Menu, product: Product, picks: readonly Pick[]): Decimal {
  return decimal(product.price).plus(extras(menu, picks));
}

/** priced reports whether the menu has a price for the dish and all picks (policy W9a). */
export function priced(menu: Menu, product: Product, picks: readonly Pick[]): boolean {
  const known = (all: readonly Pick[]): boolean =>
    all.every((p) => menu.ingredient(p.id)?.price !== null && known(p.picks));
  return product.price !== null && known(picks);
}

/** least returns the lowest price of the options that must still be chosen. */
export function least(
  menu: Menu,
  schemeId: string | null | undefined,
  picks: readonly Pick[] = [],
  depth = deepest,
): Decimal {
  let sum = Decimal.zero;
  for (const group of depth > 0 ? menu.groups(schemeId) : []) {
    for (const p of picksOf(picks, group.id))
      sum = sum.plus(least(menu, menu.ingredient(p.id)?.schemeId, p.picks, depth - 1).times(decimal(p.quantity)));
    const { missing } = groupStatus(group, picks);
    if (missing === 0) continue;
    const prices = group.options
      .map((id) => menu.ingredient(id))
      .filter((o) => o && menu.usable(o.id, depth))
      .map((o) => decimal(o!.price).plus(least(menu, o!.schemeId, [], depth - 1)))
      .sort((a, b) => a.compare(b));
    if (prices[0]) sum = sum.plus(prices[0].times(decimal(missing)));
  }
  return sum;
}

/** linePrice returns the price of a line, rounded half up to two digits (policy P1). */
export const linePrice = (unit: Decimal, quantity: Decimal): Decimal => unit.times(quantity).round(2);

/** fractional reports whether a dish is sold in fractions of a unit (policy M8). */
export const fractional = (product: Product): boolean =>
  product.measure?.unit === "kg" || product.measure?.unit === "liter";

/** weighed returns the unit of a dish that is sold by the kilogram or the litre: its quantity is its weight or volume. */
export function weighed(product: Product | undefined): "kg" | "liter" | null {
  const { value, unit } = product?.measure ?? {};
  return value === 1 && (unit === "kg" || unit === "liter") ? unit : null;
}

/** picksText lists the names of the picks, with nested picks in brackets. */
export function picksText(menu: Menu, picks: readonly Pick[]): string {
  return picks
    .map((p) => {
      const name = menu.ingredient(p.id)?.name ?? p.id;
      return (
        name + (p.quantity > 1 ? ` × ${p.quantity}` : "") + (p.picks.length ? ` (${picksText(menu, p.picks)})` : "")
      );
    })
    .join(", ");
}
