// The menu as GET /v1/restaurants/{restaurant}/menu gives it, with its indexes.

import type { components } from "../api/openapi";

type Schemas = components["schemas"];

export type Measure = Schemas["Measure"];
export type Product = Schemas["Product"];
export type Ingredient = Schemas["MenuIngredient"];
export type Group = Schemas["SchemeGroup"];
export type MenuBody = Schemas["Menu"];

/** Category has at least one dish, in itself or beneath. */
export interface Category { id: string; name: string; depth: number; products: Product[]; children: Category[] }

/** deepest is how many levels of parts within parts are followed (ordering.max_depth). */
export const deepest = 6;

/** Menu is one version, indexed. Stop lists that come by events change it in place. */
export class Menu {
  readonly roots: Category[];
  private readonly products: Map<string, Product>;
  private readonly ingredients: Map<string, Ingredient>;
  private readonly schemes: Map<string, Group[]>;
  private words = new Map<string, string>();

  constructor(readonly body: MenuBody) {
    this.products = new Map(body.products.map((p) => [p.id, p]));
    this.ingredients = new Map(body.ingredients.map((i) => [i.id, i]));
    this.schemes = new Map(body.schemes.map((s) => [s.id, s.groups]));
    this.roots = tree(body);
  }

  product(id: string): Product | undefined { return this.products.get(id); }

  ingredient(id: string): Ingredient | undefined { return this.ingredients.get(id); }

  groups(schemeId: string | null | undefined): readonly Group[] {
    return (schemeId && this.schemes.get(schemeId)) || [];
  }

  /** buyable tells whether a dish can be ordered now. */
  buyable(product: Product): boolean { return product.available && product.orderable; }

  /** usable tells whether an option can be chosen: it is there, and so is what it demands. */
  usable(id: string, depth = deepest): boolean {
    const option = this.ingredients.get(id);
    if (!option || !option.available || depth === 0) return false;
    if (option.reasons.some((r) => r.code === "price_invalid" || r.code === "no_external_id")) return false;
    return this.groups(option.schemeId).every((g) => g.min === 0 || g.options.some((o) => this.usable(o, depth - 1)));
  }

  /** stop marks what an event of stop lists names; it tells whether anything changed. */
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

  /** finds tells whether each word begins a word of the dish's name or description. */
  finds(product: Product, query: string): boolean {
    let text = this.words.get(product.id);
    if (text === undefined) {
      text = " " + folded(product.name + " " + product.description);
      this.words.set(product.id, text);
    }
    return folded(query).split(" ").every((word) => text.includes(" " + word));
  }
}

/** folded makes words comparable: small letters without marks, one space between. */
export function folded(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}+/gu, "").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ").trim();
}

/** sameList tells whether two menus list the same dishes and categories in the same order. */
export function sameList(a: MenuBody, b: MenuBody): boolean {
  const same = <T>(one: T[], other: T[], ...fields: (keyof T)[]): boolean => one.length === other.length
    && one.every((item, i) => fields.every((field) => item[field] === other[i]![field]));
  return same(a.categories, b.categories, "id", "name", "parentId") && same(a.products, b.products, "id")
    && a.products.every((p, i) => p.categoryIds.join("\n") === b.products[i]!.categoryIds.join("\n"));
}

function tree(body: MenuBody): Category[] {
  const all = new Map<string, Category>();
  const roots: Category[] = [];
  for (const { id, name, parentId } of body.categories) { // parents first
    const parent = parentId ? all.get(parentId) : undefined;
    const category = { id, name, depth: parent ? parent.depth + 1 : 0, products: [], children: [] };
    all.set(id, category);
    (parent?.children ?? roots).push(category);
  }
  const loose: Category = { id: "", name: "", depth: 0, products: [], children: [] };
  for (const product of body.products) { // under each of its categories (policy W9)
    const within = product.categoryIds.map((id) => all.get(id)).filter((c) => c !== undefined);
    for (const category of within.length > 0 ? within : [loose]) category.products.push(product);
  }
  const filled = (list: Category[]): Category[] => list.filter((c) => {
    c.children = filled(c.children);
    return c.products.length + c.children.length > 0;
  });
  return filled([...roots, loose]);
}
