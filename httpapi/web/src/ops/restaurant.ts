// One restaurant: its state, runs, menu checks, versions and audit log.

import { ask, isGone, pathOf, query, result, errorText } from "./api";
import { during, question, showError } from "./ask";
import { auditTable } from "./audit";
import { availability } from "./availability";
import { quarantinedChanges } from "./changes";
import { cell, h, pause, put, rowHead, table } from "./dom";
import { badge, count, milliseconds, moment, number, outcome, runSentence, telephone } from "./format";
import * as live from "./live";
import type { AuditEntry, Finding, Page, Restaurant, Run } from "./model";
import { plots } from "./plot";
import { forceQuestion, release, syncNow } from "./sync";
import { fresh, states } from "./restaurants";
import { comparison, versions } from "./versions";
import { link, type View } from "./view";
import { mayAct } from "./rights";

const plotted = 200; // runs
const shownRuns = 20;
const calm = 1000;
const again = 15_000; // between two reloads without events

export const restaurant: View = async (root, place) => {
  const { id, signal, params } = place;
  const head = h("div", {}),
    runs = h("div", {}),
    lint = h("div", {}),
    kept = h("div", {}),
    done = h("div", {});
  const from = Number(params.get("from")),
    compared = from > 0 && (await comparison(id, from, Number(params.get("to")) || null, signal));
  let one = await result<Restaurant>(pathOf(id), { signal });
  let running: Run | undefined;
  let dirty = false;
  put(
    root,
    h("p", { class: "back" }, link("/restaurants", {}, "← Restaurants")),
    h("h1", { tabindex: -1 }, one.name || one.id),
    compared && h("section", { class: "changes", "aria-label": "Compared versions" }, compared),
    head,
    section("Runs", runs),
    section("Menu checks", lint),
    section("Versions", kept),
    section("Audit log", done),
  );

  const drawHead = () => {
    const act = (force: boolean) => (event: Event) =>
      during(event.currentTarget as HTMLButtonElement, async () => {
        if (force && !(await forceQuestion(one.id, signal))) return;
        try {
          await syncNow(one, force, signal, (run) => {
            running = run;
            drawHead();
          });
        } finally {
          running = undefined;
        }
        await load();
        head.querySelector<HTMLElement>("button")?.focus();
      });
    const compare = (event: Event) =>
      during(event.currentTarget as HTMLButtonElement, async () => {
        const body = [await quarantinedChanges(one.id, signal)];
        await question({ title: `Quarantined menu of ${one.name || one.id}`, body, yes: "OK" });
      });
    const last = one.lastRun;
    put(
      head,
      h(
        "p",
        { class: "facts" },
        states(one),
        " ",
        h("span", {}, one.id),
        h("span", {}, `connection ${one.connection}`),
      ),
      availability(one, signal, (now) => {
        one.availability = now;
        one.states = one.states.filter((state) => state !== "paused");
        if (now.pause.delivery || now.pause.pickup) one.states.push("paused");
        drawHead();
        head.querySelector<HTMLElement>(".availability button")?.focus();
        dirty = true;
      }),
      h(
        "div",
        { class: "cards" },
        h(
          "div",
          { class: "card" },
          h("h2", {}, "Freshness"),
          h("p", {}, fresh(one)),
          h("p", {}, "Next run ", moment(one.freshness.nextAt)),
        ),
        (one.phone || one.address) &&
          h(
            "div",
            { class: "card" },
            h("h2", {}, "Contact"),
            one.phone && h("p", {}, telephone(one.phone)),
            one.address && h("p", {}, one.address),
          ),
        h(
          "div",
          { class: "card" },
          h("h2", {}, "Menu"),
          one.version === null
            ? h("p", {}, "No menu yet.")
            : [
                h("p", {}, `Version ${one.version}, fetched `, moment(one.syncedAt)),
                h(
                  "p",
                  {},
                  `${count(one.counts?.products ?? 0, "dish", "dishes")} in ${count(one.counts?.categories ?? 0, "category", "categories")}; ${number(one.counts?.available ?? 0)} available, ${number(one.counts?.orderable ?? 0)} orderable`,
                ),
              ],
        ),
        h(
          "div",
          { class: "card" },
          h("h2", {}, "Last run"),
          last
            ? [
                h("p", {}, outcome(last.outcome ?? last.state), " ", moment(last.finishedAt ?? last.startedAt)),
                h("p", {}, runSentence(last), "."),
              ]
            : h("p", {}, "No runs yet."),
        ),
      ),
      one.hold &&
        h(
          "p",
          { class: "note" },
          one.hold === "released"
            ? "A rollback holds this menu until the hold is released."
            : "A rollback holds this menu until the ordering service publishes a different one.",
        ),
      h(
        "p",
        { class: "buttons" },
        mayAct() &&
          h(
            "button",
            { type: "button", class: "main", disabled: running !== undefined, onclick: act(false) },
            "Sync now",
          ),
        mayAct() &&
          h(
            "button",
            { type: "button", class: "danger", disabled: running !== undefined, onclick: act(true) },
            "Force…",
          ),
        one.states.includes("quarantined") && h("button", { type: "button", onclick: compare }, "Compare…"),
        one.hold &&
          mayAct() &&
          h(
            "button",
            {
              type: "button",
              onclick: (event: Event) =>
                during(event.currentTarget as HTMLButtonElement, async () => {
                  if (await release(one, signal)) await load();
                }),
            },
            "Release…",
          ),
        running && [badge(running.state), h("progress", { "aria-label": "Run in progress" })],
      ),
    );
  };
  const loadRuns = async () => {
    const page = await ask<Page<Run>>("/v1/ops/runs" + query({ restaurant: id, limit: plotted }), { signal });
    put(
      runs,
      plots(page.result, signal),
      page.result.length === 0
        ? h("p", { class: "empty" }, "No runs yet.")
        : [
            table(
              "Runs, newest first",
              ["Started", "Outcome", "Started by", "Duration", "Dishes", "Result"],
              page.result.slice(0, shownRuns).map((run) =>
                h(
                  "tr",
                  {},
                  rowHead(moment(run.startedAt)),
                  cell("Outcome", outcome(run.outcome ?? run.state)),
                  cell(
                    "Started by",
                    run.trigger === "manual" ? run.by.join(", ") || "manual" : run.trigger,
                    run.force && " (forced)",
                  ),
                  cell(
                    "Duration",
                    milliseconds(Object.values(run.steps).reduce((sum, ms) => sum + ms, 0)),
                    h(
                      "small",
                      {},
                      Object.entries(run.steps)
                        .map(([name, ms]) => `${name} ${milliseconds(ms)}`)
                        .join(", "),
                    ),
                  ),
                  cell("Dishes", run.products > 0 ? number(run.products) : "–"),
                  cell("Result", runSentence(run)),
                ),
              ),
            ),
            page.result.length > shownRuns &&
              h(
                "p",
                {},
                `The table shows the last ${shownRuns} runs, the charts the last ${number(page.result.length)}.`,
              ),
          ],
    );
  };
  const loadLint = async () => {
    try {
      findings(lint, one, await result<Finding[]>(pathOf(id) + "/lint", { signal }));
    } catch (error) {
      if (isGone(error)) throw error;
      put(lint, h("p", { class: "empty" }, errorText(error)));
    }
  };
  const loadDone = async () => {
    const page = await ask<Page<AuditEntry>>("/v1/ops/audit" + query({ restaurant: id, limit: 20 }), { signal });
    put(done, auditTable(page.result, false));
  };
  const load = async () => {
    one = await result<Restaurant>(pathOf(id), { signal });
    drawHead();
    await Promise.all([loadRuns(), loadLint(), loadVersions(), loadDone()]);
  };
  const loadVersions = () =>
    versions(kept, one, signal, () => {
      void load().catch(showError);
    });

  live.on(
    "reset",
    () => {
      dirty = true;
    },
    signal,
  );
  live.on(
    "run.started",
    (run) => {
      if (run.restaurant === id) {
        running = run;
        drawHead();
      }
    },
    signal,
  );
  live.on(
    "run.finished",
    (run) => {
      if (run.restaurant === id) {
        running = undefined;
        dirty = true;
      }
    },
    signal,
  );
  await load();
  void (async () => {
    for (let looked = Date.now(); await pause(calm, signal);) {
      if (Date.now() - looked > again) dirty = true; // restrictions end, and other operators change them
      if (!dirty || document.hidden || document.querySelector("dialog[open]")) continue;
      dirty = false;
      looked = Date.now();
      const { version } = one;
      one = await result<Restaurant>(pathOf(id), { signal }).catch((error) => {
        showError(error);
        return one;
      });
      drawHead();
      // Do not redraw the versions without need: a comparison may be open.
      await Promise.all([loadRuns(), loadLint(), one.version !== version && loadVersions(), loadDone()]).catch(
        showError,
      );
    }
  })();
};

function section(title: string, body: HTMLElement): HTMLElement {
  return h("section", { "aria-label": title }, h("h2", {}, title), body);
}

/** Shows lint's findings about the served menu: errors first, then by the number of dishes that cannot be ordered. */
function findings(into: HTMLElement, one: Restaurant, all: Finding[]): void {
  const about =
    one.states.includes("quarantined") &&
    h(
      "p",
      { class: "note" },
      `These checks refer to the menu being served${one.version === null ? "" : ` (version ${one.version})`}, not to the quarantined one.`,
    );
  if (all.length === 0) return put(into, about, h("p", { class: "empty" }, "No problems in the served menu."));
  const blocked = (finding: Finding) => finding.dishes.filter((dish) => !dish.orderable).length;
  const ordered = all.toSorted(
    (a, b) => Number(b.severity === "error") - Number(a.severity === "error") || blocked(b) - blocked(a),
  );
  const most = 100;
  put(
    into,
    about,
    h(
      "p",
      {},
      `${count(all.length, "finding")} in the served menu, ${count(all.filter((finding) => finding.severity === "error").length, "error")}. An error removes a dish or an option for guests.`,
    ),
    h(
      "ul",
      { class: "findings" },
      ordered.slice(0, most).map((finding) =>
        h(
          "li",
          {},
          h(
            "p",
            {},
            badge(finding.severity, finding.severity === "error" ? "bad" : "warn"),
            " ",
            h("code", {}, finding.code),
            " ",
            finding.msg,
          ),
          finding.products &&
            finding.products.length > 0 &&
            h(
              "details",
              {},
              h(
                "summary",
                {},
                `${count(finding.products.length, "dish", "dishes")}${finding.truncated ? " and more" : ""}, ${number(blocked(finding))} cannot be ordered`,
              ),
              h(
                "ul",
                {},
                finding.dishes.map((dish) =>
                  h(
                    "li",
                    {},
                    h("bdi", {}, dish.name),
                    " ",
                    !dish.orderable && badge("cannot be ordered", "bad"),
                    h("small", {}, dish.id),
                  ),
                ),
              ),
            ),
        ),
      ),
    ),
    all.length > most && h("p", {}, `The first ${most} of ${number(all.length)} findings.`),
  );
}
