// Live updates from all instances: one event stream for the page.

import type { Progress, Run } from "./model";

interface Events {
  reset: undefined;
  "run.started": Run;
  "run.finished": Run;
  "sync.progress": Progress;
  link: boolean;
}

type Listener<K extends keyof Events> = (data: Events[K]) => void;

const listeners = new Map<keyof Events, Set<Listener<any>>>();
const longest = 30_000; // between two attempts, in milliseconds

let source: EventSource | undefined;
let retry: ReturnType<typeof setTimeout> | undefined;
let wait = 1000;

/** Adds a listener until the signal is aborted. The event `link` reports whether the stream is open. */
export function on<K extends keyof Events>(name: K, listener: Listener<K>, signal: AbortSignal): void {
  const all = listeners.get(name) ?? new Set();
  listeners.set(name, all.add(listener));
  signal.addEventListener("abort", () => all.delete(listener), { once: true });
}

function emit<K extends keyof Events>(name: K, data: Events[K]): void {
  for (const listener of listeners.get(name) ?? []) listener(data);
}

/** Opens the stream and reopens it whenever it ends, until close is called. */
export function open(): void {
  close();
  const opened = new EventSource("/v1/ops/events");
  source = opened;
  opened.addEventListener("reset", () => {
    wait = 1000;
    emit("link", true);
    emit("reset", undefined);
  });
  for (const name of ["run.started", "run.finished", "sync.progress"] as const) {
    opened.addEventListener(name, (event) => emit(name, JSON.parse((event as MessageEvent<string>).data)));
  }
  opened.addEventListener("error", () => {
    emit("link", false);
    if (opened.readyState !== EventSource.CLOSED) return; // the browser reconnects
    retry = setTimeout(open, wait * (0.5 + Math.random() / 2));
    wait = Math.min(2 * wait, longest);
  });
}

export function close(): void {
  clearTimeout(retry);
  source?.close();
  source = undefined;
}
