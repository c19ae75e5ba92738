// Placing an order exactly once. An intent is a body and its Idempotency-Key. It
// is stored before the first request is sent. Everything that follows (a double
// click, a reload, a lost response, another tab) continues with the same intent.

import type { Line } from "./basket";
import { orUndefined, type Store } from "./store";

/** State is what is known about the intent; see docs/http.md, "Placing an order". */
export type State =
  | "sending" // a request is in progress, or its response was lost
  | "checking" // rejected, but an earlier request of the same order can still reach larder
  | "lost" // larder is unreachable and may have received the order
  | "unknown" // larder has the order; it is not known whether the restaurant has it
  | "unsent" // certainly not placed; the same key can be sent again
  | "offline" // certainly not sent, because the browser is offline; sent when it is online again
  | "refused" // rejected by the ordering service; final
  | "placed";

interface Stored {
  format: 1;
  key: string;
  body: string;
  at: number;
  lines: Line[]; // as they were in the basket
  sent?: number[]; // when the requests were sent whose responses are not known
  again?: number | undefined; // when the guest has sent an idle order again
  also?: Placed[] | undefined; // earlier orders that were placed after this one was sent
}

/** Open is an order whose outcome is not final. */
export interface Open extends Stored {
  state: Exclude<State, "refused" | "placed">;
  maybe?: boolean; // an attempt had no response and may have had an effect
  idle?: boolean; // nobody asks for the outcome any more
}

/** Refused is an order that the ordering service has rejected. */
export interface Refused extends Stored {
  state: "refused";
  message?: string;
}

/** Placed is an order that the restaurant has, and what became of it. Stored ones may still have the members of Open. */
export interface Placed extends Stored {
  state: "placed";
  orderID?: string | undefined;
  total?: string | undefined;
  expectedAt?: string | undefined; // the time that larder has sent to the ordering service
  rejected?: boolean;
  reason?: string | undefined; // the restaurant's text about the rejection
  closed?: boolean;
  paid?: boolean;
  unknownChange?: string | undefined; // a payment, completion or rejection with an unknown outcome
}

export type Intent = Open | Refused | Placed;

/** Seen is the state of an order as larder knows it. */
export interface Seen {
  state: string;
  paid?: boolean;
  reason?: string;
  unknownChange?: string;
}

/** Answer is the response to a request. The status is 0 if there was none. */
export interface Answer {
  status: number;
  body: any;
  retryAfter: number;
}

/** OrderTransport sends requests. look returns null if the state can only be found by sending the order again. */
export interface OrderTransport {
  place(key: string, body: string): Promise<Answer>;
  look(key: string): Promise<Answer> | null;
}

/** Violation is one reason why an order is not valid, from larder or from the site's own backend. */
export interface Violation {
  path: string;
  code: string;
  msg: string;
  params?: {
    minimum?: number;
    missing?: number;
    sent?: number;
    current?: number;
    parent?: { id: string; name: string };
    opensAt?: string | null;
    until?: string | null;
  };
}

/** Refusal is why an order was rejected, with the keys of its lines. */
export interface Refusal {
  violations: Violation[];
  status: number;
  lines: string[];
}

/** newKey returns 144 random bits in base64url: 24 characters. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(18));
  return btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, "-")
    .replace(/\//g, "_");
}

/** ended reports whether a state is final, so that a new order can begin. */
export const ended = (state: State): boolean => state === "placed" || state === "refused";

/** orderIDOf returns the orderID of a placed order, or "". */
export const orderIDOf = (intent: Intent | null): string => (intent?.state === "placed" && intent.orderID) || "";

/** isOpen reports whether the outcome of an order is not final. */
const isOpen = (intent: Intent): intent is Open => !ended(intent.state);

/** notSent reports whether it is certain that nothing was placed, so that the order can be changed. */
export const notSent = (state: State): boolean => state === "unsent" || state === "offline";

/** busy reports whether an order may be in progress, or its outcome is not known. */
export const busy = (intent: Intent | null | undefined): boolean =>
  !!intent && !ended(intent.state) && !notSent(intent.state);

/** isOnline is false if the browser is certain that it has no network. */
export const isOnline = (): boolean => (globalThis as { navigator?: { onLine?: boolean } }).navigator?.onLine !== false;

/** expectedAt returns the time for which a body orders, in milliseconds, or 0 for as soon as possible. */
export const expectedAt = (body: string): number => orUndefined(() => Date.parse(JSON.parse(body).expectedAt)) || 0;

/** pauses are the waiting times between attempts, in milliseconds. */
const pauses = [1000, 2000, 3000, 5000, 8000, 13000, 15000];
const mostTries: Partial<Record<State, number>> = { sending: 6, checking: 14, unknown: 40 }; // then the guest has to press a button

/**
 * Time limits of an intent, in milliseconds. After forSending it is only looked
 * for and not sent automatically: a page that is opened again tomorrow must not
 * place an order. After forKeeping, well before larder forgets the key (24 h), it
 * is dropped unless larder is known to have it. After forWaiting it is dropped in
 * any case, so that the guest can order again. The outcome is shown for forShowing
 * after the time for which the order was placed.
 */
const forSending = 10 * 60_000,
  forKeeping = 12 * 3_600_000,
  forWaiting = 48 * 3_600_000,
  forShowing = 24 * 3_600_000;

/** keptFor returns how long an order is kept, in milliseconds from when it was sent. */
function keptFor(kept: Intent): number {
  if (kept.state === "unknown") return forWaiting;
  return ended(kept.state) ? Math.max(0, expectedAt(kept.body) - kept.at) + forShowing : forKeeping;
}

/** overdue reports whether an order is no longer sent by itself. */
export const overdue = ({ at, again = at }: Intent): boolean => Date.now() - again > forSending;

/** repeatable reports whether the guest may send an idle order again: larder still knows its key. */
export const repeatable = (intent: Intent): boolean =>
  isOpen(intent) && !!intent.idle && Date.now() - intent.at < forKeeping;

/** placeLimit is when the browser ends a request that places an order, in milliseconds. */
export const placeLimit = 60_000;

/**
 * forArriving is how long larder may see an order after it was sent, if its response is not known, in
 * milliseconds. The browser ends a request after placeLimit, and proxies rarely wait longer. Larder
 * reads the request for at most 10 s. Then the order waits unseen for at most a third of timeouts.write
 * (policy O8a), 5 s by default.
 */
const forArriving = placeLimit + 15_000;

/** forMarked is how long after its mark an order may be sent, in milliseconds. A computer can sleep in between. */
const forMarked = 1000;

const most = 10; // noted keys, and late orders

/**
 * Placing places the orders of one restaurant, one at a time. It dispatches
 * "change" after each change of the intent, "ended" (detail: the intent) once
 * when the order is placed or refused, and "wrong" (detail: Refusal) when
 * larder rejected the order and sent nothing. If another tab learnt this, it
 * dispatches "missed" instead.
 */
export class Placing extends EventTarget {
  intent: Intent | null = null;
  private asked = ""; // the key of the order for which a loop of requests runs
  private hurry = (): void => {}; // ends the wait for the next request

  constructor(
    private readonly store: Store,
    readonly name: string,
    private readonly transport: OrderTransport,
    private readonly wait: (ms: number) => Promise<void> = (ms) => new Promise((done) => setTimeout(done, ms)),
    private readonly online = isOnline,
  ) {
    super();
    this.read();
  }

  /** asking reports whether a request for the intent, or the wait for the next one, is in progress. */
  get asking(): boolean {
    return this.intent?.key === this.asked;
  }

  /** read loads the stored intent, which another tab may have written. A time in the future becomes the present: the clock was changed. */
  read(): void {
    const before = this.intent;
    const kept = orUndefined(() =>
      JSON.parse(this.store.getItem(this.name) ?? "null", (_, value) =>
        typeof value === "number" ? Math.min(value, Date.now()) : value,
      ),
    ) as Intent | null | undefined;
    const good =
      kept?.format === 1 && typeof kept.key === "string" && typeof kept.body === "string" && Array.isArray(kept.lines);
    this.intent = good && Date.now() - kept.at <= keptFor(kept) ? kept : null;
    if (good && !this.intent) this.store.removeItem(this.name); // it has the guest's address
    this.dispatchEvent(new Event("change"));
    if (before && !ended(before.state) && !this.intent && this.noted().includes("-" + before.key))
      this.dispatchEvent(new Event("missed"));
  }

  /** alone runs work in one tab at a time, with the stored intent. It stores the corrected times. */
  private alone<T>(work: () => T): Promise<T> {
    return withLock(this.name, () => {
      this.read();
      if (this.intent) this.store.setItem(this.name, JSON.stringify(this.intent));
      return work();
    });
  }

  /**
   * begin places an order. If an earlier intent has not ended, begin continues
   * that one instead, whatever the body, so that there are never two orders. If
   * another tab has placed an order meanwhile, begin shows it and places nothing.
   */
  async begin(body: string, lines: Line[]): Promise<void> {
    const seen = this.intent?.key;
    const key = await this.alone(() => {
      const intent = this.intent;
      const open = intent && !ended(intent.state) && !(notSent(intent.state) && intent.body !== body);
      if (open || (intent && intent.key !== seen)) return "";
      const [key, online] = [newKey(), this.online()];
      if (online) this.asked = key;
      this.set({
        format: 1,
        key,
        body,
        lines,
        state: online ? "sending" : "offline",
        at: Date.now(),
        also: intent?.state === "placed" ? undefined : intent?.also,
      });
      return online ? key : "";
    });
    return key ? this.follow(key, false) : this.resume();
  }

  /**
   * resume continues an intent that has not ended: when the guest presses the button
   * or, if auto, by itself. Only "unsent" and "offline" are certain that nothing was
   * sent. They become "sending" before a request, in one step for all tabs, so that no
   * tab changes an order that another tab sends.
   */
  async resume(auto = false): Promise<void> {
    this.hurry();
    let look = false;
    const key = await this.alone(() => {
      const intent = this.intent;
      if (!intent || !isOpen(intent) || this.asking) return "";
      const { state, maybe } = intent;
      const first = notSent(state);
      if (auto && (first ? state === "unsent" || overdue(intent) : intent.idle && overdue(intent))) return "";
      const times = first && !auto && { at: Date.now(), again: undefined }; // nothing was sent: the time limits begin again
      if (!this.online()) {
        if (state !== "unknown") this.set({ ...intent, ...times, state: first ? "offline" : "lost" });
        return "";
      }
      this.asked = intent.key;
      look = !first;
      this.set({
        ...intent,
        ...times,
        state: state === "unknown" || state === "checking" ? state : "sending",
        maybe: maybe || !first,
        ...(!auto && repeatable(intent) && { idle: false, again: Date.now() }),
      });
      return intent.key;
    });
    if (key) await this.follow(key, look);
  }

  /** wake continues the intent automatically: after a reload, when the page becomes visible, or when the network is back. */
  async wake(): Promise<void> {
    await this.resume(true);
  }

  /** forget drops an intent that has ended or was certainly not placed. It returns the state of the dropped intent. */
  forget(): Promise<State | null> {
    const key = this.intent?.key;
    return this.alone(() => {
      const { intent } = this;
      if (!intent || intent.key !== key || busy(intent)) return null;
      this.drop();
      return intent.state;
    });
  }

  /** observe takes the state of the order with the key from its event stream. It reports whether the state can change again. */
  async observe(key: string, { state, paid, reason, unknownChange }: Seen): Promise<boolean> {
    if (this.intent?.key === key && this.intent.state === "unknown" && state !== "unknown") void this.wake(); // finds and stores the outcome
    await this.alone(() => {
      const intent = this.intent;
      const [closed, rejected] = [state === "closed", state === "rejected"];
      if (
        intent?.key !== key ||
        intent.state !== "placed" ||
        (!paid === !intent.paid &&
          closed === !!intent.closed &&
          rejected === !!intent.rejected &&
          unknownChange === intent.unknownChange)
      )
        return;
      this.set({ ...intent, paid: !!paid, closed, rejected, reason, unknownChange });
    });
    return this.intent?.key === key && (state === "placed" || state === "unknown" || state === "placing");
  }

  /** follow sends requests for one order until its outcome is certain, the attempts are used up, or another order has begun. */
  private async follow(key: string, look: boolean): Promise<void> {
    try {
      for (let tries = 0; ; tries++) {
        const intent = this.intent;
        if (intent?.key !== key || !busy(intent)) return;
        if (!this.online()) {
          // "online" continues
          if (intent.state === "sending") await this.change(intent, { state: "lost" });
          return;
        }
        const old = overdue(intent);
        const looked = look || old ? this.transport.look(key) : null;
        if (old && !looked) return await this.change(intent, { state: "unknown", idle: true });
        const at = looked ? 0 : await this.mark(key);
        const answer = await (looked ?? (Date.now() - at < forMarked ? this.transport.place(key, intent.body) : null));
        look = await this.alone(() => {
          const current = this.intent;
          if (current?.key !== key) {
            // another tab changed the intent, or the guest has begun another order
            const placed = answer && placedIn(answer, !!looked);
            if (placed) this.late({ ...intent, ...placed });
            return true;
          }
          if (!answer || !isOpen(current)) return true;
          return looked ? this.handleRecord(current, answer, old) : this.handleResponse(current, answer, at);
        });
        const now = this.intent;
        const limit = now?.key === key && mostTries[now.state];
        if (!now || !limit) return;
        if (now.state !== intent.state) tries = 0; // each state has its own
        if (tries + 1 >= limit) {
          if (now.state !== "unknown") await this.change(now, { state: "lost" });
          else if (!looked) await this.change(now, { idle: true });
          return;
        }
        const pause = Math.max(
          pauses[Math.min(tries, pauses.length - 1)]!,
          Math.min(answer?.retryAfter ?? 0, 60) * 1000,
        );
        await Promise.race([
          this.wait(pause),
          new Promise<void>((done) => {
            this.hurry = done;
          }),
        ]);
      }
    } finally {
      if (this.asked === key) {
        this.asked = "";
        this.hurry = () => {};
      }
      this.dispatchEvent(new Event("change"));
    }
  }

  /** change changes an intent, unless another tab has changed its state or dropped it. */
  private change({ key, state }: Intent, to: Partial<Pick<Open, "state" | "idle">>): Promise<void> {
    return this.alone(() => {
      const { intent } = this;
      if (intent?.key === key && intent.state === state && isOpen(intent)) this.set({ ...intent, ...to });
    });
  }

  /** mark stores that the order is being sent, for all tabs. It returns the time, or 0 if the order must not be sent any more. */
  private mark(key: string): Promise<number> {
    return this.alone(() => {
      const { intent } = this;
      if (intent?.key !== key || !busy(intent)) return 0;
      const at = Date.now() - Math.random(); // tabs need different times
      this.set({ ...intent, sent: [...this.arriving(), at] });
      return at;
    });
  }

  /** arriving returns when the requests were sent that can still reach larder. */
  private arriving(): number[] {
    return (this.intent?.sent ?? []).filter((at) => Date.now() - at < forArriving);
  }

  /**
   * late takes an order that was placed after the guest could begin another one. That one is
   * not sent any more, if it was not sent yet. An order that the guest has already seen is ignored.
   */
  private late(order: Placed): void {
    const { intent } = this;
    if ([...this.noted(), ...keysOf(intent?.also)].includes(order.key)) return;
    const begun =
      intent &&
      intent.state !== "refused" &&
      !notSent(intent.state) &&
      (intent.state !== "sending" || intent.sent || intent.maybe);
    if (!begun) return this.set({ ...order, also: intent?.also });
    this.set({ ...intent, also: [...(intent.also ?? []), order].slice(-most) });
    this.dispatchEvent(new CustomEvent("ended", { detail: order }));
  }

  /** drop removes the intent. If it was not placed, the last of the late orders is shown again. */
  private drop(): void {
    const { state, also = [] } = this.intent!;
    const last = state === "placed" ? undefined : also.at(-1);
    this.set(last ? { ...last, also: also.slice(0, -1) } : null);
  }

  /** noted returns the keys of the last orders that are gone: placed and seen by the guest, or, after "-", certainly not placed. */
  private noted(): string[] {
    return (this.store.getItem(this.name + ":noted") ?? "").split(" ");
  }

  private note(...keys: string[]): void {
    this.store.setItem(this.name + ":noted", [...this.noted(), ...keys].slice(-most).join(" "));
  }

  /** handleResponse handles the response to an order that was sent at a time. It reports whether to look for the order next, instead of sending it. */
  private handleResponse(before: Open, answer: Answer, at: number): boolean {
    const { status, body } = answer;
    const code = typeof body?.code === "string" ? body.code : "";
    // A gateway may send a 503 after it has passed the order on.
    const ours = String(body?.type).startsWith("urn:larder:problem:");
    const rejected = (status >= 400 && status < 500 && status !== 408) || (status === 503 && ours);
    // The computer may have slept during the request: it can arrive until the browser has ended it.
    const own = rejected ? [] : [Math.max(at, Date.now() - placeLimit)];
    const sent = [...this.arriving().filter((other) => other !== at), ...own];
    const intent: Open = (this.intent = { ...before, sent });
    // If an earlier attempt may have had an effect, only these codes are certain: larder sends them after it has looked for the key.
    const certain =
      !intent.maybe || code === "validation_failed" || code === "upstream_unavailable" || code === "no_catalogue";
    const placed = placedIn(answer, false);
    if (placed) {
      this.set({ ...intent, ...placed });
    } else if (status === 502 && code === "upstream_refused") {
      this.set({ ...intent, state: "refused", message: body.upstream?.msg });
    } else if (status === 504 && code === "order_outcome_unknown") {
      this.set({ ...intent, state: "unknown" });
      return true;
    } else if (code === "idempotency_key_in_flight" || code === "idempotency_key_reused") {
      return true; // the key belongs to an order: look for its state
    } else if (certain && rejected && sent.length) {
      // an earlier request may still be placed
      this.set({ ...intent, state: "checking" });
      return true;
    } else if (certain && rejected && (status === 503 || status === 429)) {
      this.set({ ...intent, state: "unsent" });
    } else if (certain && rejected) {
      this.note("-" + intent.key);
      this.drop(); // nothing was sent, and the key can be used again
      const violations: Violation[] = Array.isArray(body?.errors) && status === 422 ? body.errors : [];
      this.dispatchEvent(
        new CustomEvent<Refusal>("wrong", { detail: { violations, status, lines: keysOf(intent.lines) } }),
      );
    } else {
      this.set({ ...intent, maybe: true });
    }
    return false; // no usable response: send the same order again
  }

  /** handleRecord handles the record of the order. It reports whether to look again. */
  private handleRecord(intent: Open, answer: Answer, old: boolean): boolean {
    const { status, body } = answer;
    const state = body?.result?.state;
    const open = this.arriving().length > 0;
    const missing = status === 404 && body?.code === "order_not_found"; // a proxy may answer 404 too
    if (missing && intent.state !== "unknown") {
      // larder has not received it yet
      if (old && !open) this.set({ ...intent, state: "unsent" });
      return open && intent.state === "checking";
    }
    if (missing) return true; // larder had the order once, so it is never sent again
    if (status !== 200) return status === 0 || status === 404 || status === 429 || status >= 500;
    const placed = placedIn(answer, true);
    if (placed) {
      this.set({ ...intent, ...placed });
      return false;
    }
    switch (state) {
      case "refused": // sending it again returns the reason, but an old order is not sent
      case "not_sent":
        if (old && (state === "refused" || !open))
          this.set({ ...intent, state: state === "refused" ? state : "unsent" });
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
    const old = this.intent;
    const same = old?.key === intent?.key;
    const known = old && (same ? ended(old.state) : keysOf(old.also).includes(intent?.key ?? ""));
    if (old?.state === "placed" && !same) this.note(...keysOf(old.also), old.key);
    this.intent = intent;
    if (intent) this.store.setItem(this.name, JSON.stringify(intent));
    else this.store.removeItem(this.name);
    if (intent && ended(intent.state) && !known) this.dispatchEvent(new CustomEvent("ended", { detail: intent }));
    this.dispatchEvent(new Event("change"));
  }
}

const keysOf = (list: readonly { key: string }[] = []): string[] => list.map(({ key }) => key);

/** placedIn returns what a response says about a placed order, or null if the order is not known to be placed. */
function placedIn({ status, body }: Answer, record: boolean): Omit<Placed, keyof Stored> | null {
  const { state, orderID, total, paid, expectedAt, reason, unknownChange } = body?.result ?? {};
  if (
    status < 200 ||
    status > 299 ||
    (record ? !["placed", "closed", "rejected"].includes(state) : orderID === undefined)
  )
    return null;
  return {
    state: "placed",
    orderID: text(orderID),
    total: text(total),
    expectedAt: text(expectedAt),
    paid: paid === true,
    closed: state === "closed",
    rejected: state === "rejected",
    reason: text(reason),
    unknownChange: text(unknownChange),
  };
}

const text = (value: unknown): string | undefined =>
  value === null || value === undefined ? undefined : String(value);

/** withLock runs work under a lock that all tabs share. Without Web Locks (plain http) it runs work immediately. */
async function withLock<T>(name: string, work: () => T): Promise<T> {
  const locks = (globalThis as { navigator?: Navigator }).navigator?.locks;
  let done: { is: T } | null = null;
  try {
    await locks?.request("larder:alone:" + name, () => {
      done = { is: work() };
    });
  } catch {
    /* the page may not use locks */
  }
  return (done ??= { is: work() }).is;
}
