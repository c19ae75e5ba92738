// One event stream for all tabs of a restaurant. The tab with the lock reads the
// stream and forwards the events. Without Web Locks, each tab has its own stream.

import type { components } from "../api/openapi";

export type MenuEvent = Omit<components["schemas"]["MenuEvent"], "restaurant"> & { type: "menu.updated" | "menu.availability" };

const shortest = 3_000, longest = 60_000; // milliseconds between attempts

/**
 * follow calls onEvent for each event until the signal ends. It never throws: it
 * retries a stream that fails, with growing pauses.
 */
export function follow(url: string, signal: AbortSignal, onEvent: (event: MenuEvent) => void): void {
  if (!("locks" in navigator) || !("BroadcastChannel" in window)) {
    read(url, signal, onEvent);
    return;
  }
  const name = "larder:events:" + url;
  const channel = new BroadcastChannel(name);
  channel.onmessage = (message) => onEvent(message.data as MenuEvent);
  signal.addEventListener("abort", () => channel.close(), { once: true });
  const lead = (): Promise<void> => new Promise((end) => {
    read(url, signal, (event) => {
      onEvent(event);
      channel.postMessage(event);
    });
    signal.addEventListener("abort", () => end(), { once: true });
  });
  navigator.locks.request(name, { signal }, lead).catch(() => {
    if (!signal.aborted) read(url, signal, onEvent);
  });
}

/** read opens the stream and reopens it when the browser has given it up. */
function read(url: string, signal: AbortSignal, onEvent: (event: MenuEvent) => void): void {
  let pause = shortest;
  const open = (): void => {
    if (signal.aborted) return;
    const source = new EventSource(url);
    const close = (): void => source.close();
    signal.addEventListener("abort", close, { once: true });
    for (const type of ["menu.updated", "menu.availability"] as const) {
      source.addEventListener(type, (event) => {
        pause = shortest;
        const { version, products = [], ingredients = [] } = JSON.parse((event as MessageEvent<string>).data);
        onEvent({ type, version, products, ingredients });
      });
    }
    source.onerror = () => {
      if (source.readyState !== EventSource.CLOSED) return; // the browser reconnects
      signal.removeEventListener("abort", close);
      setTimeout(open, pause * (0.5 + Math.random()));
      pause = Math.min(pause * 2, longest);
    };
  };
  open();
}
