// Finds out why larder or a backend does not work for a page, or what is wrong with a
// site's texts, and reports it on the browser's console. The elements load this module only then.

import type { Answer } from "./larder/place";
import { report } from "./larder/report";
import english from "./texts.json";

const limit = 10_000; // milliseconds for one request
const help = "See “CORS” in larder's storefront.md.";
const correctSource = "The attribute src must be larder's address: scheme, host and port, without a path.";

/** reportElement reports that an element has no restaurant. */
export function reportElement(name: string): void {
  report(`<${name}> has no attribute restaurant. /v1/restaurants lists the ids.`);
}

// What to do about a status, after a full stop.
const remedies: Record<number, string> = { 401: ". Set auth.open_menu to true.", 404: `. ${correctSource}` };

/** reportMenu finds out why the menu at the address cannot be loaded, and reports it. */
export async function reportMenu(url: string): Promise<void> {
  const base = baseOf(url);
  if (!/^https?:/.test(base)) return report(`${base} is not an address on http or https. ${correctSource}`);
  const answer = await read(url);
  const body = await answer?.json().catch(() => null);
  if (!answer) {
    if (!(await reachable(url))) report(unreachable(url, "larder"));
    else if (await isLarder(base)) report(menuOrigin(url));
    else report(`a server responds at ${base}, but not larder. ${correctSource}`);
  } else if (body?.code === "restaurant_not_found") {
    report(
      `there is no restaurant "${decodeURIComponent(url.split("/").at(-2)!)}" (attribute restaurant). ${base}/v1/restaurants lists those that exist.`,
    );
  } else if (!answer.ok && typeof body?.code === "string") {
    const remedy = remedies[answer.status] ?? "";
    report(`${url} returns ${answer.status} ${body.code}: ${body.msg}${remedy}`);
  } else if (!answer.ok || body === null) {
    report(`${url} returns ${answer.status}, but not from larder. ${correctSource}`);
  }
}

/** menuOrigin returns what to do if larder does not allow the origin of the page. */
function menuOrigin(url: string): string {
  const { origin } = location;
  return `the server of ${url} does not allow pages of ${origin} (CORS). If orders go to larder, add ${origin} to auth.public_orders.origins, and set auth.public_orders.enabled to true. With order-url, or without an order form, add it to http.cors_origins. For the demo, add --origin ${origin} to its command and start it again. ${help}`;
}

const found = new Set<string>(); // the order URLs and statuses that were examined

/** reportOrder reports why an order had no readable response (status 0), was not allowed, or did not reach larder. */
export async function reportOrder(
  url: string,
  own: boolean,
  { status, body }: Pick<Answer, "status" | "body">,
): Promise<void> {
  if (found.has(url + status)) return;
  found.add(url + status);
  const { origin } = location;
  const setting = `Add ${origin} to auth.public_orders.origins, and set auth.public_orders.enabled to true; or use order-url. ${help}`;
  if (status === 401 || status === 403) {
    report(
      `${url} takes no orders from pages of ${origin} (${status}). ${own ? "The backend must allow this page, or larder refused the backend's token: check LARDER_SECRET." : setting}`,
    );
  } else if (status === 404 || status === 405) {
    report(`${url} returns ${status} to an order.${own ? " Is the attribute order-url right?" : ""}`);
  } else if (status >= 500 && typeof body?.code !== "string") {
    report(
      `${url} returns ${status} to an order, but not from larder. ${own ? "Is order-url the address of your backend? If it is, read the backend's log." : correctSource}`,
    );
  } else if (status === 0 && !(await (own ? reachable(url) : isLarder(baseOf(url))))) {
    // a GET of larder's orders would be an error on the console
    report(unreachable(url, own ? "your backend" : "larder"));
  } else if (status === 0 && new URL(url).origin !== origin) {
    report(
      `the server of ${url} responds, but this page may not read the response (CORS), or the connection was lost. If this happens with each order: ${own ? `Check order-url. The backend must answer OPTIONS, and send Access-Control-Allow-Origin: ${origin} and Access-Control-Allow-Headers: Content-Type, Idempotency-Key.` : setting}`,
    );
  }
}

/** reportTexts reports what is wrong with the texts of a site: the keys, the types, and unknown parameters. */
export function reportTexts(table: object, from: string): void {
  const faults: string[] = [];
  for (const [key, text] of Object.entries(table)) {
    if (!Object.hasOwn(english, key)) {
      faults.push(`there is no text "${key}"`);
      continue;
    }
    const known = parameters(english[key as keyof typeof english]);
    const unknown = parameters(text).filter((name) => !known.includes(name));
    const forms = typeof text === "string" ? { other: text } : Object(text);
    if (typeof forms.other !== "string" || !Object.values(forms).every((form) => typeof form === "string"))
      faults.push(`"${key}" is not a string, or plural forms with "other"`);
    else if (unknown.length)
      faults.push(`"${key}" has no parameter ${unknown.join(", ")}${known.length ? `, only ${known.join(", ")}` : ""}`);
  }
  if (faults.length)
    report(`${from}: ${faults.join("; ")}. All keys: ${new URL("./texts.json", import.meta.url).href}`);
}

/** parameters returns the parameters of a text, such as "{n}", each once. */
function parameters(text: unknown): string[] {
  return [...new Set(JSON.stringify(text)?.match(/\{\w+\}/g))];
}

function unreachable(url: string, what: string): string {
  return `${url} cannot be reached. Is ${what} running there? Is http or https right? A page on https needs https there too. A Content-Security-Policy must list ${new URL(url).origin} in connect-src.`;
}

/** reachable reports whether a server responds. A request without CORS needs no permission. */
async function reachable(url: string): Promise<boolean> {
  return (await read(url, { mode: "no-cors" })) !== null;
}

/** baseOf returns the address of larder from that of a restaurant's menu or orders: the attribute src. */
const baseOf = (url: string): string => url.slice(0, url.lastIndexOf("/v1/restaurants/"));

/** isLarder reports whether larder is at an address. Any page may read its files. */
async function isLarder(base: string): Promise<boolean> {
  const texts = await (await read(`${base}/web/texts.json`))?.json().catch(() => null);
  return typeof texts?.add === "string";
}

/** read returns the response to a request, or null if the page cannot have one. */
function read(url: string, options: RequestInit = {}): Promise<Response | null> {
  return fetch(url, { credentials: "omit", cache: "no-store", signal: AbortSignal.timeout(limit), ...options }).catch(
    () => null,
  );
}
