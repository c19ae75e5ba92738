// How guests move in the categories: one Tab stop with arrow keys, the mouse wheel, and two
// arrow buttons. Until this is loaded, each category is a Tab stop.

import { h, sheet } from "./dom";
import type { Strip } from "./strip";
import css from "./strip.css";

/** controlStrip adds the controls to the categories, once. */
export function controlStrip(strip: Strip): void {
  const { nav } = strip;
  if (nav.nextElementSibling) return;
  const links = (): HTMLButtonElement[] => [...nav.children] as HTMLButtonElement[];
  const mirrored = (): boolean => getComputedStyle(nav).direction === "rtl";
  // For the mouse: keyboards and screen readers use the links. The arrows come last, so that they move no link.
  const arrow = (by: 1 | -1): HTMLElement =>
    h(
      "button",
      {
        type: "button",
        class: "round arrow",
        tabindex: "-1",
        "aria-hidden": "true",
        onclick: () => strip.scroll(nav.clientWidth * 0.8 * by * (mirrored() ? -1 : 1)),
      },
      by < 0 ? "‹" : "›",
    );
  const root = nav.getRootNode() as ShadowRoot;
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet(css)];
  strip.element.append(arrow(-1), arrow(1));
  nav.addEventListener(
    "wheel",
    (event) => {
      const before = nav.scrollLeft;
      if (event.ctrlKey || event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return; // Ctrl zooms
      nav.scrollLeft += event.deltaY * (mirrored() ? -1 : 1);
      if (nav.scrollLeft !== before) event.preventDefault(); // at the end the page scrolls
    },
    { passive: false },
  );
  nav.addEventListener("keydown", (event) => {
    const all = links();
    const at = all.indexOf(event.target as HTMLButtonElement);
    const right = mirrored() ? -1 : 1; // in a text from right to left, ArrowRight goes back
    const targets: Record<string, number> = {
      Home: 0,
      End: all.length - 1,
      ArrowRight: at + right,
      ArrowLeft: at - right,
    };
    const link = all[targets[event.key] ?? -1];
    if (at < 0 || !link) return;
    event.preventDefault();
    all[at]!.tabIndex = -1;
    link.tabIndex = 0;
    link.focus();
  });
  const widen = (): void => {
    strip.element.classList.toggle("wide", nav.scrollWidth > nav.clientWidth + 1);
  };
  new ResizeObserver(widen).observe(nav);
  strip.changed = () => {
    widen();
    if ((nav.getRootNode() as ShadowRoot).activeElement?.parentElement === nav) return; // the Tab stop is where the focus is
    const stop = nav.querySelector("[aria-current]") ?? nav.firstElementChild;
    for (const link of links()) link.tabIndex = link === stop ? 0 : -1;
  };
  strip.changed();
}
