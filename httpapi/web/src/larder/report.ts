// Messages for the developers of a site, on the browser's console. Guests see only
// that something does not work.

import { isOnline } from "./place";

const reported = new Set<string>();

/** home is the origin of this module. */
export const home = new URL(import.meta.url).origin;

/** report writes a message once. */
export function report(text: string): void {
  if (reported.has(text)) return;
  reported.add(text);
  console.warn("larder: " + text);
}

/** diagnose calls work with the module that finds causes. Without a network, the cause is known. */
export function diagnose(work: (find: typeof import("../diagnose")) => unknown): void {
  if (!isOnline()) return;
  const url = new URL("./diagnose.js", import.meta.url).href; // larder adds the version of the file
  import(url).then(work, () => report(`${url} cannot be loaded. Is larder running?`));
}
