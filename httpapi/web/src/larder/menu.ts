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
export interface Category { id: string; name: string; depth: number; products: Product[]; children: Category[] }

/** deepest is the number of nested levels that are shown (ordering.max_depth). */
export const deepest = 6;

/** Menu is one version with indexes. Events with stop lists change it in place. */
export class Menu {
  readonly roots: Category[];
  readonly cents: boolean; // some prices are not whole numbers
  private readonly products: Map<string, Product>;
  private readonly ingredients: Map<string, Ingredient>;
  private readonly schemes: Map<string, Group[]>;
  private readonly categoryNames = new Map<string, string>(); // with the names of the categories above
  private readonly words = new Map<string, Set<string>>(); // the search index: dish ids by word

  constructor(readonly body: MenuBody) {
    this.products = new Map(body.products.map((p) => [p.id, p]));
    this.ingredients = new Map(body.ingredients.map((i) => [i.id, i]));
    this.schemes = new Map(body.schemes.map((s) => [s.id, s.groups]));
    this.roots = tree(body);
    this.cents = [...body.products, ...body.ingredients].some(({ price }) => !decimal(price).whole);
    for (const { id, name, parentId } of body.categories) { // parents first
      this.categoryNames.set(id, name + " " + (this.categoryNames.get(parentId ?? "") ?? ""));
    }
  }

  product(id: string): Product | undefined { return this.products.get(id); }

  ingredient(id: string): Ingredient | undefined { return this.ingredients.get(id); }

  groups(schemeId: string | null | undefined): readonly Group[] {
    return (schemeId && this.schemes.get(schemeId)) || [];
  }

  /** buyable reports whether a dish can be ordered now. */
  buyable(product: Product): boolean { return product.available && product.orderable; }

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

  /**
   * found returns the ids of the dishes that match all words of the query. A word
   * matches the beginning of a word in the name, the description, the categories
   * or the options. If it matches no dish, one letter may be wrong in words of at
   * least five letters, as for products?q=.
   */
  found(query: string): Set<string> {
    const index = this.index();
    const having = (fits: (w: string) => boolean): Set<string> => {
      const owners = new Set<string>();
      for (const [word, own] of index) if (fits(word)) for (const owner of own) owners.add(owner);
      return new Set([...this.products.values()].filter((p) => owners.has("p" + p.id) || owners.has("s" + p.schemeId) || p.categoryIds.some((c) => owners.has("c" + c))).map((p) => p.id));
    };
    return folded(query, " ").split(" ").map((word) => {
      const ids = having((w) => w.startsWith(word));
      return ids.size ? ids : having((w) => alike(w, word));
    }).reduce((all, ids) => new Set([...all].filter((id) => ids.has(id))));
  }

  /** index returns the dishes (p), schemes (s) and categories (c) whose texts have a word. The first call builds it. */
  index(): Map<string, Set<string>> {
    if (this.words.size) return this.words;
    const add = (owner: string, text: string): void => {
      // A name with a hyphen matches as separate words and as one word.
      for (const plain of hyphens.test(text) ? [" ", ""] : [" "]) {
        for (const word of folded(text, plain).split(" ")) (this.words.get(word) ?? this.words.set(word, new Set()).get(word)!).add(owner);
      }
    };
    for (const { id, name, description } of this.products.values()) add("p" + id, name + " " + description);
    for (const id of this.schemes.keys()) add("s" + id, this.optionNames(id, new Set()));
    for (const [id, name] of this.categoryNames) add("c" + id, name);
    return this.words;
  }

  private optionNames(schemeId: string | null, seen: Set<string>): string {
    if (!schemeId || seen.has(schemeId)) return "";
    seen.add(schemeId);
    return this.groups(schemeId).flatMap((g) => g.options).map((id) => {
      const option = this.ingredients.get(id);
      return option ? option.name + " " + this.optionNames(option.schemeId, seen) : "";
    }).join(" ");
  }
}

const hyphens = /[\p{Pd}\u2212]/u;

/**
 * folded normalizes text for the search: lower case, without accents, with single
 * spaces and with one spelling of letters that have several. Each hyphen is
 * replaced by the parameter hyphen.
 */
export function folded(text: string, hyphen: string): string {
  const same: Record<string, string> = { ı: "i", œ: "oe", æ: "ae", ة: "ه" };
  return text.normalize("NFKD").replace(/[\p{M}\u00ad]+/gu, "").toLowerCase().replace(/[ıœæة]/g, (letter) => same[letter]!)
    .replace(/[\p{Pd}\u2212]/gu, hyphen).replace(/[^\p{L}\p{N}]+/gu, " ").trim();
}

/** alike reports whether two words differ in one letter: replaced, added, missing, or swapped with its neighbour. */
function alike(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 2) return false; // in UTF-16, which is fast
  const a = [...one], b = [...other];
  if (Math.max(a.length, b.length) < 5 || Math.abs(a.length - b.length) > 1 || /\p{N}/u.test(other)) return false;
  while (a.length && a[0] === b[0]) { a.shift(); b.shift(); }
  while (a.length && a.at(-1) === b.at(-1)) { a.pop(); b.pop(); }
  if (a.length === 2 && b.length === 2) return a[0] === b[1] && a[1] === b[0];
  return a.length <= 1 && b.length <= 1;
}

/** sameList reports whether two menus list the same dishes and categories in the same order. */
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
