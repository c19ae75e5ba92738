// Building what is shown: elements and text, never markup out of text.

type Child = Node | string | false | null | undefined;
type Settable = Record<string, unknown>;

const present = (child: Child): child is Node | string => typeof child === 'string' || child instanceof Node;

/**
 * One element. Names with a dash, `role`, `scope` and `list` are attributes,
 * what starts with "on" listens, everything else is a property.
 */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, set: Settable = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(set)) {
    if (value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value as EventListener);
    else if (name.includes('-') || ['role', 'scope', 'list'].includes(name)) element.setAttribute(name, String(value));
    else (element as unknown as Settable)[name] = value;
  }
  element.append(...children.filter(present));
  return element;
}

/** Puts children in place of those that are there; the focus stays on what has the same data-key. */
export function refill(parent: Element, ...children: Child[]): void {
  const focused = document.activeElement;
  const key = focused instanceof HTMLElement && parent.contains(focused) ? focused.dataset.key : undefined;
  parent.replaceChildren(...children.filter(present));
  if (key) parent.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus();
}

/** "1 dish", "2 dishes". */
export function count(n: number, one: string, many = one + 's'): string {
  return `${n} ${n === 1 ? one : many}`;
}

/** Says something to people who do not see it happen. */
export function say(text: string): void {
  const place = document.getElementById('said');
  if (place) place.textContent = text;
}

/** What went wrong, for a person. */
export const words = (error: unknown): string => (error instanceof Error ? error.message : String(error));
