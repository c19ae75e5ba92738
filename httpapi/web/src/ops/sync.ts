// Asking for a run and following it to its end.

import { ask, pathOf, result } from './api';
import { question, showMessage } from './ask';
import { h, pause } from './dom';
import { count, runSentence } from './format';
import * as live from './live';
import type { Restaurant, Run } from './model';

const every = 2000; // between two looks at a run, in milliseconds
const looks = 150; // the most of them: five minutes

/** Waits for a run's end: told by the events, or found by looking. */
export async function finished(run: Run, signal: AbortSignal, progress: (run: Run) => void = () => {}): Promise<Run> {
  let heard: Run | undefined;
  const done = new AbortController();
  const stop = () => done.abort();
  signal.addEventListener('abort', stop, { once: true });
  live.on('run.started', (other) => { if (other.id === run.id) progress(other); }, done.signal);
  live.on('run.finished', (other) => { if (other.id === run.id) { heard = other; stop(); } }, done.signal);
  try {
    for (let i = 0; i < looks && run.state !== 'finished'; i++) {
      progress(run);
      await pause(every, done.signal);
      signal.throwIfAborted();
      run = heard ?? await result<Run>('/v1/ops/runs/' + encodeURIComponent(run.id), { signal });
    }
    return run;
  } finally {
    stop();
    signal.removeEventListener('abort', stop);
  }
}

/** Pulls a restaurant's menu now, and tells how it went. */
export async function syncNow(restaurant: Restaurant, force: boolean, signal: AbortSignal, progress: (run: Run) => void): Promise<Run> {
  showMessage(`Pulling the menu of ${restaurant.name || restaurant.id} …`);
  const begun = await result<Run>(pathOf(restaurant.id) + '/sync', { method: 'POST', body: force ? { force: true } : undefined, signal });
  const run = await finished(begun, signal, progress);
  showRun(restaurant, run);
  return run;
}

/** Says how a run of the restaurant ended. */
export function showRun(restaurant: Restaurant, run: Run): void {
  const bad = run.outcome === 'failed' || run.outcome === 'quarantined';
  showMessage(`${restaurant.name || restaurant.id}: ${runSentence(run)}.`.replace('..', '.'), bad);
}

/** Asks before a forced run, and says what it would do. */
export async function forceQuestion(id: string, signal: AbortSignal): Promise<boolean> {
  const now = await result<Restaurant>(pathOf(id), { signal });
  const last = now.lastRun;
  const served = now.counts?.products ?? 0;
  const lines = [h('p', {}, 'A forced run publishes what the ordering service has now, whatever it is: it skips the check for “unchanged” and the guard that keeps broken menus out.')];
  if (last?.outcome === 'quarantined') {
    lines.push(h('p', {}, h('strong', {}, 'Why the last menu was kept out: '), last.error ?? 'the guard refused it', '.'));
    const lost = served - last.products;
    lines.push(h('p', {}, lost > 0
      ? `Guests see ${count(served, 'dish', 'dishes')} now. With the menu that was kept out it would be ${count(last.products, 'dish', 'dishes')}: ${count(lost, 'dish', 'dishes')} would be gone.`
      : `Guests see ${count(served, 'dish', 'dishes')} now.`));
  } else {
    lines.push(h('p', {}, now.version === null
      ? 'There is no menu yet: nothing can be lost.'
      : `The last menu was not kept out, so an ordinary run would do. Guests see ${count(served, 'dish', 'dishes')} now.`));
  }
  lines.push(h('p', {}, now.version === null ? '' : `Version ${now.version} stays in the history: it can be rolled back to.`));
  if (now.hold === 'released') lines.push(h('p', {}, 'A rollback holds this menu until it is released: a forced run does not end that.'));
  return question({ title: `Force the menu of ${now.name || id}?`, body: lines, yes: 'Force it', danger: true });
}

/** Lets go of a hold after a question. */
export async function release(restaurant: Restaurant, signal: AbortSignal): Promise<boolean> {
  const yes = await question({
    title: `Let go of ${restaurant.name || restaurant.id}?`, yes: 'Release',
    body: [h('p', {}, 'The menu that the ordering service publishes now is pulled and served, where the guard lets it.')],
  });
  if (!yes) return false;
  const { result: begun } = await ask<{ result: Run }>(pathOf(restaurant.id) + '/hold', { method: 'DELETE', signal });
  showRun(restaurant, await finished(begun, signal));
  return true;
}
