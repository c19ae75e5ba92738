// Messages for the developers of a site, on the browser's console.

const reported = new Set<string>();

/** report writes a message once. */
export function report(text: string): void {
  if (reported.has(text)) return;
  reported.add(text);
  console.warn("larder: " + text);
}
