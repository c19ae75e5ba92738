// Which view is shown: the part of the address behind "#".

import { h, type Child } from './dom';

export interface Place {
  /** What stands behind the view's name: an id, or nothing. */
  id: string;
  params: URLSearchParams;
  /** Ends when another view comes. */
  signal: AbortSignal;
  go(to: string): void;
}

/** Draws itself into root, and whatever it begins it ends with the signal. */
export type View = (root: HTMLElement, place: Place) => Promise<void>;

/** A link to a view. */
export function link(to: string, attributes: Record<string, string>, ...children: Child[]): HTMLAnchorElement {
  return h('a', { href: '#' + to, ...attributes }, ...children);
}

/** Takes an address apart: "/orders/REF?x=y" into its view, id and query. */
export function parse(hash: string): { name: string; id: string; params: URLSearchParams } {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [name = '', ...rest] = path.split('/');
  let id = rest.join('/');
  try {
    id = decodeURIComponent(id);
  } catch { /* typed by hand */ }
  return { name: name || 'restaurants', id, params: new URLSearchParams(query) };
}
