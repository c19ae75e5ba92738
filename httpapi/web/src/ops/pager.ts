// A list of which the browser loads one page at a time.

import { ask, query } from "./api";
import { showError } from "./ask";
import { h, put, type Child } from "./dom";
import { count } from "./format";
import type { Page } from "./model";

const pageSize = 50;

/** What a list shows: the newest entries first. */
interface List<T> {
  path: string;
  params: Record<string, string | undefined>;
  words: [one: string, many: string];
  draw: (entries: T[]) => Child;
}

/** Loads and draws the first page of a list, with buttons for the others. */
export async function pages<T>(into: HTMLElement, list: List<T>, signal: AbortSignal): Promise<void> {
  const cursors: (string | null)[] = [null]; // of the pages up to the current one
  let following: string | null = null;
  const shown = h("div", { class: "list" });
  const where = h("p", { class: "where", role: "status" });
  const turn = (move: () => void) => () => {
    move();
    void load().catch(showError);
  };
  const newer = h("button", { type: "button", onclick: turn(() => cursors.pop()) }, "Newer");
  const older = h("button", { type: "button", onclick: turn(() => cursors.push(following)) }, "Older");
  const load = async () => {
    const asked = query({ ...list.params, limit: pageSize, cursor: cursors.at(-1) });
    const page = await ask<Page<T>>(list.path + asked, { signal });
    following = page.next;
    newer.disabled = cursors.length === 1;
    older.disabled = page.next === null;
    put(where, `Page ${cursors.length}, ${count(page.result.length, ...list.words)}`);
    put(shown, list.draw(page.result));
  };
  await load();
  put(into, shown, h("div", { class: "pager" }, newer, where, older));
}
