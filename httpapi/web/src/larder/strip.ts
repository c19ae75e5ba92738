// The categories above the menu. One Tab stop: arrow keys move within it.

import { h } from "./dom";

const quiet = 1000; // milliseconds after a jump in which scrolling does not change the current category

/** Strip marks the category that is being read, and keeps it in view. */
export class Strip {
  readonly nav = h("nav", { part: "categories", onkeydown: (event: KeyboardEvent) => this.move(event) });
  readonly element = h("div", { class: "strip" }, this.arrow(-1), this.nav, this.arrow(1));
  private readonly links = new Map<Element, HTMLButtonElement>(); // by section
  private jumped = -quiet;
  // A line below the head: the section on it is being read.
  private readonly observer = new IntersectionObserver(() => {
    const last = [...this.links.keys()].filter((section, i) => !i || section.getBoundingClientRect().top < innerHeight * .26).at(-1);
    if (last && !this.jumping) this.mark(last);
  }, { rootMargin: "-25% 0px -74% 0px" });

  constructor() {
    this.nav.addEventListener("wheel", (event) => {
      const before = this.nav.scrollLeft;
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
      this.nav.scrollLeft += event.deltaY * (getComputedStyle(this.nav).direction === "rtl" ? -1 : 1);
      if (this.nav.scrollLeft !== before) event.preventDefault(); // at the end the page scrolls
    }, { passive: false });
    new ResizeObserver(() => this.element.classList.toggle("wide", this.nav.scrollWidth > this.nav.clientWidth + 1)).observe(this.nav);
  }

  clear(): void {
    this.observer.disconnect();
    this.links.clear();
    this.nav.replaceChildren();
  }

  /** add adds the link to a section. */
  add(section: Element, name: string, inner: boolean, go: () => void): void {
    const link = h("button", { type: "button", part: "category-link", class: inner ? "inner" : "", tabindex: this.links.size ? "-1" : "0", onclick: go }, h("bdi", { dir: "auto" }, name));
    this.links.set(section, link);
    this.nav.append(link);
    this.observer.observe(section);
    this.element.classList.toggle("wide", this.links.size > 12 || this.element.classList.contains("wide"));
  }

  /** jumping reports whether the page may still scroll to the last jump. */
  get jumping(): boolean { return performance.now() - this.jumped < quiet; }

  /** jump marks a section before the page scrolls to it. */
  jump(section: Element): void {
    this.jumped = performance.now();
    this.mark(section);
  }

  private mark(section: Element): void {
    const link = this.links.get(section);
    if (!link || link.ariaCurrent === "true") return;
    const focused = (this.nav.getRootNode() as ShadowRoot).activeElement;
    for (const other of this.links.values()) {
      if (other.ariaCurrent) other.removeAttribute("aria-current");
      if (focused?.parentElement !== this.nav) other.tabIndex = other === link ? 0 : -1;
    }
    link.setAttribute("aria-current", "true");
    const [a, b] = [link.getBoundingClientRect(), this.nav.getBoundingClientRect()];
    this.scroll(a.left + a.width / 2 - b.left - b.width / 2);
  }

  private scroll(left: number): void {
    this.nav.scrollBy({ left, behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "smooth" });
  }

  /** arrow returns a button for the mouse. Keyboards and screen readers use the links. */
  private arrow(by: 1 | -1): HTMLElement {
    return h("button", { type: "button", class: "round arrow", tabindex: "-1", "aria-hidden": "true", onclick: () => {
      this.scroll(this.nav.clientWidth * 0.8 * by * (getComputedStyle(this.nav).direction === "rtl" ? -1 : 1));
    } }, by < 0 ? "‹" : "›");
  }

  private move(event: KeyboardEvent): void {
    const all = [...this.links.values()];
    const at = all.indexOf(event.target as HTMLButtonElement);
    const next = getComputedStyle(this.nav).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
    const to = event.key === "Home" ? 0 : event.key === "End" ? all.length - 1
      : event.key === next ? at + 1 : event.key === "ArrowLeft" || event.key === "ArrowRight" ? at - 1 : -1;
    const link = all[to];
    if (at < 0 || !link) return;
    event.preventDefault();
    all[at]!.tabIndex = -1;
    link.tabIndex = 0;
    link.focus();
  }
}
