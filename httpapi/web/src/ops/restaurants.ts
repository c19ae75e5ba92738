// The list of restaurants, with the freshness of each menu. The browser loads one
// page of the list at a time.

import { ask, query, result } from "./api";
import { during, showError } from "./ask";
import { cell, h, pause, put, rowHead, table } from "./dom";
import { badge, count, number, outcome, span } from "./format";
import * as live from "./live";
import type { Page, Restaurant, Run, Summary } from "./model";
import { forceQuestion, syncNow } from "./sync";
import { link, type View } from "./view";

const pageSize = 50;
const calm = 1500; // between two reloads caused by events, in milliseconds
const again = 30_000; // between two reloads without events

const filters: [string, string][] = [
  ["", "All"],
  ["attention", "Need attention"],
  ["missing", "Missing"],
  ["failed", "Failed"],
  ["quarantined", "Quarantined"],
  ["waiting", "Waiting"],
  ["stale", "Stale"],
  ["held", "Held"],
  ["ok", "Healthy"],
];

export const restaurants: View = async (root, { params, signal, go }) => {
  const state = params.get("state") ?? "",
    q = params.get("q") ?? "";
  const cursors: (string | null)[] = [null]; // of the pages up to the current one
  let page: Page<Restaurant> = { result: [], next: null };
  const running = new Map<string, Run>();

  const tokens = h("div", { role: "status" });
  const chips = h("nav", { class: "chips", "aria-label": "By state" });
  const list = h("div", { class: "list" });
  const where = h("p", { class: "where", role: "status" });
  const previous = h("button", { type: "button", onclick: () => turn(-1) }, "Previous page");
  const next = h("button", { type: "button", onclick: () => turn(1) }, "Next page");
  const search = h("input", { type: "search", name: "q", value: q, autocomplete: "off", maxlength: 100 });
  put(
    root,
    h(
      "div",
      { class: "head" },
      h("h1", { tabindex: -1 }, "Restaurants"),
      h(
        "form",
        {
          role: "search",
          class: "search",
          onsubmit: (event: Event) => {
            event.preventDefault();
            go("/restaurants" + query({ state, q: search.value.trim() }));
          },
        },
        h("label", {}, "Name or id", search),
        h("button", { type: "submit" }, "Search"),
      ),
    ),
    tokens,
    chips,
    list,
    h("div", { class: "pager" }, previous, where, next),
  );

  const load = async () => {
    page = await ask<Page<Restaurant>>(
      "/v1/ops/restaurants" + query({ state, q, limit: pageSize, cursor: cursors.at(-1) }),
      { signal },
    );
    draw();
  };
  const count_ = async () => {
    const sums = await result<Summary>("/v1/ops/summary" + query({ q }), { signal });
    put(
      tokens,
      Object.entries(sums.tokens).map(([name, token]) =>
        h("p", { class: "note" }, `Connection ${name}: ${token.msg}.`),
      ),
    );
    put(
      chips,
      filters.map(([name, words]) =>
        link(
          "/restaurants" + query({ state: name, q }),
          { class: "chip", ...(name === state ? { "aria-current": "true" } : {}) },
          words,
          " ",
          h("b", {}, number(name === "" ? sums.restaurants : (sums.states[name] ?? 0))),
        ),
      ),
    );
  };
  const turn = (by: number) => {
    if (by > 0) cursors.push(page.next);
    else cursors.pop();
    void load()
      .then(() => root.querySelector<HTMLElement>("h1")?.focus())
      .catch(showError);
  };
  const draw = () => {
    const focused = list.contains(document.activeElement) ? document.activeElement?.getAttribute("data-key") : null;
    previous.disabled = cursors.length === 1;
    next.disabled = page.next === null;
    put(where, `Page ${cursors.length}, ${count(page.result.length, "restaurant")}`);
    put(
      list,
      page.result.length === 0
        ? h(
            "p",
            { class: "empty" },
            q !== "" || state !== "" ? "No restaurants match." : "No restaurants are configured.",
          )
        : table("Restaurants", ["Restaurant", "State", "Freshness", "Menu", "Last run", ""], page.result.map(row)),
    );
    if (focused) list.querySelector<HTMLElement>(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  };
  const row = (one: Restaurant) => {
    const run = running.get(one.id);
    const act = (force: boolean) => async (event: Event) =>
      during(event.currentTarget as HTMLButtonElement, async () => {
        if (force && !(await forceQuestion(one.id, signal))) return;
        try {
          await syncNow(one, force, signal, (run) => {
            running.set(one.id, run);
            draw();
          });
        } finally {
          running.delete(one.id);
        }
        await Promise.all([load(), count_()]);
      });
    const name = one.name || one.id;
    return h(
      "tr",
      { "data-testid": "restaurant", "data-id": one.id },
      rowHead(
        link("/restaurants/" + encodeURIComponent(one.id), { "data-key": "open " + one.id }, name),
        h("small", {}, one.id),
      ),
      cell("State", states(one)),
      cell("Freshness", fresh(one)),
      cell(
        "Menu",
        one.version === null
          ? "–"
          : [
              `Version ${one.version}`,
              h(
                "small",
                {},
                `${count(one.counts?.products ?? 0, "dish", "dishes")}, ${number(one.counts?.orderable ?? 0)} orderable`,
              ),
            ],
      ),
      cell(
        "Last run",
        run ? [badge(run.state, "plain"), h("progress", { "aria-label": `Run of ${name}` })] : outcome(one.lastOutcome),
      ),
      h(
        "td",
        { class: "acts" },
        h(
          "button",
          {
            type: "button",
            "data-key": "sync " + one.id,
            disabled: run !== undefined,
            "aria-label": `Sync ${name}`,
            onclick: act(false),
          },
          "Sync",
        ),
        one.states.includes("quarantined") &&
          h(
            "button",
            {
              type: "button",
              class: "danger",
              "data-key": "force " + one.id,
              disabled: run !== undefined,
              "aria-label": `Force ${name}`,
              onclick: act(true),
            },
            "Force…",
          ),
      ),
    );
  };

  let dirty = false;
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
      if (page.result.some((one) => one.id === run.restaurant)) {
        running.set(run.restaurant, run);
        draw();
      }
    },
    signal,
  );
  live.on(
    "run.finished",
    (run) => {
      running.delete(run.restaurant);
      if (page.result.some((one) => one.id === run.restaurant)) dirty = true;
    },
    signal,
  );
  await Promise.all([load(), count_()]);
  void (async () => {
    let rest = 0;
    while (await pause(calm, signal)) {
      rest += calm;
      if (document.hidden || (!dirty && rest < again)) continue;
      dirty = false;
      rest = 0;
      await Promise.all([load(), count_()]).catch(showError);
    }
  })();
};

/** Returns the badges of a restaurant's states. */
export function states(one: Restaurant): HTMLElement[] {
  if (one.states.length === 0) return [badge("healthy", "good")];
  return one.states.map((state) =>
    badge(state, state === "stale" || state === "held" || state === "waiting" ? "warn" : "bad"),
  );
}

/** Shows the age of the menu, compared with its schedule. */
export function fresh(one: Restaurant): HTMLElement[] {
  const { ageSeconds: age, everySeconds: every, staleSeconds: stale, schedule } = one.freshness;
  if (age === null) return [h("span", {}, "never confirmed"), h("small", {}, schedule)];
  const text = [h("span", {}, `${span(age)} old`), h("small", {}, schedule)];
  if (every === null || stale === null || stale <= 0) return text;
  return [
    h("meter", {
      min: 0,
      max: stale,
      low: Math.min(every * 1.5, stale),
      high: stale * 0.99,
      optimum: 0,
      value: Math.min(age, stale),
      "aria-label": `${span(age)} old; stale from ${span(stale)}`,
    }),
    ...text,
  ];
}
