// What becomes of an order: the form follows the events of larder until the state is final.

import type { Shop } from "./shop";
import { followOrder } from "./stream";

/** OrderFollower keeps the state of one order current, until it is final. A site's own backend has no such stream. */
export class OrderFollower {
  private live = { key: "", stop: new AbortController(), over: false };

  /** follow follows the order of the shop, unless it does already, or the signal has ended. stop ends it. */
  follow(shop: Shop, signal: AbortSignal): void {
    const { placing, api, orderURL } = shop;
    const intent = placing.intent;
    const changes =
      intent &&
      !orderURL &&
      (intent.state === "unknown" || (intent.state === "placed" && !intent.closed && !intent.rejected));
    const key = changes && !signal.aborted ? intent.key : "";
    if (key === this.live.key) return;
    this.live.stop.abort();
    const live: typeof this.live = (this.live = { key, stop: new AbortController(), over: false });
    if (!key) return;
    void followOrder(
      api.orderEvents,
      key,
      live.stop.signal,
      () => api.look(key),
      (seen) => placing.observe(key, seen),
    ).then(() => {
      live.over = true; // larder has rejected it: retry tries again
    });
  }

  /** retry lets the next follow begin again if the stream has ended. */
  retry(): void {
    if (this.live.over) this.live.key = "";
  }

  /** stop ends the stream. The next follow begins again. */
  stop(): void {
    this.live.stop.abort();
    this.live.key = "";
  }
}
