// Placing one order once. An intent is a body and its Idempotency-Key; it is
// stored before the first request leaves, and everything that follows (a double
// click, a reload, a lost answer, another tab) goes on with the same one.

import { quietly, type Store } from "./store";

/** State is what is known of the intent; see docs/http.md, "Placing". */
export type State =
  | "sending" // a request is under way, or its answer was lost
  | "lost" // larder cannot be reached, and may have got it
  | "unknown" // larder got it; nobody knows yet whether the restaurant has
  | "unsent" // certainly not placed; the same key may be sent again
  | "refused" // the restaurant's system said no, for good
  | "placed";

export interface Intent {
  format: 1; key: string; body: string; state: State; at: number;
  lines: Ordered[];
  maybe?: boolean; // a try has had no answer, and may have been taken
  orderID?: string | undefined; total?: string | undefined; message?: string; rejected?: boolean;
}

/** Ordered is what leaves the basket when the order is placed. */
export interface Ordered { key: string; quantity: string }

/** Answer is what came of a request; status 0: none came. */
export interface Answer { status: number; body: any; retryAfter: number }

/** Wire sends. look gives null where nothing but sending again tells more. */
export interface Wire {
  place(key: string, body: string): Promise<Answer>;
  look(key: string): Promise<Answer> | null;
}

/** Violation is one thing that is wrong with an order, as larder or the site's own backend tells it. */
export interface Violation { path: string; code: string; msg: string }

/** newKey is 144 random bits, base64url: 24 characters. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(18));
  return btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_");
}

/** ended tells whether nothing more will come of it: a new order may be begun. */
export const ended = (state: State): boolean => state === "placed" || state === "refused";

/** How long to wait before asking again, by how often it has been done. */
const pauses = [1000, 2000, 3000, 5000, 8000, 13000, 15000];
const mostTries = { sending: 6, unknown: 40 }; // then the guest asks by hand

/**
 * After forSending an intent is not sent any more by itself, only looked for: a
 * page that is opened again tomorrow orders nothing. After forKeeping, well
 * before larder forgets the key (24 h), it is dropped unless larder is known to
 * have it; after forWaiting in any case, so that a guest can order again.
 */
const forSending = 10 * 60_000, forKeeping = 12 * 3_600_000, forWaiting = 48 * 3_600_000;

/**
 * Placing is an EventTarget: "change" after each change of the intent, "ended"
 * (detail: the intent) once when it is placed or refused, "wrong" (detail:
 * violations) when larder found the order wrong and sent nothing.
 */
export class Placing extends EventTarget {
  intent: Intent | null = null;
  /** asking tells whether a request, or the wait for the next one, is under way. */
  asking = false;

  constructor(private readonly store: Store, readonly name: string, private readonly wire: Wire,
    private readonly wait: (ms: number) => Promise<void> = (ms) => new Promise((done) => setTimeout(done, ms))) {
    super();
    this.read();
  }

  /** read takes over what is stored, by this page before or by another tab. */
  read(): void {
    const kept = quietly(() => JSON.parse(this.store.getItem(this.name) ?? "null")) as Intent | null | undefined;
    const good = kept?.format === 1 && typeof kept.key === "string" && typeof kept.body === "string" && Array.isArray(kept.lines);
    const keeps = good && kept.state === "unknown" ? forWaiting : good && ended(kept.state) ? Infinity : forKeeping;
    this.intent = good && Date.now() - kept.at <= keeps ? kept : null;
    this.dispatchEvent(new Event("change"));
  }

  /**
   * begin places an order. While an earlier intent has not ended it is that one
   * which goes on, whatever the body: two orders never come of it. What another
   * tab has placed since this one looked is shown, and nothing is placed.
   */
  async begin(body: string, lines: Ordered[]): Promise<void> {
    const seen = this.intent?.key;
    const begun = await alone(this.name, () => {
      this.read();
      const intent = this.intent;
      const open = intent && !ended(intent.state) && !(intent.state === "unsent" && intent.body !== body);
      if (open || intent && intent.key !== seen) return false;
      this.set({ format: 1, key: newKey(), body, lines, state: "sending", at: Date.now() });
      return true;
    });
    return begun ? this.follow(false) : this.resume();
  }

  /** resume goes on with an intent that has not ended, as the guest asks by hand. */
  async resume(): Promise<void> {
    if (!this.intent || ended(this.intent.state) || this.asking) return;
    const { state, maybe, at } = this.intent;
    const first = state === "unsent"; // nothing was placed: the guest orders it now
    this.set({ ...this.intent, state: state === "unknown" ? "unknown" : "sending", maybe: maybe || !first, at: first ? Date.now() : at });
    return this.follow(!first);
  }

  /** wake goes on by itself: after a reload, or when the page is looked at again. */
  async wake(): Promise<void> {
    if (this.intent && this.intent.state !== "unsent") await this.resume();
  }

  /** forget drops an intent that has ended, or was certainly not placed. */
  forget(): void {
    if (this.intent && (ended(this.intent.state) || this.intent.state === "unsent")) this.set(null);
  }

  /** follow asks until something certain is known, or the tries are used up. */
  private async follow(look: boolean): Promise<void> {
    if (this.asking) return;
    this.asking = true;
    try {
      for (let tries = 0; ; tries++) {
        const intent = this.intent;
        if (!intent || ended(intent.state) || intent.state === "unsent") return;
        const old = Date.now() - intent.at > forSending;
        const looked = look || old ? this.wire.look(intent.key) : null;
        if (old && !looked) return this.set({ ...intent, state: "unknown" });
        const answer = await (looked ?? this.wire.place(intent.key, intent.body));
        this.read();
        if (this.intent?.key !== intent.key) { // another tab knows more, and another order may have been begun since
          look = true;
          continue;
        }
        if (ended(this.intent.state)) return;
        look = looked ? this.seen(answer, old) : this.answered(answer);
        const state = this.intent?.state;
        if (state !== "sending" && state !== "unknown") return;
        if (tries + 1 >= mostTries[state]) {
          if (state === "sending") this.set({ ...this.intent!, state: "lost" });
          return;
        }
        await this.wait(Math.max(pauses[Math.min(tries, pauses.length - 1)]!, Math.min(answer.retryAfter, 60) * 1000));
      }
    } finally {
      this.asking = false;
      this.dispatchEvent(new Event("change"));
    }
  }

  /** answered takes the answer to the order; true: look next, instead of sending. */
  private answered({ status, body }: Answer): boolean {
    const intent = this.intent!;
    const code = typeof body?.code === "string" ? body.code : "";
    // Of a try before this one only what larder says after it has looked for the key is certain.
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
      return true; // the key stands for an order: what became of it is to be seen
    } else if (certain && (status === 503 && code !== "" || status === 429)) {
      this.set({ ...intent, state: "unsent" });
    } else if (certain && status >= 400 && status < 500 && status !== 408) {
      this.set(null); // nothing was sent, and the key is free
      const violations: Violation[] = Array.isArray(body?.errors) && status === 422 ? body.errors : [];
      this.dispatchEvent(new CustomEvent("wrong", { detail: { violations, status, code } }));
    } else {
      this.set({ ...intent, maybe: true });
    }
    return false; // no answer, or one that says nothing: send the same again
  }

  /** seen takes what the order's record tells; true: look again. */
  private seen({ status, body }: Answer, old: boolean): boolean {
    const intent = this.intent!;
    const { state, orderID, total } = body?.result ?? {};
    if (status === 404 && intent.state !== "unknown") { // it never came in
      if (old) this.set({ ...intent, state: "unsent" });
      return false;
    }
    if (status === 404) return true; // what larder once had is never sent again
    if (status !== 200) return status === 0 || status === 429 || status >= 500;
    switch (state) {
      case "placed": case "closed": case "rejected":
        this.set({ ...intent, state: "placed", orderID: text(orderID), total: text(total), rejected: state === "rejected" });
        return false;
      case "refused": // sent again it says why
      case "not_sent":
        if (intent.state === "unknown") this.set({ ...intent, state: "sending" });
        return false;
      case "unknown":
        if (intent.state !== "unknown") this.set({ ...intent, state: "unknown" });
        return true;
      default:
        return true; // on its way
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

/** alone does work while no other tab does; without Web Locks (plain http in a network) it is done at once. */
async function alone<T>(name: string, work: () => T): Promise<T> {
  const locks = (globalThis as { navigator?: Navigator }).navigator?.locks;
  let done: { is: T } | null = null;
  try {
    await locks?.request("larder:alone:" + name, () => { done = { is: work() }; });
  } catch { /* refused to this page */ }
  return (done ??= { is: work() }).is;
}
