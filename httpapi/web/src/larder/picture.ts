// Which photos a page may load.

import { orUndefined } from "./store";

// As SafePicture in Go (policy H13): an http(s) address with a host and without a user, or a path.
const safe = /^(https?:\/\/[\w.-]+(:\d+)?([/?#][^\p{C}\\]*)?|(\/(?!\.|%2e)[^/\p{C}\\]+)+)$/iu;

/** addressOf returns the address of a photo, or "" if it is not one that a page can show. */
export function addressOf(url: string | undefined, base: string): string {
  return (url && safe.test(url) && orUndefined(() => new URL(url, base + "/").href)) || "";
}
