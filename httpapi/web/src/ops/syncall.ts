// Sync of all restaurants, with its progress.

import { result } from "./api";
import { during, question, showError } from "./ask";
import { h, pause, put } from "./dom";
import { count, moment, number, outcome } from "./format";
import * as live from "./live";
import type { Batch, Summary } from "./model";
import { ProgressPanel } from "./progress";
import type { View } from "./view";
import { mayAct } from "./rights";

const every = 3000; // between two reads of a batch, in milliseconds

export const syncAll: View = async (root, { id, signal, go }) => {
  const start = (force: boolean) => (event: Event) =>
    during(event.currentTarget as HTMLButtonElement, async () => {
      const { restaurants } = await result<Summary>("/v1/ops/summary", { signal });
      const yes = await question({
        title: force ? "Force all menus?" : "Sync all menus?",
        yes: force ? "Force all" : "Sync all",
        danger: force,
        body: [
          h(
            "p",
            {},
            `This fetches the menus of ${count(restaurants, "restaurant")}, within the limits of their connections.`,
          ),
          force &&
            h(
              "p",
              {},
              "Every menu is published again, even an unchanged one. Quarantined menus stay quarantined: look at each and force it on its own page.",
            ),
        ],
      });
      if (!yes) return;
      const begun = await result<{ batch: string }>("/v1/ops/sync", {
        method: "POST",
        body: force ? { force: true } : undefined,
        signal,
      });
      go("/sync/" + encodeURIComponent(begun.batch));
    });
  const state = h("div", {});
  put(
    root,
    h("h1", { tabindex: -1 }, "Sync all"),
    h(
      "p",
      {},
      "Each restaurant is synced on its schedule. Use this page after an outage or after a change at the ordering service.",
    ),
    mayAct() &&
      h(
        "p",
        { class: "buttons" },
        h("button", { type: "button", class: "main", onclick: start(false) }, "Sync all…"),
        h("button", { type: "button", class: "danger", onclick: start(true) }, "Force all…"),
      ),
    state,
  );
  if (id === "") return;
  const path = "/v1/ops/sync/" + encodeURIComponent(id);
  const progress = new ProgressPanel();
  put(state, progress.element);
  const draw = (batch: Batch) => {
    progress.show(batch.done, batch.failed, batch.total);
    progress.list(
      batch.faults,
      h(
        "p",
        {},
        `Started by ${batch.by} at `,
        moment(batch.startedAt),
        batch.finishedAt !== null && [", finished at ", moment(batch.finishedAt)],
      ),
      h(
        "p",
        { class: "facts" },
        Object.entries(batch.outcomes).map(([name, n]) => [outcome(name), ` ${number(n)} `]),
      ),
    );
  };
  live.on(
    "sync.progress",
    (one) => {
      if (one.batch === id) progress.show(one.done, one.failed, one.total);
    },
    signal,
  );
  let batch = await result<Batch>(path, { signal });
  draw(batch);
  void (async () => {
    while (batch.finishedAt === null && (await pause(every, signal))) {
      try {
        batch = await result<Batch>(path, { signal });
        draw(batch);
      } catch (error) {
        showError(error);
      }
    }
  })();
};
