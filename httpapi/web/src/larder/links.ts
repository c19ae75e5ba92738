// The address of an open dish (#dish=ID), and the Back button, which closes it. The
// dialog has its own history entry, so that Back never leaves the site. A jump to the
// form has one too.

import { orUndefined } from "./store";

interface Overlay {
  readonly fragment: string;
  close(): void;
  closeInner(): boolean;
}

const longest = 1000; // milliseconds until history.back() has had its effect

let shown: Overlay | null = null;
let leaving = 0; // the timer of history.back() until popstate
const followers = new Set<() => boolean>();

/** marked reports whether the current history entry is the one of a dialog. */
const marked = (): boolean => (history.state as { larder?: boolean | string } | null)?.larder === true;

/** address returns the address of a fragment on this page, whatever the page's <base> is. */
export const address = (fragment: string): string => location.href.split("#")[0] + fragment;

/** entered adds the history entry of a dialog that was opened. Without a fragment the address stays. */
export function entered(dialog: Overlay): void {
  listen();
  shown = dialog;
  if (!leaving) enter(dialog.fragment);
}

/** left removes the entry of a dialog after it was closed, unless Back has closed it. */
export function left(dialog: Overlay): void {
  if (shown !== dialog) return;
  shown = null;
  if (!marked()) return;
  leaving = setTimeout(() => {
    leaving = 0;
  }, longest);
  history.back();
}

/** occupied reports whether a dialog is open. */
export const occupied = (): boolean => shown !== null;

/** linked returns what the address links to: a dish or a category. */
export function linked(): { kind: string; id: string } | null {
  const [, kind, id] = /^#(dish|category)=(.+)$/.exec(location.hash) ?? [];
  return kind ? { kind, id: orUndefined(() => decodeURIComponent(id!)) ?? id! } : null; // or not percent-encoded
}

/** departed adds a history entry before a jump to the form. Back returns to the place in the menu, which the browser restores. */
export function departed(): void {
  if (leaving || history.scrollRestoration === "manual" || history.state?.larder === "form") return;
  history.replaceState({ ...history.state, larder: "menu" }, "");
  history.pushState({ ...history.state, larder: "form" }, "");
}

/** dropped removes a link that leads nowhere from the address, unless another menu on the page may have its dish. */
export function dropped(): boolean {
  if (followers.size > 1) return false;
  history.replaceState(history.state, "", address(""));
  return true;
}

/** follow calls work after each navigation to a link, until work of one element returns true. */
export function follow(work: () => boolean, signal: AbortSignal): void {
  listen();
  followers.add(work);
  signal.addEventListener("abort", () => followers.delete(work), { once: true });
}

function enter(fragment: string): void {
  const state: unknown = { ...history.state, larder: true };
  const url = fragment ? address(fragment) : location.href;
  if (marked()) {
    history.replaceState(state, "", url);
    return;
  }
  // The first page of a visit: its entry becomes the menu, so that Back stays there.
  if (fragment && linked()?.kind === "dish") history.replaceState(history.state, "", address(""));
  history.pushState(state, "", url);
}

let listening = false;

function listen(): void {
  if (listening) return;
  listening = true;
  addEventListener("popstate", () => {
    if (leaving) {
      clearTimeout(leaving);
      leaving = 0;
      if (shown) enter(shown.fragment);
      return;
    }
    const link = linked();
    const before = shown;
    if (before && marked() && (!before.fragment || location.hash === before.fragment)) return;
    if (before?.closeInner()) {
      enter(before.fragment); // Back has closed the photo: the dialog stays
      return;
    }
    shown = null;
    before?.close();
    if (link?.kind === "dish" && !marked()) history.replaceState({ ...history.state, larder: true }, ""); // a link of this page: the entry below is its menu
    if (link && !history.state?.larder?.length && (!before || link.kind === "dish"))
      for (const work of followers) if (work()) break; // not between menu and form
  });
}
