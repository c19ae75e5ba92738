// Finds out why larder or a backend does not work for a page, and reports it on the
// browser's console. The elements load this module only then.

import { report } from "./larder/report";

const limit = 10_000; // milliseconds for one request
const help = "See “CORS” in larder's storefront.md.";

/** reportMenu finds out why the menu at the address cannot be loaded, and reports it. */
export async function reportMenu(url: string): Promise<void> {
  const origin = location.origin;
  const options: RequestInit = { credentials: "omit", cache: "no-store", signal: AbortSignal.timeout(limit) };
  const answer = await fetch(url, options).catch(() => null);
  const body = await answer?.json().catch(() => null);
  if (!answer) {
    report(await reachable(url)
      ? `the server of ${url} does not allow pages of ${origin} (CORS). Add ${origin} to http.cors_origins and auth.public_orders.origins; for the demo: larder demo --origin ${origin}. ${help}`
      : `${url} cannot be reached. Is larder running there? A page on https needs larder on https, and a Content-Security-Policy must list ${new URL(url).origin} in connect-src.`);
  } else if (body?.code === "restaurant_not_found") {
    report(`there is no restaurant "${decodeURIComponent(url.split("/").at(-2)!)}" (attribute restaurant). Known: ${body.errors?.[0]?.params?.known?.join(", ") || "none that this page may see"}.`);
  } else if (!answer.ok && typeof body?.code === "string") {
    report(`${url} returns ${answer.status} ${body.code}: ${body.msg}${answer.status === 401 ? ". Set auth.open_menu to true." : ""}`);
  } else if (!answer.ok || body === null) {
    report(`${url} returns ${answer.status}, but not from larder. Is the attribute src the address of larder?`);
  }
}

/** reportOrder reports why an order had no readable response (status 0), or was not allowed. */
export async function reportOrder(url: string, own: boolean, status: number): Promise<void> {
  const origin = location.origin;
  const setting = own ? "The backend must allow this page." : `Add ${origin} to auth.public_orders.origins, or use order-url. ${help}`;
  if (status === 401 || status === 403) report(`${url} takes no orders from pages of ${origin} (${status}). ${setting}`);
  else if (status === 404 || status === 405) report(`${url} returns ${status} to an order.${own ? " Is the attribute order-url right?" : ""}`);
  else if (status === 0 && new URL(url).origin !== origin && await reachable(url)) {
    report(`the server of ${url} responds, but this page may not read the response (CORS). ${own ? `Check order-url. The backend must answer OPTIONS, and send Access-Control-Allow-Origin: ${origin} and Access-Control-Allow-Headers: Content-Type, Idempotency-Key.` : setting}`);
  }
}

/** reachable reports whether a server responds. A request without CORS needs no permission. */
function reachable(url: string): Promise<boolean> {
  return fetch(url, { mode: "no-cors", credentials: "omit", cache: "no-store", signal: AbortSignal.timeout(limit) }).then(() => true, () => false);
}
