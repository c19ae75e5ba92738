// Placing an order exactly once. An intent is a body and its Idempotency-Key. It
// is stored before the first request is sent. Everything that follows (a double
// click, a reload, a lost response, another tab) continues with the same intent.

import type { Line } from "./basket";
import { orUndefined, type Store } from "./store";

/** State is what is known about the intent; see docs/http.md, "Placing". */
export type State =
  | "sending" // a request is in progress, or its response was lost
  | "lost" // larder is unreachable and may have received the order
  | "unknown" // larder has the order; it is not known whether the restaurant has it
  | "unsent" // certainly not placed; the same key can be sent again
  | "offline" // certainly not sent, because the browser is offline; sent when it is online again
  | "refused" // rejected by the ordering service; final
  | "placed";

export interface Intent {
  format: 1; key: string; body: string; state: State; at: number;
  lines: Line[]; // as they were in the basket
  maybe?: boolean; // an attempt had no response and may have had an effect
  orderID?: string | undefined; total?: string | undefined; message?: string;
  rejected?: boolean; closed?: boolean; paid?: boolean; // what became of a placed order
}

/** Seen is the state of an order as larder knows it. */
export interface Seen { state: string; paid?: boolean }

/** Answer is the response to a request. The status is 0 if there was none. */
export interface Answer { status: number; body: any; retryAfter: number }

/** OrderTransport sends requests. look returns null if the state can only be found by sending the order again. */
export interface OrderTransport {
  place(key: string, body: string): Promise<Answer>;
  look(key: string): Promise<Answer> | null;
}

/** Violation is one reason why an order is not valid, from larder or from the site's own backend. */
export interface Violation { path: string; code: string; msg: string }

/** newKey returns 144 random bits in base64url: 24 characters. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(18));
  return btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_");
}

/** ended reports whether a state is final, so that a new order can begin. */
export const ended = (state: State): boolean => state === "placed" || state === "refused";

/** notSent reports whether it is certain that nothing was placed, so that the order can be changed. */
export const notSent = (state: State): boolean => state === "unsent" || state === "offline";

/** isOnline is false if the browser is certain that it has no network. */
export const isOnline = (): boolean => (globalThis as { navigator?: { onLine?: boolean } }).navigator?.onLine !== false;

/** expectedAt returns the time for which a body orders, in milliseconds, or 0 for as soon as possible. */
export const expectedAt = (body: string): number => orUndefined(() => Date.parse(JSON.parse(body).expectedAt)) || 0;

/** pauses are the waiting times between attempts, in milliseconds. */
const pauses = [1000, 2000, 3000, 5000, 8000, 13000, 15000];
const mostTries = { sending: 6, unknown: 40 }; // then the guest has to press a button

/**
 * Time limits of an intent, in milliseconds. After forSending it is only looked
 * for and not sent automatically: a page that is opened again tomorrow must not
 * place an order. After forKeeping, well before larder forgets the key (24 h), it
 * is dropped unless larder is known to have it. After forWaiting it is dropped in
 * any case, so that the guest can order again. The outcome is shown for forShowing
 * after the time for which the order was placed.
 */
const forSending = 10 * 60_000, forKeeping = 12 * 3_600_000, forWaiting = 48 * 3_600_000, forShowing = 24 * 3_600_000;

/**
 * Placing places the orders of one restaurant, one at a time. It dispatches
 * "change" after each change of the intent, "ended" (detail: the intent) once
 * when the order is placed or refused, and "wrong" (detail: violations) when
 * larder rejected the order and sent nothing.
 */
export class Placing extends EventTarget {
  intent: Intent | null = null;
  /** asking reports whether a request, or the wait for the next one, is in progress. */
  asking = false;
  private hurry = (): void => {}; // ends the wait for the next request

  constructor(private readonly store: Store, readonly name: string, private readonly transport: OrderTransport,
    private readonly wait: (ms: number) => Promise<void> = (ms) => new Promise((done) => setTimeout(done, ms)), private readonly online = isOnline) {
    super();
    this.read();
  }

  /** read loads the stored intent, which another tab may have written. */
  read(): void {
    const kept = orUndefined(() => JSON.parse(this.store.getItem(this.name) ?? "null")) as Intent | null | undefined;
    const good = kept?.format === 1 && typeof kept.key === "string" && typeof kept.body === "string" && Array.isArray(kept.lines);
    const keeps = !good ? 0 : kept.state === "unknown" ? forWaiting : ended(kept.state) ? Math.max(0, expectedAt(kept.body) - kept.at) + forShowing : forKeeping;
    this.intent = good && Date.now() - kept.at <= keeps ? kept : null;
    if (good && !this.intent) this.store.removeItem(this.name); // it has the guest's address
    this.dispatchEvent(new Event("change"));
  }

  /**
   * begin places an order. If an earlier intent has not ended, begin continues
   * that one instead, whatever the body, so that there are never two orders. If
   * another tab has placed an order meanwhile, begin shows it and places nothing.
   */
  async begin(body: string, lines: Line[]): Promise<void> {
    const seen = this.intent?.key;
    const begun = await withLock(this.name, () => {
      this.read();
      const intent = this.intent;
      const open = intent && !ended(intent.state) && !(notSent(intent.state) && intent.body !== body);
      if (open || intent && intent.key !== seen) return false;
      const online = this.online();
      this.set({ format: 1, key: newKey(), body, lines, state: online ? "sending" : "offline", at: Date.now() });
      return online && this.start();
    });
    return begun ? this.follow(false) : this.resume();
  }

  /**
   * resume continues an intent that has not ended: when the guest presses the button
   * or, if auto, by itself. Only "unsent" and "offline" are certain that nothing was
   * sent. They become "sending" before a request, in one step for all tabs, so that no
   * tab changes an order that another tab sends.
   */
  async resume(auto = false): Promise<void> {
    this.hurry();
    if (!this.intent || this.asking) return;
    let look = false;
    const go = await withLock(this.name, () => {
      this.read();
      const intent = this.intent;
      if (!intent || ended(intent.state)) return false;
      const { state, maybe, at } = intent;
      const first = notSent(state);
      if (first && auto && (state === "unsent" || Date.now() - at > forSending)) return false;
      if (!this.online()) {
        if (state !== "unknown") this.set({ ...intent, state: first ? "offline" : "lost", at: first && !auto ? Date.now() : at });
        return false;
      }
      if (!this.start()) return false;
      look = !first;
      this.set({ ...intent, state: state === "unknown" ? "unknown" : "sending", maybe: maybe || !first, at: first && !auto ? Date.now() : at });
      return true;
    });
    if (go) await this.follow(look);
  }

  /** wake continues the intent automatically: after a reload, when the page becomes visible, or when the network is back. */
  async wake(): Promise<void> { await this.resume(true); }

  /** forget drops an intent that has ended or was certainly not placed. */
  async forget(): Promise<void> {
    const key = this.intent?.key;
    await withLock(this.name, () => {
      this.read();
      if (this.intent?.key === key && this.intent && (ended(this.intent.state) || notSent(this.intent.state))) this.set(null);
    });
  }

  /** observe takes the state of the order with the key from its event stream. It reports whether the state can change again. */
  async observe(key: string, { state, paid }: Seen): Promise<boolean> {
    if (this.intent?.key === key && this.intent.state === "unknown" && state !== "unknown") void this.wake(); // finds and stores the outcome
    await withLock(this.name, () => {
      this.read();
      const intent = this.intent;
      const [closed, rejected] = [state === "closed", state === "rejected"];
      if (intent?.key !== key || intent.state !== "placed" || !paid === !intent.paid && closed === !!intent.closed && rejected === !!intent.rejected) return;
      this.set({ ...intent, paid: !!paid, closed, rejected });
    });
    return this.intent?.key === key && (state === "placed" || state === "unknown" || state === "placing");
  }

  /** start reports whether a loop of requests has to be started: there is only one. */
  private start(): boolean {
    if (this.asking) {
      this.hurry(); // the running loop continues with the new intent
      return false;
    }
    return (this.asking = true);
  }

  /** follow sends requests until the outcome is certain or the attempts are used up. */
  private async follow(look: boolean): Promise<void> {
    try {
      for (let tries = 0; ; tries++) {
        const intent = this.intent;
        if (!intent || ended(intent.state) || notSent(intent.state)) return;
        if (!this.online()) { // "online" continues
          if (intent.state === "sending") this.set({ ...intent, state: "lost" });
          return;
        }
        const old = Date.now() - intent.at > forSending;
        const looked = look || old ? this.transport.look(intent.key) : null;
        if (old && !looked) return this.set({ ...intent, state: "unknown" });
        const answer = await (looked ?? this.transport.place(intent.key, intent.body));
        this.read();
        if (this.intent?.key !== intent.key) { // another tab changed the intent and may have begun another order
          look = true;
          continue;
        }
        if (ended(this.intent.state)) return;
        look = looked ? this.handleRecord(answer, old) : this.handleResponse(answer);
        const state = this.intent?.state;
        if (state !== "sending" && state !== "unknown") return;
        if (tries + 1 >= mostTries[state]) {
          if (state === "sending") this.set({ ...this.intent!, state: "lost" });
          return;
        }
        const pause = Math.max(pauses[Math.min(tries, pauses.length - 1)]!, Math.min(answer.retryAfter, 60) * 1000);
        await Promise.race([this.wait(pause), new Promise<void>((done) => { this.hurry = done; })]);
      }
    } finally {
      this.asking = false;
      this.hurry = () => {};
      this.dispatchEvent(new Event("change"));
    }
  }

  /** handleResponse handles the response to an order. It reports whether to look for the order next, instead of sending it. */
  private handleResponse({ status, body }: Answer): boolean {
    const intent = this.intent!;
    const code = typeof body?.code === "string" ? body.code : "";
    // If an earlier attempt may have had an effect, only these codes are certain: larder sends them after it has looked for the key.
    const certain = !intent.maybe || code === "validation_failed" || code === "upstream_unavailable" || code === "no_catalogue";
    if (status >= 200 && status < 300 && body?.result?.orderID !== undefined) {
      this.set({ ...intent, state: "placed", orderID: String(body.result.orderID), total: text(body.result.total) });
    } else if (status === 502 && code === "upstream_refused") {
      this.set({ ...intent, state: "refused", message: body.upstream?.msg });
    } else if (status === 504 && code === "order_outcome_unknown") {
      this.set({ ...intent, state: "unknown" });
      return true;
    } else if (status === 409 && code === "idempotency_key_in_flight") {
      return true;
    } else if (status === 422 && code === "idempotency_key_reused") {
      return true; // the key belongs to an order: look for its state
    } else if (certain && (status === 503 && code !== "" || status === 429)) {
      this.set({ ...intent, state: "unsent" });
    } else if (certain && status >= 400 && status < 500 && status !== 408) {
      this.set(null); // nothing was sent, and the key can be used again
      const violations: Violation[] = Array.isArray(body?.errors) && status === 422 ? body.errors : [];
      this.dispatchEvent(new CustomEvent("wrong", { detail: { violations, status, code } }));
    } else {
      this.set({ ...intent, maybe: true });
    }
    return false; // no usable response: send the same order again
  }

  /** handleRecord handles the record of the order. It reports whether to look again. */
  private handleRecord({ status, body }: Answer, old: boolean): boolean {
    const intent = this.intent!;
    const { state, orderID, total, paid } = body?.result ?? {};
    if (status === 404 && intent.state !== "unknown") { // larder never received it
      if (old) this.set({ ...intent, state: "unsent" });
      return false;
    }
    if (status === 404) return true; // larder had the order once, so it is never sent again
    if (status !== 200) return status === 0 || status === 429 || status >= 500;
    switch (state) {
      case "placed": case "closed": case "rejected":
        this.set({ ...intent, state: "placed", orderID: text(orderID), total: text(total), paid: paid === true, closed: state === "closed", rejected: state === "rejected" });
        return false;
      case "refused": // sending it again returns the reason, but an old order is not sent
      case "not_sent":
        if (old) this.set({ ...intent, state: state === "refused" ? state : "unsent" });
        else if (intent.state === "unknown") this.set({ ...intent, state: "sending" });
        return false;
      case "unknown":
        if (intent.state !== "unknown") this.set({ ...intent, state: "unknown" });
        return true;
      default:
        return true; // still in progress
    }
  }

  private set(intent: Intent | null): void {
    const news = intent !== null && ended(intent.state) && !(this.intent && ended(this.intent.state));
    this.intent = intent;
    if (intent) this.store.setItem(this.name, JSON.stringify(intent));
    else this.store.removeItem(this.name);
    if (news) this.dispatchEvent(new CustomEvent("ended", { detail: intent }));
    this.dispatchEvent(new Event("change"));
  }
}

const text = (value: unknown): string | undefined => (value === null || value === undefined ? undefined : String(value));

/** withLock runs work under a lock that all tabs share. Without Web Locks (plain http) it runs work immediately. */
async function withLock<T>(name: string, work: () => T): Promise<T> {
  const locks = (globalThis as { navigator?: Navigator }).navigator?.locks;
  let done: { is: T } | null = null;
  try {
    await locks?.request("larder:alone:" + name, () => { done = { is: work() }; });
  } catch { /* the page may not use locks */ }
  return (done ??= { is: work() }).is;
}
