// Photos. Their space is reserved before they load, so that the layout does not shift.

import { h } from "./dom";
import type { Formatter } from "./groups";

/** addressOf returns the address of a photo, or "" if it is not one that a page can show. */
export function addressOf(url: string | undefined, base: string): string {
  try {
    const at = url ? new URL(url, base + "/") : null;
    return at?.protocol === "https:" || at?.protocol === "http:" ? at.href : "";
  } catch {
    return "";
  }
}

/** photo returns a decorative picture: the name beside it has the same content. */
export function photo(src: string, lazy: boolean): HTMLElement {
  return h("div", { part: "photo", class: "photo", "aria-hidden": "true" }, h("img", {
    alt: "", width: 320, height: 240, decoding: "async", loading: lazy ? "lazy" : false, onerror: (event: Event) => (event.target as Element).remove(), src,
  }));
}

/** gallery returns the photos of a dish side by side. A tap enlarges one. */
export function gallery(urls: readonly string[], base: string, message: Formatter["message"]): HTMLElement | null {
  const all = urls.map((url) => addressOf(url, base)).filter(Boolean);
  const box = h("div", { class: all.length > 1 ? "photos several" : "photos" }, ...all.map((src, i) => h("button", {
    type: "button", class: "plain", part: "photo-button", "aria-label": message("enlarge", { n: i + 1, of: all.length }), onclick: () => zoom(box, src, message),
  }, photo(src, i > 0))));
  return all.length ? box : null;
}

/** zoom shows a photo in the whole window. A tap on it shows it twice as large. */
function zoom(beside: HTMLElement, src: string, message: Formatter["message"]): void {
  const view = h("dialog", { class: "zoom", part: "zoom", "aria-label": message("photo"), onclose: () => view.remove(), onclick: (event: Event) => {
    if (event.target instanceof HTMLImageElement) view.classList.toggle("twice");
    else view.close();
  } }, h("div", { class: "pan" }, h("img", { alt: "", src })), h("button", { type: "button", class: "round close", "aria-label": message("close") }, "×"));
  beside.closest("dialog")!.append(view);
  view.showModal();
}
