// Messages for the developers of a site, on the browser's console. Guests see only
// that something does not work.

const reported = new Set<string>();

/** report writes a message once. */
export function report(text: string): void {
  if (reported.has(text)) return;
  reported.add(text);
  console.warn("larder: " + text);
}

/** diagnose calls work with the module that finds causes. Without a network, the cause is known. */
export function diagnose(work: (find: typeof import("../diagnose")) => Promise<void>): void {
  if (!navigator.onLine) return;
  const url = new URL("./diagnose.js", import.meta.url).href; // larder adds the version of the file
  import(url).then(work).catch(() => report(`${url} cannot be loaded.`));
}
