// Requests to larder, and how responses are read.

import type { components } from "../api/openapi";
import type { MenuBody } from "./menu";
import { placeLimit, type Answer, type OrderTransport } from "./place";

/** Details are what is known about a restaurant, besides its menu. */
export interface Details {
  guestPhone?: string | null;
  address?: string | null;
  timeZone?: string | null;
  deliveryTerms?: string | null;
  accepts?: components["schemas"]["Restaurant"]["accepts"];
  hours?: components["schemas"]["Restaurant"]["hours"];
  snoozed?: components["schemas"]["Restaurant"]["snoozed"];
}

export type Verdict = components["schemas"]["ValidationAnswer"]["result"];

const readLimit = 20_000; // milliseconds

/** Api sends the requests of one restaurant to one base address. */
export class Api {
  readonly path: string;

  constructor(
    readonly base: string,
    restaurant: string,
    private readonly lang: () => string,
  ) {
    this.path = `${base}/v1/restaurants/${encodeURIComponent(restaurant)}`;
    this.events = `${base}/v1/events?restaurant=${encodeURIComponent(restaurant)}`;
    this.orderEvents = `${base}/v1/orders/events`;
  }

  readonly events: string;
  readonly orderEvents: string;

  /** restaurant returns the details of the restaurant. It returns none if the request failed. */
  async restaurant(): Promise<Details> {
    const { status, body } = await ask(this.path, { cache: "no-cache" }, readLimit);
    return (status === 200 && body.result) || {};
  }

  /** menu reads the menu. The browser cache adds If-None-Match. */
  async menu(): Promise<MenuBody> {
    // The same options as <link rel="preload" as="fetch" crossorigin>, so that a preloaded response is used.
    const answer = await ask(this.path + "/menu", { cache: "no-cache", credentials: "same-origin" }, readLimit);
    if (answer.status !== 200) throw answer;
    return answer.body.result;
  }

  /** validate returns the result of the validation, or null if the request failed. */
  async validate(body: string, signal?: AbortSignal): Promise<Verdict | null> {
    const answer = await ask(
      this.path + "/orders/validate",
      { method: "POST", body, headers: this.headers(), signal: signal ?? null },
      readLimit,
    );
    return answer.status === 200 ? answer.body.result : null;
  }

  /** look asks for the order with the key. */
  look(key: string): Promise<Answer> {
    return ask(`${this.base}/v1/orders`, { headers: { "Idempotency-Key": key }, cache: "no-store" }, readLimit);
  }

  /** transport returns the functions that place orders: at larder, or at the site's own backend. */
  transport(orderURL: () => string): OrderTransport {
    const headers = (key: string): Record<string, string> => ({ ...this.headers(), "Idempotency-Key": key });
    const place = (key: string, body: string): Promise<Answer> => {
      const url = orderURL() || this.path + "/orders";
      return ask(
        url,
        { method: "POST", body, headers: headers(key), credentials: orderURL() ? "same-origin" : "omit" },
        placeLimit,
      );
    };
    const look = (key: string): Promise<Answer> | null =>
      orderURL()
        ? null // a backend has no such route: sending the order again returns its state
        : this.look(key);
    return { place, look };
  }

  private headers(): Record<string, string> {
    return { "Content-Type": "application/json", "Accept-Language": this.lang() };
  }
}

/** ask never throws. Without a readable response, the status is 0. */
async function ask(url: string, init: RequestInit, limit: number): Promise<Answer> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), limit);
  init.signal?.addEventListener("abort", () => stop.abort(), { once: true });
  try {
    const response = await fetch(url, { credentials: "omit", ...init, signal: stop.signal });
    const body = await response.json().catch(() => null);
    return {
      status: response.ok && body === null ? 0 : response.status,
      body,
      retryAfter: Number(response.headers.get("Retry-After")) || 0,
    };
  } catch {
    return { status: 0, body: null, retryAfter: 0 };
  } finally {
    clearTimeout(timer);
  }
}
