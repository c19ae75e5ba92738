// Photos: room is kept for them before they come, so that nothing moves.

import { h } from "./dom";

/** photo shows a picture that says nothing the name beside it does not say. */
export function photo(url: string | undefined, base: string, lazy: boolean): HTMLElement {
  const frame = h("div", { part: "photo", class: "photo", "aria-hidden": "true" });
  let at: URL | null = null;
  try {
    at = url ? new URL(url, base + "/") : null;
  } catch { /* no address: no picture */ }
  if (at?.protocol === "https:" || at?.protocol === "http:") {
    frame.append(h("img", {
      alt: "", width: 320, height: 240, decoding: "async", loading: lazy ? "lazy" : false, onerror: (event: Event) => (event.target as Element).remove(), src: at.href,
    }));
  }
  return frame;
}
