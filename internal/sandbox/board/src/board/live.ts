// Live updates: one event stream. The browser reconnects after an interruption;
// the first events then contain the complete state.
import type { Board, Ticket } from "./sandbox";

export interface Live {
  orders(changed: Ticket[], total: number, first: boolean): void;
  board(board: Board): void;
  link(live: boolean): void;
}

/** The delay before reopening a stream that the browser gave up, in milliseconds. */
const pause = 3_000;

/** Follows the events until the page is closed. */
export function follow(live: Live): void {
  const source = new EventSource("/sandbox/events");
  let first = true;
  source.onopen = () => {
    first = true;
    live.link(true);
  };
  source.onerror = () => {
    live.link(false);
    if (source.readyState !== EventSource.CLOSED) return; // the browser reconnects
    source.close();
    setTimeout(() => follow(live), pause);
  };
  source.addEventListener("orders", (event: MessageEvent<string>) => {
    const { orders, total } = JSON.parse(event.data) as { orders: Ticket[]; total: number };
    live.orders(orders, total, first);
    first = false;
  });
  source.addEventListener("board", (event: MessageEvent<string>) => live.board(JSON.parse(event.data) as Board));
}
