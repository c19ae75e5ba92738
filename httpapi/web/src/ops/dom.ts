// Building the page: elements and texts, never markup made of data.

export type Child = Node | string | number | null | undefined | false | Child[];

type Attributes = Record<string, string | number | boolean | null | undefined | ((event: any) => void)>;

/** Makes an element: a function is a listener ("onclick"), true an attribute without a value, null none. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  fill(element, children);
  return element;
}

function fill(element: Element, children: Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) fill(element, child);
    else if (child !== null && child !== undefined && child !== false) element.append(child instanceof Node ? child : String(child));
  }
}

/** Puts children in place of what an element has. */
export function put(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  fill(element, children);
}

/** A table with a caption for those who cannot see what stands around it. */
export function table(caption: string, heads: string[], rows: HTMLTableRowElement[]): HTMLElement {
  return h('table', {},
    h('caption', { class: 'hidden' }, caption),
    h('thead', {}, h('tr', {}, heads.map((head) => h('th', { scope: 'col' }, head || h('span', { class: 'hidden' }, 'What to do'))))),
    h('tbody', {}, rows));
}

/** A cell that tells its column on a phone, where the heads are not shown. */
export function cell(label: string, ...children: Child[]): HTMLTableCellElement {
  return h('td', { 'data-label': label }, h('div', {}, ...children));
}

/** The cell that a row is called by. */
export function rowHead(...children: Child[]): HTMLTableCellElement {
  return h('th', { scope: 'row' }, ...children);
}

/** Waits so long, or until the signal ends it: false. */
export function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(false);
    const timer = setTimeout(() => resolve(true), ms);
    signal.addEventListener('abort', () => { clearTimeout(timer); resolve(false); }, { once: true });
  });
}
