// Creating elements and text nodes. Text is never used as markup.

type Child = Node | string | false | null | undefined;
type Settable = Record<string, unknown>;

const present = (child: Child): child is Node | string => typeof child === "string" || child instanceof Node;

/**
 * Creates an element. Names with a dash, `role`, `scope` and `list` set attributes,
 * names that start with "on" add listeners, other names set properties.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  set: Settable = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(set)) {
    if (value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
    else if (name.includes("-") || ["role", "scope", "list"].includes(name)) element.setAttribute(name, String(value));
    else (element as unknown as Settable)[name] = value;
  }
  element.append(...children.filter(present));
  return element;
}

/** Replaces the children of an element. The focus stays on the element with the same data-key. */
export function refill(parent: Element, ...children: Child[]): void {
  const focused = document.activeElement;
  const key = focused instanceof HTMLElement && parent.contains(focused) ? focused.dataset.key : undefined;
  parent.replaceChildren(...children.filter(present));
  if (key) parent.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus();
}

/** Returns a number with its noun, such as "1 dish" or "2 dishes". */
export function count(n: number, one: string, many = one + "s"): string {
  return `${n} ${n === 1 ? one : many}`;
}

/** Announces a change to screen readers. */
export function say(text: string): void {
  const place = document.getElementById("said");
  if (place) place.textContent = text;
}

/** The time of a moment in the reader's time zone. */
export const clock = (at: Date): string => at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });

/** The reader's time zone, such as "GMT+1". */
export const zone =
  new Intl.DateTimeFormat("en-GB", { timeZoneName: "short" })
    .formatToParts(new Date())
    .find((part) => part.type === "timeZoneName")?.value ?? "local time";

/** Returns the message of an error. */
export const words = (error: unknown): string => (error instanceof Error ? error.message : String(error));
