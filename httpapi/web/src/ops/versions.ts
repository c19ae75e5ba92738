// The stored versions: comparing them, and rolling back.

import { ask, errorText, isGone, pathOf, query, result } from "./api";
import { during, question, showMessage } from "./ask";
import { describe } from "./changes";
import { cell, h, put, rowHead, table } from "./dom";
import { badge, moment, momentText, number } from "./format";
import type { Changes, Page, Restaurant, Run, Version } from "./model";
import { showRun } from "./sync";
import { mayAct } from "./rights";

const most = 50; // versions

/** Returns the differences between two versions; without to, from the served one. */
export async function comparison(id: string, from: number, to: number | null, signal: AbortSignal): Promise<Node[]> {
  try {
    const changes = await result<Changes>(`${pathOf(id)}/versions/${from}/changes${query({ to })}`, { signal });
    const served = to === null ? ", the served version" : "";
    return [h("h3", {}, `Changes from version ${changes.from} to ${changes.to}${served}`), describe(changes)];
  } catch (error) {
    if (isGone(error)) throw error;
    return [h("p", { class: "fault" }, errorText(error))];
  }
}

/**
 * Draws a restaurant's versions. It calls then after a rollback. If they are drawn already, the selected versions stay, and
 * so does a comparison, unless it is with a version that is not served any more.
 */
export async function versions(
  into: HTMLElement,
  one: Restaurant,
  signal: AbortSignal,
  then: () => void,
): Promise<void> {
  if (one.version === null) return put(into, h("p", { class: "empty" }, "No versions yet."));
  const page = await ask<Page<Version>>(pathOf(one.id) + "/versions" + query({ limit: most }), { signal });
  const earlier = into.querySelector<HTMLElement>("[aria-label=Differences]");
  const current = earlier && [undefined, String(one.version)].includes(earlier.dataset.served);
  const shown = current
    ? earlier
    : h("div", { class: "changes", role: "region", "aria-label": "Differences", tabindex: -1, hidden: true });
  const compare = (from: () => number, to: () => number | null) => (event: Event) =>
    during(event.currentTarget as HTMLButtonElement, async () => {
      const other = to();
      put(shown, await comparison(one.id, from(), other, signal));
      if (other === null) shown.dataset.served = String(one.version);
      else delete shown.dataset.served;
      shown.hidden = false;
      shown.focus();
    });
  const select = (label: string, preset: number) => {
    const chosen = into.querySelector<HTMLSelectElement>(`[aria-label="${label}"][data-chosen]`)?.value;
    const list = h(
      "select",
      { "aria-label": label, onchange: () => (list.dataset.chosen = "") },
      page.result.map(({ version, syncedAt }, i) =>
        h("option", { value: version, selected: i === preset }, `Version ${version}, ${momentText(syncedAt)}`),
      ),
    );
    if (chosen !== undefined && page.result.some(({ version }) => String(version) === chosen)) {
      list.value = chosen;
      list.dataset.chosen = "";
    }
    return list;
  };
  const older = select("Older version", 1),
    newer = select("Newer version", 0);
  const compareAny = compare(
    () => Number(older.value),
    () => Number(newer.value),
  );
  const back = (version: Version) => (event: Event) =>
    during(event.currentTarget as HTMLButtonElement, async () => {
      const run = await rollback(one, version, signal);
      if (run) {
        showRun(one, run);
        then();
      }
    });
  const focused = document.activeElement === shown;
  put(
    into,
    table(
      "Versions, newest first",
      ["Version", "Fetched", "Dishes", ""],
      page.result.map((version) =>
        h(
          "tr",
          { "data-version": version.version },
          rowHead(
            `Version ${version.version}`,
            version.current && [" ", badge("served", "good")],
            version.held && [" ", badge("held", "warn")],
          ),
          cell("Fetched", moment(version.syncedAt)),
          cell(
            "Dishes",
            number(version.counts.products),
            h("small", {}, `${number(version.counts.available)} available`),
          ),
          h(
            "td",
            { class: "acts" },
            !version.current && [
              h(
                "button",
                {
                  type: "button",
                  "aria-label": `Compare version ${version.version}`,
                  onclick: compare(
                    () => version.version,
                    () => null,
                  ),
                },
                "Compare",
              ),
              mayAct() &&
                h(
                  "button",
                  {
                    type: "button",
                    class: "danger",
                    "aria-label": `Roll back to version ${version.version}`,
                    onclick: back(version),
                  },
                  "Roll back…",
                ),
            ],
          ),
        ),
      ),
    ),
    page.result.length > 1 &&
      h(
        "p",
        { class: "buttons" },
        older,
        newer,
        h("button", { type: "button", onclick: compareAny }, "Compare these versions"),
      ),
    shown,
  );
  if (focused) shown.focus();
}

/** Shows what would change, asks how long to hold, and rolls back. */
async function rollback(one: Restaurant, version: Version, signal: AbortSignal): Promise<Run | undefined> {
  const now = await result<Restaurant>(pathOf(one.id), { signal }); // the page may be out of date
  const changes = await result<Changes>(
    `${pathOf(one.id)}/versions/${now.version}/changes${query({ to: version.version })}`,
    { signal },
  );
  const choice = (value: string, title: string, text: string, checked: boolean) =>
    h(
      "label",
      { class: "choice" },
      h("input", { type: "radio", name: "hold", value, checked }),
      h("span", {}, h("b", {}, title), h("small", {}, text)),
    );
  const fields = h(
    "fieldset",
    {},
    h("legend", {}, "Hold it until"),
    choice(
      "next_change",
      "the next change",
      "The hold ends when the ordering service publishes a different menu.",
      true,
    ),
    choice(
      "released",
      "an operator releases it",
      "Until then, menus of the ordering service are not published.",
      false,
    ),
  );
  const yes = await question({
    title: `Roll ${one.name || one.id} back to version ${version.version}?`,
    danger: true,
    yes: "Roll back",
    fields,
    body: [
      h(
        "p",
        {},
        `The menu of version ${version.version} is published again as a new version, with the current stop lists. Changes for guests:`,
      ),
      h("div", { class: "scroll", role: "region", "aria-label": "Changes for guests", tabindex: 0 }, describe(changes)),
    ],
  });
  if (!yes) return undefined;
  showMessage(`Rolling back to version ${version.version}…`);
  const hold = fields.querySelector<HTMLInputElement>("input:checked")?.value ?? "next_change";
  return result<Run>(pathOf(one.id) + "/rollback?wait=30s", {
    method: "POST",
    body: { version: version.version, hold },
    signal,
  });
}
