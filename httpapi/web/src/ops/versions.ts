// The stored versions: comparing them, and rolling back.

import { ask, pathOf, query, result } from "./api";
import { during, question, showMessage } from "./ask";
import { describe } from "./changes";
import { cell, h, put, rowHead, table } from "./dom";
import { badge, moment, number } from "./format";
import type { Changes, Page, Restaurant, Run, Version } from "./model";
import { showRun } from "./sync";

const most = 50; // versions

/** Draws a restaurant's versions. It calls then after a rollback. */
export async function versions(
  into: HTMLElement,
  one: Restaurant,
  signal: AbortSignal,
  then: () => void,
): Promise<void> {
  if (one.version === null) return put(into, h("p", { class: "empty" }, "No versions yet."));
  const page = await ask<Page<Version>>(pathOf(one.id) + "/versions" + query({ limit: most }), { signal });
  const shown = h("div", { class: "changes", role: "region", "aria-label": "Differences", tabindex: -1, hidden: true });
  const compare = (version: Version) => (event: Event) =>
    during(event.currentTarget as HTMLButtonElement, async () => {
      const changes = await result<Changes>(`${pathOf(one.id)}/versions/${version.version}/changes`, { signal });
      put(
        shown,
        h("h3", {}, `Changes from version ${changes.from} to ${changes.to}, the served version`),
        describe(changes),
      );
      shown.hidden = false;
      shown.focus();
    });
  const back = (version: Version) => (event: Event) =>
    during(event.currentTarget as HTMLButtonElement, async () => {
      const run = await rollback(one, version, signal);
      if (run) {
        showRun(one, run);
        then();
      }
    });
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
                { type: "button", "aria-label": `Compare version ${version.version}`, onclick: compare(version) },
                "Compare",
              ),
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
    shown,
  );
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
