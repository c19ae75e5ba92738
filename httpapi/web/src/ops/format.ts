// How things read.

import { h, type Child } from './dom';
import type { Run } from './model';

const moments = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const numbers = new Intl.NumberFormat('en-GB');
const prices = new Intl.NumberFormat('en-GB', { minimumFractionDigits: 2, maximumFractionDigits: 4 });

export function count(n: number, one: string, many = one + 's'): string {
  return `${numbers.format(n)} ${n === 1 ? one : many}`;
}

export function number(n: number): string {
  return numbers.format(n);
}

export function price(value: unknown): string {
  return typeof value === 'number' ? prices.format(value) : '–';
}

/** A number that a press calls, where the device can; what follows it, an extension for instance, is for people. */
export function telephone(number: string): Child {
  const dialled = /^[+\d\s()./-]+/.exec(number)?.[0].replace(/[^+\d]/g, '') ?? '';
  return dialled === '' ? number : h('a', { href: 'tel:' + dialled }, number);
}

/** A moment in the reader's own time. */
export function moment(at: string | null): Child {
  return at === null ? '–' : h('time', { datetime: at }, moments.format(new Date(at)));
}

const units: [number, string][] = [[86_400, 'day'], [3600, 'h'], [60, 'min'], [1, 's']];

/** A duration in its two largest units: "3 min 20 s". */
export function span(seconds: number): string {
  let left = Math.round(Math.max(0, seconds));
  const parts: string[] = [];
  for (const [size, name] of units) {
    const n = Math.floor(left / size);
    left -= n * size;
    if (n > 0) parts.push(name === 'day' ? count(n, 'day') : `${n} ${name}`);
    if (parts.length === 2 || (parts.length === 1 && n === 0)) break;
  }
  return parts.length === 0 ? '0 s' : parts.join(' ');
}

export function milliseconds(ms: number): string {
  return ms >= 1000 ? `${(ms / 1000).toFixed(1)} s` : `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;
}

/** A word that carries a colour too. */
export function badge(word: string, kind: 'good' | 'warn' | 'bad' | 'plain' = 'plain'): HTMLElement {
  return h('span', { class: `badge ${kind}` }, word.replaceAll('_', ' '));
}

const kinds: Record<string, 'good' | 'warn' | 'bad' | 'plain'> = {
  updated: 'good', unchanged: 'good', done: 'good', placed: 'good', closed: 'good',
  quarantined: 'bad', failed: 'bad', missing: 'bad', unknown: 'bad', refused: 'bad',
  stale: 'warn', held: 'warn', not_sent: 'warn', rejected: 'warn', placing: 'warn', open: 'warn', running: 'plain', queued: 'plain',
};

export function outcome(word: string | null): Child {
  return word === null ? '–' : badge(word, kinds[word] ?? 'plain');
}

/** What a finished run did, in one sentence. */
export function runSentence(run: Run): string {
  if (run.error) return run.error.charAt(0).toUpperCase() + run.error.slice(1);
  const { added, removed, changed } = run.changes;
  switch (run.outcome) {
    case 'updated': return `Version ${run.version} is served: ${count(added, 'dish', 'dishes')} added, ${number(removed)} removed, ${number(changed)} changed`;
    case 'unchanged': return `The menu is as it was, version ${run.version}${run.folded ? `, in ${number(run.folded.count)} runs in a row` : ''}`;
    case 'held': return 'The service publishes another menu; a rollback holds this one';
    case null: return run.state === 'queued' ? 'Waits for another run' : 'Under way';
    default: return run.outcome;
  }
}
