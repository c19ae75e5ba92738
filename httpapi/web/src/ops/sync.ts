// Starting a run and waiting for its end.

import { ask, pathOf, result } from "./api";
import { question, showMessage } from "./ask";
import { quarantinedChanges } from "./changes";
import { h, pause } from "./dom";
import { count, runSentence, why } from "./format";
import * as live from "./live";
import type { Restaurant, Run } from "./model";

const every = 2000; // between two reads of a run, in milliseconds
const maxReads = 150; // the maximum number of reads: five minutes

/** Waits until a run has finished, with events and by polling. */
export async function finished(run: Run, signal: AbortSignal, progress: (run: Run) => void = () => {}): Promise<Run> {
  let received: Run | undefined;
  const done = new AbortController();
  const stop = () => done.abort();
  signal.addEventListener("abort", stop, { once: true });
  live.on(
    "run.started",
    (other) => {
      if (other.id === run.id) progress(other);
    },
    done.signal,
  );
  live.on(
    "run.finished",
    (other) => {
      if (other.id === run.id) {
        received = other;
        stop();
      }
    },
    done.signal,
  );
  try {
    for (let i = 0; i < maxReads && run.state !== "finished"; i++) {
      progress(run);
      await pause(every, done.signal);
      signal.throwIfAborted();
      run = received ?? (await result<Run>("/v1/ops/runs/" + encodeURIComponent(run.id), { signal }));
    }
    return run;
  } finally {
    stop();
    signal.removeEventListener("abort", stop);
  }
}

/** Fetches a restaurant's menu now and shows the result. */
export async function syncNow(
  restaurant: Restaurant,
  force: boolean,
  signal: AbortSignal,
  progress: (run: Run) => void,
): Promise<Run> {
  showMessage(`Fetching the menu of ${restaurant.name || restaurant.id}…`);
  const begun = await result<Run>(pathOf(restaurant.id) + "/sync", {
    method: "POST",
    body: force ? { force: true } : undefined,
    signal,
  });
  const run = await finished(begun, signal, progress);
  showRun(restaurant, run);
  return run;
}

/** Shows the result of a run. */
export function showRun(restaurant: Restaurant, run: Run): void {
  const bad = run.outcome === "failed" || run.outcome === "quarantined";
  showMessage(`${restaurant.name || restaurant.id}: ${runSentence(run)}.`.replace("..", "."), bad);
}

/** Asks for confirmation of a forced run and shows its effects. */
export async function forceQuestion(id: string, signal: AbortSignal): Promise<boolean> {
  const now = await result<Restaurant>(pathOf(id), { signal });
  const last = now.lastRun;
  const served = now.counts?.products ?? 0;
  const lines: HTMLElement[] = [
    h(
      "p",
      {},
      "A forced run publishes the current menu of the ordering service, even if it is unchanged or the guard quarantined it. The ordering service may have published another menu since.",
    ),
  ];
  if (last?.outcome === "quarantined") {
    lines.push(
      h(
        "p",
        {},
        h("strong", {}, "Why the last menu was quarantined: "),
        why(last.error ?? "the guard rejected it"),
        ".",
      ),
    );
    lines.push(
      h(
        "p",
        {},
        `Guests see ${count(served, "dish", "dishes")} now; the quarantined menu has ${count(last.products, "dish", "dishes")}.`,
      ),
    );
    lines.push(await quarantinedChanges(id, signal));
  } else {
    lines.push(
      h(
        "p",
        {},
        now.version === null
          ? "There is no menu yet, so nothing can be lost."
          : `The last menu was not quarantined, so a normal sync is enough. Guests see ${count(served, "dish", "dishes")} now.`,
      ),
    );
  }
  lines.push(
    h("p", {}, now.version === null ? "" : `Version ${now.version} stays in the history, so you can roll back to it.`),
  );
  if (now.hold === "released")
    lines.push(h("p", {}, "A rollback holds this menu until the hold is released. A forced run does not release it."));
  return question({ title: `Force the menu of ${now.name || id}?`, body: lines, yes: "Force", danger: true });
}

/** Releases a hold after a confirmation. */
export async function release(restaurant: Restaurant, signal: AbortSignal): Promise<boolean> {
  const yes = await question({
    title: `Release the hold on ${restaurant.name || restaurant.id}?`,
    yes: "Release",
    body: [
      h(
        "p",
        {},
        "larder then fetches the current menu of the ordering service. It publishes it unless the guard quarantines it.",
      ),
    ],
  });
  if (!yes) return false;
  const { result: begun } = await ask<{ result: Run }>(pathOf(restaurant.id) + "/hold", { method: "DELETE", signal });
  showRun(restaurant, await finished(begun, signal));
  return true;
}
