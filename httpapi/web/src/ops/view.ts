// The current view: the part of the address after "#".

import { h, type Child } from "./dom";

export interface Place {
  /** The id after the name of the view, or an empty string. */
  id: string;
  params: URLSearchParams;
  /** Aborted when another view is shown. */
  signal: AbortSignal;
  go(to: string): void;
}

/** Draws into root. Everything it starts ends with the signal. */
export type View = (root: HTMLElement, place: Place) => Promise<void>;

/** A link to a view. */
export function link(to: string, attributes: Record<string, string>, ...children: Child[]): HTMLAnchorElement {
  return h("a", { href: "#" + to, ...attributes }, ...children);
}

/** Splits an address such as "/orders/REF?x=y" into view, id and query. */
export function parse(hash: string): { name: string; id: string; params: URLSearchParams } {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [name = "", ...rest] = path.split("/");
  let id = rest.join("/");
  try {
    id = decodeURIComponent(id);
  } catch {
    /* not valid: keep it as it is */
  }
  return { name: name || "restaurants", id, params: new URLSearchParams(query) };
}
