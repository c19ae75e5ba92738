// The search in the menu. The server's search treats typing errors in the same way.

import type { Menu } from "./menu";

/** Search finds the dishes of one version of the menu. */
export class Search {
  private readonly words = new Map<string, Set<string>>(); // dish ids by word

  constructor(readonly menu: Menu) {}

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
      return new Set(
        this.menu.body.products
          .filter(
            (p) =>
              owners.has("p" + p.id) || owners.has("s" + p.schemeId) || p.categoryIds.some((c) => owners.has("c" + c)),
          )
          .map((p) => p.id),
      );
    };
    return folded(query, " ")
      .split(" ")
      .map((word) => {
        const ids = having((w) => w.startsWith(word));
        return ids.size ? ids : having((w) => alike(w, word));
      })
      .reduce((all, ids) => new Set([...all].filter((id) => ids.has(id))));
  }

  /** named returns those of the found dishes whose name has all words of the query. */
  named(query: string, found: ReadonlySet<string>): Set<string> {
    const words = folded(query, " ").split(" ");
    const has = (name: string): boolean => {
      const own = [" ", ""].flatMap((hyphen) => folded(name, hyphen).split(" "));
      return words.every((word) => own.some((w) => w.startsWith(word) || alike(w, word)));
    };
    return new Set([...found].filter((id) => has(this.menu.product(id)!.name)));
  }

  /** index returns the dishes (p), schemes (s) and categories (c) whose texts have a word. The first call builds it. */
  index(): Map<string, Set<string>> {
    if (this.words.size) return this.words;
    const add = (owner: string, text: string): void => {
      // A name with a hyphen matches as separate words and as one word.
      for (const plain of hyphens.test(text) ? [" ", ""] : [" "]) {
        for (const word of folded(text, plain).split(" "))
          (this.words.get(word) ?? this.words.set(word, new Set()).get(word)!).add(owner);
      }
    };
    for (const { id, name, description } of this.menu.body.products) add("p" + id, name + " " + description);
    for (const { id } of this.menu.body.schemes) add("s" + id, this.optionNames(id, new Set()));
    const names = new Map<string, string>(); // of categories, with those above
    for (const { id, name, parentId } of this.menu.body.categories) {
      // parents first
      names.set(id, name + " " + (names.get(parentId ?? "") ?? ""));
      add("c" + id, names.get(id)!);
    }
    return this.words;
  }

  private optionNames(schemeId: string | null, seen: Set<string>): string {
    if (!schemeId || seen.has(schemeId)) return "";
    seen.add(schemeId);
    return this.menu
      .groups(schemeId)
      .flatMap((g) => g.options)
      .map((id) => {
        const option = this.menu.ingredient(id);
        return option ? option.name + " " + this.optionNames(option.schemeId, seen) : "";
      })
      .join(" ");
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
  return text
    .normalize("NFKD")
    .replace(/[\p{M}\u00ad]+/gu, "")
    .toLowerCase()
    .replace(/[ıœæة]/g, (letter) => same[letter]!)
    .replace(/[\p{Pd}\u2212]/gu, hyphen)
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** alike reports whether two words differ in one letter: replaced, added, missing, or swapped with its neighbour. */
function alike(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 2) return false; // in UTF-16, which is fast
  const a = [...one],
    b = [...other];
  if (Math.max(a.length, b.length) < 5 || Math.abs(a.length - b.length) > 1 || /\p{N}/u.test(other)) return false;
  while (a.length && a[0] === b[0]) {
    a.shift();
    b.shift();
  }
  while (a.length && a.at(-1) === b.at(-1)) {
    a.pop();
    b.pop();
  }
  if (a.length === 2 && b.length === 2) return a[0] === b[1] && a[1] === b[0];
  return a.length <= 1 && b.length <= 1;
}
