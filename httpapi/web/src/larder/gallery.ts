// The photos of a dish in its dialog.

import { h } from "./dom";
import type { Formatter } from "./groups";
import { photo } from "./photo";
import { addressOf } from "./picture";

/** gallery returns the photos of a dish side by side. A tap enlarges one. */
export function gallery(urls: readonly string[], base: string, message: Formatter["message"]): HTMLElement | null {
  const all = urls.map((url) => addressOf(url, base)).filter(Boolean);
  const box = h(
    "div",
    { class: all.length > 1 ? "photos several" : "photos" },
    ...all.map((src, i) =>
      h(
        "button",
        {
          type: "button",
          class: "plain",
          part: "photo-button",
          "aria-label": message("enlarge", { n: i + 1, of: all.length }),
          onclick: () => zoom(box, src, message),
        },
        photo(src, i > 0),
      ),
    ),
  );
  return all.length ? box : null;
}

/** zoom shows a photo in the whole window. A tap on it shows it twice as large. */
function zoom(beside: HTMLElement, src: string, message: Formatter["message"]): void {
  const view = h(
    "dialog",
    {
      class: "zoom",
      part: "zoom",
      "aria-label": message("photo"),
      onclose: () => view.remove(),
      onclick: (event: Event) => {
        if (event.target instanceof HTMLImageElement) view.classList.toggle("twice");
        else view.close();
      },
    },
    h("div", { class: "pan", tabindex: "0" }, h("img", { alt: "", src })),
    h("button", { type: "button", class: "round close", autofocus: "", "aria-label": message("close") }, "×"),
  );
  beside.closest("dialog")!.append(view);
  view.showModal();
}
