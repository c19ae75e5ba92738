// The order of the dishes while a guest searches: those whose names match come first.

import type { Category } from "./menu";

/** Section is the section of a category, with the cards of its dishes. */
export interface Section {
  category: Category;
  section: HTMLElement;
  dishes: HTMLElement;
}

/** rank puts the named dishes first in their categories, and the categories with such dishes first. Without named dishes, all have the order of the menu. */
export function rank(
  list: HTMLElement,
  sections: Iterable<Section>,
  roots: Category[],
  named: ReadonlySet<string>,
): void {
  const [first, others]: [Category[], Category[]] = [[], []];
  const has = ({ products, children }: Category): boolean =>
    products.some(({ id }) => named.has(id)) || children.some(has);
  for (const root of roots) (has(root) ? first : others).push(root);
  const flat = (category: Category): Category[] => [category, ...category.children.flatMap(flat)];
  const all = [...sections];
  const wanted = [...first, ...others].flatMap(flat);
  arrange(list, (a, b) => placeOf(a) - placeOf(b));
  for (const { category, dishes } of all) {
    const places = new Map(
      category.products.map(({ id }, i) => [id, named.has(id) ? i - category.products.length : i]),
    );
    const place = ({ dataset }: HTMLElement): number => places.get(dataset.dish!) ?? 0;
    arrange(dishes, (a, b) => place(a) - place(b));
  }
  function placeOf(section: HTMLElement): number {
    return wanted.indexOf(all.find((one) => one.section === section)!.category);
  }
}

/** arrange sorts the children of an element. It moves nothing if they are in order. */
function arrange(parent: HTMLElement, compare: (a: HTMLElement, b: HTMLElement) => number): void {
  const before = [...parent.children] as HTMLElement[];
  const after = before.toSorted(compare);
  if (after.some((one, i) => one !== before[i])) parent.append(...after);
}
