// Photos. Their space is reserved before they load, so that the layout does not shift.

import { h } from "./dom";

/** photo returns a decorative picture: the name beside it has the same content. */
export function photo(url: string | undefined, base: string, lazy: boolean): HTMLElement {
  const frame = h("div", { part: "photo", class: "photo", "aria-hidden": "true" });
  let at: URL | null = null;
  try {
    at = url ? new URL(url, base + "/") : null;
  } catch { /* invalid address: no picture */ }
  if (at?.protocol === "https:" || at?.protocol === "http:") {
    frame.append(h("img", {
      alt: "", width: 320, height: 240, decoding: "async", loading: lazy ? "lazy" : false, onerror: (event: Event) => (event.target as Element).remove(), src: at.href,
    }));
  }
  return frame;
}
