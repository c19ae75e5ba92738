// A resync of every restaurant, and how far it is.

import { result } from './api';
import { during, question, showError } from './ask';
import { cell, h, pause, put, rowHead, table } from './dom';
import { count, moment, number, outcome } from './format';
import * as live from './live';
import type { Batch, Summary } from './model';
import { link, type View } from './view';

const every = 3000; // between two looks at a batch, in milliseconds
const shown = 50; // faults

export const syncAll: View = async (root, { id, signal, go }) => {
  const start = (force: boolean) => (event: Event) => during(event.currentTarget as HTMLButtonElement, async () => {
    const { restaurants } = await result<Summary>('/v1/ops/summary', { signal });
    const yes = await question({
      title: force ? 'Force every menu?' : 'Resync every menu?', yes: force ? 'Force all' : 'Resync all', danger: force,
      body: [h('p', {}, `The menus of ${count(restaurants, 'restaurant')} are pulled now, within the limits of their connections.`),
        force && h('p', {}, 'Each is published whatever it is: empty and shrunken menus too. Single ones can be forced on their own page.')],
    });
    if (!yes) return;
    const begun = await result<{ batch: string }>('/v1/ops/sync', { method: 'POST', body: force ? { force: true } : undefined, signal });
    go('/sync/' + encodeURIComponent(begun.batch));
  });
  const state = h('div', {});
  put(root, h('h1', { tabindex: -1 }, 'Resync everything'),
    h('p', {}, 'Every restaurant is pulled on its schedule by itself. This is for after an outage, or a change at the ordering service.'),
    h('p', { class: 'buttons' }, h('button', { type: 'button', class: 'main', onclick: start(false) }, 'Resync all…'), h('button', { type: 'button', class: 'danger', onclick: start(true) }, 'Force all…')), state);
  if (id === '') return;
  const path = '/v1/ops/sync/' + encodeURIComponent(id);
  const bar = h('progress', { 'aria-label': 'Restaurants done', max: 1, value: 0, 'data-testid': 'batch' });
  const words = h('p', { role: 'status' }), rest = h('div', {});
  put(state, h('h2', {}, 'Progress'), bar, words, rest);
  const progress = (done: number, failed: number, total: number) => {
    bar.max = Math.max(1, total);
    bar.value = done;
    const text = `${number(done)} of ${count(total, 'restaurant')} done, ${number(failed)} failed or quarantined`;
    if (words.textContent !== text) put(words, text);
  };
  const draw = (batch: Batch) => {
    progress(batch.done, batch.failed, batch.total);
    put(rest, h('p', {}, `Begun by ${batch.by} `, moment(batch.startedAt), batch.finishedAt !== null && [', ended ', moment(batch.finishedAt)]),
      h('p', { class: 'facts' }, Object.entries(batch.outcomes).map(([name, n]) => [outcome(name), ` ${number(n)} `])),
      batch.faults.length > 0 && table('What went wrong', ['Restaurant', 'Outcome', 'Why'], batch.faults.slice(0, shown).map((run) => h('tr', {},
        rowHead(link('/restaurants/' + encodeURIComponent(run.restaurant), {}, run.restaurant)), cell('Outcome', outcome(run.outcome)), cell('Why', run.error ?? '–')))),
      batch.faults.length > shown && h('p', {}, `and ${number(batch.faults.length - shown)} more`));
  };
  live.on('sync.progress', (one) => { if (one.batch === id) progress(one.done, one.failed, one.total); }, signal);
  let batch = await result<Batch>(path, { signal });
  draw(batch);
  void (async () => {
    while (batch.finishedAt === null && await pause(every, signal)) {
      try {
        batch = await result<Batch>(path, { signal });
        draw(batch);
      } catch (error) {
        showError(error);
      }
    }
  })();
};
