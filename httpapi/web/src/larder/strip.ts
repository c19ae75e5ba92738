// The categories above the menu. Keys, mouse wheel and arrow buttons are in stripcontrols.ts.

import { h } from "./dom";

const quiet = 1000; // milliseconds after a jump in which scrolling does not change the current category

/** Strip marks the category that is being read, and keeps it in view. */
export class Strip {
  readonly nav = h("nav", { part: "categories" });
  readonly element = h("div", { class: "strip" }, this.nav);
  /** changed is called after the links, or the current one, have changed. */
  changed = (): void => {};
  private readonly links = new Map<Element, HTMLButtonElement>(); // by section
  private jumped = -quiet;
  // A line below the head: the section on it is being read.
  private readonly observer = new IntersectionObserver(
    () => {
      const last = [...this.links.keys()]
        .filter((section, i) => !i || section.getBoundingClientRect().top < innerHeight * 0.26)
        .at(-1);
      if (last && !this.jumping) this.mark(last);
    },
    { rootMargin: "-25% 0px -74% 0px" },
  );

  clear(): void {
    this.observer.disconnect();
    this.links.clear();
    this.nav.replaceChildren();
  }

  /** add adds the link to a section. */
  add(section: Element, name: string, inner: boolean, go: () => void): void {
    const link = h(
      "button",
      { type: "button", part: "category-link", class: inner ? "inner" : "", onclick: go },
      h("bdi", { dir: "auto" }, name),
    );
    this.links.set(section, link);
    this.nav.append(link);
    this.observer.observe(section);
  }

  /** jumping reports whether the page may still scroll to the last jump. */
  get jumping(): boolean {
    return performance.now() - this.jumped < quiet;
  }

  /** jump marks a section before the page scrolls to it. */
  jump(section: Element): void {
    this.jumped = performance.now();
    this.mark(section);
  }

  private mark(section: Element): void {
    const link = this.links.get(section);
    if (!link || link.ariaCurrent === "true") return;
    this.nav.querySelector("[aria-current]")?.removeAttribute("aria-current");
    link.setAttribute("aria-current", "true");
    this.changed();
    const [a, b] = [link.getBoundingClientRect(), this.nav.getBoundingClientRect()];
    this.scroll(a.left + a.width / 2 - b.left - b.width / 2);
  }

  scroll(left: number): void {
    this.nav.scrollBy({
      left,
      behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "smooth",
    });
  }
}
