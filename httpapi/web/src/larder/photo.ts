// What cards and dialogs show of a dish: photo, size and price. The space of photos is
// reserved before they load, so that the layout does not shift.

import { least, weighed } from "./choice";
import { decimal } from "./decimal";
import { h } from "./dom";
import type { Formatter } from "./groups";
import type { Menu, Product } from "./menu";

/** photo returns a decorative picture, or its space: the name beside it has the same content. */
export function photo(src: string | false, lazy: boolean): HTMLElement {
  const box = frame.cloneNode(true) as HTMLElement; // copies are faster than new elements
  const img = box.firstChild as HTMLImageElement;
  img.onerror = () => img.remove();
  if (lazy) img.loading = "lazy";
  if (src) img.src = src;
  return box;
}

const frame = h(
  "div",
  { part: "photo", class: "photo", "aria-hidden": "true" },
  h("img", { alt: "", width: 320, height: 240, decoding: "async" }),
);

/** measureOf returns the size of a dish and, on cards, its calories as text. */
export function measureOf(product: Product, formatter: Formatter, calories = true): string {
  const { value, unit } = product.measure ?? {};
  const energy = calories && product.nutrition?.calories;
  return [
    value && unit && !weighed(product) && !(value === 1 && unit === "pcs") ? formatter.measure(value, unit) : "",
    energy ? formatter.message("calories", { n: energy }) : "",
  ]
    .filter(Boolean)
    .join(" · ");
}

/** priceOf returns the price of a dish as text, for a weighed dish per kilogram or litre. With the options that must be chosen, it is the lowest one. */
export function priceOf(menu: Menu, product: Product, formatter: Formatter): string {
  if (product.price === null) return "";
  const extra = least(menu, product.schemeId);
  const price = formatter.money(decimal(product.price).plus(extra));
  if (extra.digits > 0n) return formatter.message("from", { price });
  const unit = weighed(product);
  return unit ? formatter.message("perUnit", { price, unit: formatter.message(unit) }) : price;
}
