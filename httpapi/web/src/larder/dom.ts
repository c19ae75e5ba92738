// Creating elements. Text becomes text nodes, never markup.

const settling = 1000; // milliseconds in which heights may change after a jump

type Attributes = Record<string, unknown>;
type Child = Node | string | null | undefined | false;

/**
 * h creates an element. A name that starts with "on" adds a listener, a name that
 * starts with "." sets a property, any other name sets an attribute. Values that
 * are false, null or undefined are skipped; true is "true" for ARIA, else empty.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
    else if (name.startsWith(".")) (element as unknown as Attributes)[name.slice(1)] = value;
    else element.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : String(value));
  }
  element.append(...children.filter((c): c is Node | string => c !== null && c !== undefined && c !== false));
  return element;
}

/** sheet returns a constructed style sheet: a strict Content-Security-Policy allows it, unlike inline styles. */
export function sheet(text: string): CSSStyleSheet {
  let made = sheets.get(text);
  if (!made) {
    sheets.set(text, (made = new CSSStyleSheet()));
    made.replaceSync(text);
  }
  return made;
}

const sheets = new Map<string, CSSStyleSheet>();

/** once returns a function that runs work in a microtask. Calls before it runs are merged. */
export function once(work: () => void): () => void {
  let scheduled = false;
  return () => {
    if (scheduled) return;
    scheduled = true;
    queueMicrotask(() => {
      scheduled = false;
      work();
    });
  };
}

/**
 * reach scrolls to an element, in one step if it is far. What comes into view on the way gets its
 * real height, so for a while it aligns again after each change of the height of box.
 */
export function reach(target: HTMLElement, box: Element, smooth = true): void {
  const far = Math.abs(target.getBoundingClientRect().top) > 2 * innerHeight;
  const still = far || !smooth || matchMedia("(prefers-reduced-motion: reduce)").matches;
  let end = performance.now() + settling;
  for (const name of ["pointerdown", "wheel", "keydown", "popstate"])
    addEventListener(
      name,
      () => {
        end = 0;
      },
      { once: true, capture: true, passive: true },
    ); // the guest decides
  target.scrollIntoView({ behavior: still ? "instant" : "smooth" });
  const align = (): void => {
    const watch = new ResizeObserver(() => {
      if (performance.now() < end) target.scrollIntoView({ behavior: "instant" });
      else watch.disconnect();
    });
    watch.observe(box);
  };
  if (still) align();
  else document.addEventListener("scrollend", align, { once: true });
}
