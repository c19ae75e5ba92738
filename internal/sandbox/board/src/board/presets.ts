// Presets: faults that storefronts and larder have to handle.
import { count } from "./dom";
import { named, type Fault } from "./sandbox";

const order = { method: "POST", path: "/orders/api/v1/orders" };
const view = { method: "GET", path: "/orders/api/v1/menu/view" };
const token = { method: "POST", path: "/connect/token" };
const service = { path: "/orders/*" };

export const presets: { name: string; words: string; fault: Fault }[] = [
  {
    name: "Lost response",
    words: "The next order is placed, then the connection breaks before the response.",
    fault: { match: order, times: 1, do: "execute_then_reset" },
  },
  {
    name: "No response",
    words: "The next order is placed, but no response is sent.",
    fault: { match: order, times: 1, do: "execute_then_hang" },
  },
  {
    name: "Placed, but 500",
    words: "The next order is placed, but the response is 500.",
    fault: { match: order, times: 1, do: "execute_then_status", status: 500 },
  },
  {
    name: "Broken connection",
    words: "The connection breaks before the next order is placed.",
    fault: { match: order, times: 1, do: "reset_before" },
  },
  {
    name: "503 to orders",
    words: "The next three orders get 503 with Retry-After 2 s.",
    fault: { match: order, times: 3, do: "status", status: 503, retryAfter: 2 },
  },
  {
    name: "Too many requests",
    words: "The next three calls get 429 with Retry-After 1 s.",
    fault: { match: service, times: 3, do: "status", status: 429, retryAfter: 1 },
  },
  {
    name: "Slow",
    words: "Every call takes two more seconds, until removed.",
    fault: { match: {}, do: "latency", delay: "2s" },
  },
  { name: "Down", words: "Every connection breaks, until removed.", fault: { match: {}, do: "reset_before" } },
  {
    name: "Expired tokens",
    words: "All tokens expire at the next call.",
    fault: { match: service, times: 1, do: "expire_tokens" },
  },
  {
    name: "No tokens",
    words: "The next three token requests get 503.",
    fault: { match: token, times: 3, do: "status", status: 503 },
  },
  { name: "Invalid menu", words: "The next menu is not valid JSON.", fault: { match: view, times: 1, do: "garbage" } },
  {
    name: "Truncated menu",
    words: "The next menu ends after 1,000 bytes.",
    fault: { match: view, times: 1, do: "truncate", after: 1000 },
  },
  {
    name: "Proxy error page",
    words: "The next call gets an HTML page with status 502.",
    fault: { match: service, times: 1, do: "html" },
  },
];

/** Returns the fault with which larder cannot read the menu of one restaurant, so that it becomes stale. */
export const stale = (restaurant: string): Fault => ({
  match: restaurant === "default" ? view : { ...view, restaurant }, // reads of the default menu name no restaurant
  do: "status",
  status: 503,
});

/** The calls that a custom fault can match. */
export const calls: { name: string; match: Fault["match"] }[] = [
  { name: "every call", match: {} },
  { name: "new orders", match: order },
  { name: "payments", match: { method: "PUT", path: "/orders/api/v1/orders/*/pay" } },
  { name: "completions", match: { method: "PUT", path: "/orders/api/v1/orders/*/complete" } },
  { name: "rejections", match: { method: "PUT", path: "/orders/api/v1/orders/*/reject" } },
  { name: "the menu", match: view },
  { name: "rejection reasons", match: { method: "GET", path: "/orders/api/v1/rejectionReasons" } },
  { name: "tokens", match: token },
];

/** The effects of faults, and the number that each one needs. */
export const actions: { name: string; words: string; needs?: "status" | "delay" | "after" }[] = [
  { name: "status", words: "do nothing, respond with a status", needs: "status" },
  { name: "latency", words: "wait, then continue as usual", needs: "delay" },
  { name: "hang", words: "do nothing, never respond" },
  { name: "reset_before", words: "do nothing, break the connection" },
  { name: "execute_then_reset", words: "do it, then break the connection" },
  { name: "execute_then_hang", words: "do it, never respond" },
  { name: "execute_then_status", words: "do it, then respond with a status", needs: "status" },
  { name: "truncate", words: "do it, truncate the response", needs: "after" },
  { name: "garbage", words: "do nothing, respond with invalid JSON" },
  { name: "html", words: "do nothing, respond with an HTML page" },
  { name: "expire_tokens", words: "expire all tokens, then continue as usual" },
];

/** Describes a fault in words. */
export function inWords(fault: Fault): string {
  const where =
    [fault.match.method, fault.match.path, fault.match.restaurant && `of ${named(fault.match.restaurant)}`]
      .filter(Boolean)
      .join(" ") || "every call";
  let often = "until removed";
  if (fault.times) often = count(fault.times, "more time");
  else if (fault.probability) often = `with probability ${fault.probability}`;
  const numbers = [
    fault.status && `status ${fault.status}`,
    fault.delay && fault.delay !== "0s" && `delay ${fault.delay}`,
    fault.retryAfter && `Retry-After ${fault.retryAfter}`,
    fault.after && `after ${count(fault.after, "byte")}`,
  ].filter(Boolean);
  return `${where}: ${[fault.do, ...numbers].join(", ")}; ${often}`;
}
