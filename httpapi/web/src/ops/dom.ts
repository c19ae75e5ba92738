// Creating elements and text nodes. Data is never used as markup.

export type Child = Node | string | number | null | undefined | false | Child[];

type Attributes = Record<string, string | number | boolean | null | undefined | ((event: any) => void)>;

/** Creates an element. A function is a listener ("onclick"), true an attribute without a value; null and false are skipped. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  fill(element, children);
  return element;
}

function fill(element: Element, children: Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) fill(element, child);
    else if (child !== null && child !== undefined && child !== false)
      element.append(child instanceof Node ? child : String(child));
  }
}

/** Replaces the children of an element. */
export function put(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  fill(element, children);
}

/** Returns a table with a caption for screen readers. */
export function table(caption: string, heads: string[], rows: HTMLTableRowElement[]): HTMLElement {
  return h(
    "table",
    {},
    h("caption", { class: "hidden" }, caption),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        heads.map((head) => h("th", { scope: "col" }, head || h("span", { class: "hidden" }, "Actions"))),
      ),
    ),
    h("tbody", {}, rows),
  );
}

/** Returns a cell with the label of its column: phones do not show the table head. */
export function cell(label: string, ...children: Child[]): HTMLTableCellElement {
  return h("td", { "data-label": label }, h("div", {}, ...children));
}

/** Returns the cell that names its row. */
export function rowHead(...children: Child[]): HTMLTableCellElement {
  return h("th", { scope: "row" }, ...children);
}

/** Waits. Resolves to false if the signal is aborted first. */
export function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(false);
    const timer = setTimeout(() => resolve(true), ms);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve(false);
      },
      { once: true },
    );
  });
}
