// Formatting values as text.

import { h, type Child } from "./dom";
import type { OrderPage, Run } from "./model";

const moments = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  timeZoneName: "short",
});
const numbers = new Intl.NumberFormat("en-GB");
const prices = new Intl.NumberFormat("en-GB", { minimumFractionDigits: 2, maximumFractionDigits: 4 });

export function count(n: number, one: string, many = one + "s"): string {
  return `${numbers.format(n)} ${n === 1 ? one : many}`;
}

export function number(n: number): string {
  return numbers.format(n);
}

export function price(value: unknown): string {
  return typeof value === "number" ? prices.format(value) : "–";
}

/** Returns a link that calls a number. Text after the number, such as an extension, is shown but not dialled. */
export function telephone(number: string): Child {
  const dialled = /^[+\d\s()./-]+/.exec(number)?.[0].replace(/[^+\d]/g, "") ?? "";
  return dialled === "" ? number : h("a", { href: "tel:" + dialled }, number);
}

/** Formats a time in the reader's time zone, with the zone. */
export function moment(at: string | null): Child {
  return at === null ? "–" : h("time", { datetime: at }, moments.format(new Date(at)));
}

/** The reader's time zone, such as "GMT+1". */
export const zone =
  moments.formatToParts(new Date()).find((part) => part.type === "timeZoneName")?.value ?? "local time";

/** Returns a day in the reader's time zone, such as "2026-11-20". */
export function dayOf(at: Date): string {
  return at.toLocaleDateString("sv"); // Swedish dates have this form
}

/** Returns the parameters of a list for a day in the reader's time zone; none for anything else. */
export function period(day: string): { from?: string; to?: string } {
  const from = new Date(`${day}T00:00`),
    to = new Date(from);
  if (!/^\d{4}-\d\d-\d\d$/.test(day) || Number.isNaN(from.getTime())) return {};
  to.setDate(to.getDate() + 1);
  return { from: from.toISOString(), to: to.toISOString() };
}

/** Formats a time as moment does, as text. */
export function momentText(at: string): string {
  return moments.format(new Date(at));
}

const units: [number, string][] = [
  [86_400, "day"],
  [3600, "h"],
  [60, "min"],
  [1, "s"],
];

/** Formats a duration in its two largest units, such as "3 min 20 s". */
export function span(seconds: number): string {
  let left = Math.round(Math.max(0, seconds));
  const parts: string[] = [];
  for (const [size, name] of units) {
    const n = Math.floor(left / size);
    left -= n * size;
    if (n > 0) parts.push(name === "day" ? count(n, "day") : `${n} ${name}`);
    if (parts.length === 2 || (parts.length === 1 && n === 0)) break;
  }
  return parts.length === 0 ? "0 s" : parts.join(" ");
}

export function milliseconds(ms: number): string {
  return ms >= 1000 ? `${(ms / 1000).toFixed(1)} s` : `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;
}

/** Returns a word with a colour. */
export function badge(word: string, kind: "good" | "warn" | "bad" | "plain" = "plain"): HTMLElement {
  return h("span", { class: `badge ${kind}` }, word.replaceAll("_", " "));
}

const kinds: Record<string, "good" | "warn" | "bad" | "plain"> = {
  updated: "good",
  unchanged: "good",
  done: "good",
  placed: "good",
  closed: "good",
  quarantined: "bad",
  failed: "bad",
  missing: "bad",
  unknown: "bad",
  "needs resolving": "bad",
  refused: "bad",
  stale: "warn",
  held: "warn",
  waiting: "warn",
  not_sent: "warn",
  rejected: "warn",
  placing: "warn",
  open: "warn",
  running: "plain",
  queued: "plain",
};

export function outcome(word: string | null): Child {
  return word === null ? "–" : badge(word, kinds[word] ?? "plain");
}

/** Returns which orders are missing in a list, and why; empty if none are. */
export function missingOrders({ unreadable, paused }: OrderPage): string {
  const names = unreadable.map(({ connection, ref }) =>
    ref === null ? `all orders of connection ${connection}` : `order ${ref} of connection ${connection}`,
  );
  const texts: string[] = [];
  if (names.length > 0)
    texts.push(`Not listed, because another version of larder wrote the records: ${names.join(", ")}.`);
  if (paused.length > 0)
    texts.push(
      `Redis may have lost orders of ${paused.join(", ")}, also ones that need resolving. New orders, payments, completions, rejections and resending are paused until somebody has looked for what is missing and accepts the restore.`,
    );
  return texts.join(" ");
}

/** Returns the badge of an order's state, with the words of the filters. */
export function orderState(state: string): Child {
  return outcome(state === "unknown" ? "needs resolving" : state);
}

/** Describes the result of a run in one sentence, without a full stop. */
export function runSentence(run: Run): string {
  if (run.error) return why(run.error);
  const { added, removed, changed } = run.changes;
  switch (run.outcome) {
    case "updated":
      return `Published version ${run.version}: ${count(added, "dish", "dishes")} added, ${number(removed)} removed, ${number(changed)} changed`;
    case "unchanged":
      return `No change (version ${run.version})${run.folded ? ` in ${number(run.folded.count)} runs in a row` : ""}`;
    case "held":
      return "The ordering service has a different menu, but a rollback holds this one";
    case null:
      return run.state === "queued" ? "Queued" : "Running";
    default:
      return run.outcome;
  }
}

/** Returns the part of a cause that differs between restaurants, for a line of a list. */
export function briefly(error: string): string {
  return why(error.replace(/^.*? over connection [^:]*: /s, "").replace(/ \(tried .*|; the last good menu .*/s, ""));
}

/** why returns the cause of a run's outcome as a sentence. Where the console has a button, it leaves out the command. */
export function why(error: string): string {
  const words = error.replace(/\. To publish anyway: larder sync .*/s, "");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
