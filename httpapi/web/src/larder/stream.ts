// One event stream for all tabs of a restaurant. The tab with the lock reads the
// stream and forwards the events. Without Web Locks, each tab has its own stream.

import type { components } from "../api/openapi";
import type { Answer, Seen } from "./place";

export type MenuEvent = Partial<components["schemas"]["MenuEvent"] & components["schemas"]["RestaurantEvent"]>;

const shortest = 3_000,
  longest = 60_000; // milliseconds between attempts

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
  const lead = (): Promise<void> =>
    new Promise((end) => {
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
    for (const type of ["menu.updated", "menu.availability", "restaurant.availability"]) {
      source.addEventListener(type, (event) => {
        pause = shortest;
        onEvent(JSON.parse((event as MessageEvent<string>).data));
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

const silence = 45_000; // three heartbeats
const mostRefusals = 3; // in a row
const longestHint = 300_000; // milliseconds that Retry-After may ask for

/** sleep waits for some milliseconds, or until the signal ends. */
function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      done();
    };
    const timer = setTimeout(end, signal.aborted ? 0 : ms);
    signal.addEventListener("abort", end);
  });
}

/**
 * followOrder calls onState for each state of the order with the key, until it returns
 * false or the signal ends. Only one tab reads the stream. The key is sent in a header,
 * so that it is in no URL. If the stream brings nothing, for example because the address
 * has too many streams, look asks for the state instead, less and less often. It ends
 * too if larder rejects both several times, and never throws.
 */
export async function followOrder(
  url: string,
  key: string,
  signal: AbortSignal,
  look: () => Promise<Answer>,
  onState: (seen: Seen) => Promise<boolean>,
): Promise<void> {
  const work = (): Promise<void> => readOrder(url, key, signal, look, onState);
  try {
    await ("locks" in navigator ? navigator.locks.request("larder:live:" + key, { signal }, work) : work());
  } catch {
    /* the signal has ended */
  }
}

/** refuses reports whether a repeated request would get the same response. */
const refuses = (status: number): boolean => status >= 400 && status < 500 && status !== 408 && status !== 429;

async function readOrder(
  url: string,
  key: string,
  signal: AbortSignal,
  look: () => Promise<Answer>,
  onState: (seen: Seen) => Promise<boolean>,
): Promise<void> {
  let refusals = 0;
  for (let pause = shortest; !signal.aborted; pause = Math.min(pause * 2, longest)) {
    const stop = new AbortController();
    const end = (): void => stop.abort();
    signal.addEventListener("abort", end);
    let timer = setTimeout(end, silence);
    let status = 0,
      hint = 0,
      seen = false;
    try {
      const response = await fetch(url, {
        headers: { "Idempotency-Key": key },
        credentials: "omit",
        cache: "no-store",
        signal: stop.signal,
      });
      status = response.status;
      hint = Number(response.headers.get("Retry-After")) * 1000 || 0;
      const reader = response.ok ? response.body!.pipeThrough(new TextDecoderStream()).getReader() : null;
      for (let text = ""; reader;) {
        const { value, done } = await reader.read();
        if (done) break;
        clearTimeout(timer);
        timer = setTimeout(end, silence);
        const frames = (text + value).split("\n\n");
        text = frames.pop()!;
        for (const frame of frames) {
          hint = Number(/^retry: (\d+)$/m.exec(frame)?.[1] ?? hint);
          const data = /^data: (.*)$/m.exec(frame);
          if (!data) continue;
          pause = shortest;
          seen = true;
          if (!(await onState(JSON.parse(data[1]!)))) return;
        }
      }
    } catch {
      /* the connection is lost */
    } finally {
      clearTimeout(timer);
      end();
      signal.removeEventListener("abort", end);
    }
    if (!seen && !signal.aborted) {
      const { status: second, body, retryAfter } = await look();
      if (signal.aborted) return;
      hint = Math.max(hint, retryAfter * 1000);
      if (second === 200 && body.result) {
        refusals = 0;
        if (!(await onState(body.result))) return;
      } else if (!refuses(status) || !refuses(second)) {
        refusals = 0;
      } else if (++refusals >= mostRefusals) {
        return;
      }
    } else {
      refusals = 0;
    }
    await sleep(Math.max(pause * (0.5 + Math.random()), Math.min(hint, longestHint)), signal);
  }
}
