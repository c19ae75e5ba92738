// The stream of events: what the sandbox does, as it does it. The browser opens
// it anew when it is lost; the first events then tell how everything stands.
import type { Board, Ticket } from './sandbox';

export interface Live {
  orders(changed: Ticket[], total: number, first: boolean): void;
  board(board: Board): void;
  link(live: boolean): void;
}

/** How long to wait before a stream that the browser gave up is opened again, in milliseconds. */
const pause = 3_000;

/** Follows the events until the page is left. */
export function follow(live: Live): void {
  const source = new EventSource('/sandbox/events');
  let first = true;
  source.onopen = () => {
    first = true;
    live.link(true);
  };
  source.onerror = () => {
    live.link(false);
    if (source.readyState !== EventSource.CLOSED) return; // the browser tries again by itself
    source.close();
    setTimeout(() => follow(live), pause);
  };
  source.addEventListener('orders', (event: MessageEvent<string>) => {
    const { orders, total } = JSON.parse(event.data) as { orders: Ticket[]; total: number };
    live.orders(orders, total, first);
    first = false;
  });
  source.addEventListener('board', (event: MessageEvent<string>) => live.board(JSON.parse(event.data) as Board));
}
