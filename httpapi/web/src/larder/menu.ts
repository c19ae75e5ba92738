// The menu of GET /v1/restaurants/{restaurant}/menu, with indexes.

import type { components } from "../api/openapi";
import { decimal } from "./decimal";

type Schemas = components["schemas"];

export type Measure = Schemas["Measure"];
export type Product = Schemas["Product"];
export type Ingredient = Schemas["MenuIngredient"];
export type Group = Schemas["SchemeGroup"];
export type MenuBody = Schemas["Menu"];

/** Category has at least one dish, directly or in a category below it. */
export interface Category {
  id: string;
  name: string;
  depth: number;
  products: Product[];
  children: Category[];
}

/** deepest is the number of nested levels that are shown (ordering.max_depth). */
export const deepest = 6;

/** Menu is one version with indexes. Events with stop lists change it in place. */
export class Menu {
  readonly roots: Category[];
  readonly cents: boolean; // some prices are not whole numbers
  private readonly products: Map<string, Product>;
  private readonly ingredients: Map<string, Ingredient>;
  private readonly schemes: Map<string, Group[]>;

  constructor(readonly body: MenuBody) {
    this.products = new Map(body.products.map((p) => [p.id, p]));
    this.ingredients = new Map(body.ingredients.map((i) => [i.id, i]));
    this.schemes = new Map(body.schemes.map((s) => [s.id, s.groups]));
    this.roots = tree(body);
    this.cents = [...body.products, ...body.ingredients].some(({ price }) => !decimal(price).whole);
  }

  product(id: string): Product | undefined {
    return this.products.get(id);
  }

  ingredient(id: string): Ingredient | undefined {
    return this.ingredients.get(id);
  }

  groups(schemeId: string | null | undefined): readonly Group[] {
    return (schemeId && this.schemes.get(schemeId)) || [];
  }

  /** buyable reports whether a dish can be ordered now. */
  buyable(product: Product | undefined): boolean {
    return !!product?.available && product.orderable;
  }

  /** usable reports whether an option can be chosen: it and its mandatory options are available. */
  usable(id: string, depth = deepest): boolean {
    const option = this.ingredients.get(id);
    if (!option || !option.available || depth === 0) return false;
    if (option.reasons.some((r) => r.code === "price_invalid" || r.code === "no_external_id")) return false;
    return this.groups(option.schemeId).every((g) => g.min === 0 || g.options.some((o) => this.usable(o, depth - 1)));
  }

  /** stop applies the stop lists of an event. It reports whether anything changed. */
  stop(items: { id: string; available: boolean }[]): boolean {
    let changed = false;
    for (const { id, available } of items) {
      const item = this.products.get(id) ?? this.ingredients.get(id);
      if (item && item.available !== available) {
        item.available = available;
        changed = true;
      }
    }
    return changed;
  }
}

/** sameList reports whether two menus list the same dishes and categories in the same order. */
export function sameList(a: MenuBody, b: MenuBody): boolean {
  const same = <T>(one: T[], other: T[], ...fields: (keyof T)[]): boolean =>
    one.length === other.length && one.every((item, i) => fields.every((field) => item[field] === other[i]![field]));
  return (
    same(a.categories, b.categories, "id", "name", "parentId") &&
    same(a.products, b.products, "id") &&
    a.products.every((p, i) => p.categoryIds.join("\n") === b.products[i]!.categoryIds.join("\n"))
  );
}

function tree(body: MenuBody): Category[] {
  const all = new Map<string, Category>();
  const roots: Category[] = [];
  for (const { id, name, parentId } of body.categories) {
    // parents first
    const parent = parentId ? all.get(parentId) : undefined;
    const category = { id, name, depth: parent ? parent.depth + 1 : 0, products: [], children: [] };
    all.set(id, category);
    (parent?.children ?? roots).push(category);
  }
  const loose: Category = { id: "", name: "", depth: 0, products: [], children: [] };
  for (const product of body.products) {
    // under each of its categories (policy W9)
    const within = product.categoryIds.map((id) => all.get(id)).filter((c) => c !== undefined);
    for (const category of within.length > 0 ? within : [loose]) category.products.push(product);
  }
  const filled = (list: Category[]): Category[] =>
    list.filter((c) => {
      c.children = filled(c.children);
      return c.products.length + c.children.length > 0;
    });
  return filled([...roots, loose]);
}
