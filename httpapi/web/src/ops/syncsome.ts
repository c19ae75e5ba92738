// Sync of the selected restaurants, each with a run of its own.

import { ask, errorText, isGone, pathOf, query, result } from "./api";
import type { Page, Restaurant, Run } from "./model";
import type { Fault, ProgressPanel } from "./progress";
import { finished } from "./sync";

const atOnce = 8; // runs that are awaited at the same time; larder limits the calls of a connection itself

/** The most restaurants of one selection. */
export const most = 500;

/** Returns the ids of all restaurants of a filter: most + 1 if there are more. */
export async function idsOf(filter: { state: string; q: string }, signal: AbortSignal): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<Restaurant> = await ask("/v1/ops/restaurants" + query({ ...filter, limit: most, cursor }), {
      signal,
    });
    ids.push(...page.result.map(({ id }) => id));
    cursor = page.next;
  } while (cursor !== null && ids.length <= most);
  return ids.slice(0, most + 1);
}

/** Syncs restaurants, without force, and shows the progress. */
export async function syncSome(ids: string[], progress: ProgressPanel, signal: AbortSignal): Promise<void> {
  const faults: Fault[] = [];
  const waiting = [...ids];
  let done = 0;
  const show = () => progress.show(done, faults.length, ids.length);
  const work = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      const run = await one(id, signal);
      if (run.outcome === null || run.outcome === "failed" || run.outcome === "quarantined") {
        faults.push(run);
        progress.list(faults);
      }
      done++;
      show();
    }
  };
  show();
  progress.list(faults);
  await Promise.all(Array.from({ length: Math.min(atOnce, ids.length) }, work));
}

async function one(id: string, signal: AbortSignal): Promise<Fault> {
  try {
    return await finished(await result<Run>(pathOf(id) + "/sync", { method: "POST", signal }), signal);
  } catch (error) {
    if (isGone(error)) throw error;
    return { restaurant: id, outcome: null, error: errorText(error) };
  }
}
