// The progress of several runs: how many are done, and which of them failed.

import { cell, h, put, rowHead, table, type Child } from "./dom";
import { count, number, outcome, why } from "./format";
import type { Run } from "./model";
import { restaurantLink } from "./names";

const shown = 50; // faults

/** A run that failed or was quarantined. The outcome is null if it could not be started. */
export type Fault = Pick<Run, "restaurant" | "outcome" | "error">;

/** Shows the progress of several runs. */
export class ProgressPanel {
  private readonly bar = h("progress", { "aria-label": "Restaurants done", max: 1, value: 0, "data-testid": "batch" });
  private readonly words = h("p", { role: "status" });
  private readonly rest = h("div", {});
  readonly element = h("div", {}, h("h2", {}, "Progress"), this.bar, this.words, this.rest);

  show(done: number, failed: number, total: number): void {
    this.bar.max = Math.max(1, total);
    this.bar.value = done;
    const text = `${number(done)} of ${count(total, "restaurant")} done, ${number(failed)} failed or quarantined`;
    if (this.words.textContent !== text) put(this.words, text);
  }

  /** Lists the faults below other facts. */
  list(faults: Fault[], ...facts: Child[]): void {
    const rows = faults
      .slice(0, shown)
      .map((run) =>
        h(
          "tr",
          {},
          rowHead(restaurantLink(run.restaurant)),
          cell("Outcome", outcome(run.outcome)),
          cell("Reason", run.error ? why(run.error) : "–"),
        ),
      );
    put(
      this.rest,
      facts,
      rows.length > 0 && table("Failed or quarantined", ["Restaurant", "Outcome", "Reason"], rows),
      faults.length > shown && h("p", {}, `and ${number(faults.length - shown)} more`),
    );
  }
}
