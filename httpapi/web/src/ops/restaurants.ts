// The list of restaurants, with the freshness of each menu. The browser loads one
// page of the list at a time.

import { ask, query, result } from "./api";
import { during, question, showError, showMessage } from "./ask";
import { cell, h, pause, put, rowHead, table } from "./dom";
import { badge, briefly, count, number, outcome, span, why } from "./format";
import * as live from "./live";
import type { Page, Restaurant, Run, Summary } from "./model";
import { ProgressPanel } from "./progress";
import { forceQuestion, syncNow } from "./sync";
import { idsOf, most, syncSome } from "./syncsome";
import { link, type View } from "./view";
import { mayAct } from "./rights";

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
  ["paused", "Paused"],
  ["ok", "Healthy"],
];

const orders: [string, string][] = [
  ["", "Name"],
  ["state", "State"],
  ["age", "Age"],
  ["last-run", "Last run"],
];

export const restaurants: View = async (root, { params, signal, go }) => {
  const state = params.get("state") ?? "",
    q = params.get("q") ?? "",
    sort = params.get("sort") ?? "";
  const cursors: (string | null)[] = [null]; // of the pages up to the current one
  let page: Page<Restaurant> = { result: [], next: null };
  const running = new Map<string, Run>();

  const tokens = h("div", { role: "status" });
  const chips = h("nav", { class: "chips", "aria-label": "By state" });
  const list = h("div", { class: "restaurants" });
  const selected = new Set<string>(); // ids, also of other pages
  let all = 0; // restaurants of the filter
  const progress = h("div", {});
  const syncSelected = h("button", {
    type: "button",
    class: "main",
    onclick: (event: Event) => begin(event, [...selected]),
  });
  const syncFilter = h("button", { type: "button", onclick: (event: Event) => begin(event, null) });
  const selectPage = h(
    "button",
    {
      type: "button",
      onclick: () =>
        select(
          page.result.map(({ id }) => id),
          true,
        ),
    },
    "Select this page",
  );
  const selectNone = h("button", { type: "button", onclick: () => select([...selected], false) }, "Select none");
  const choose = h(
    "select",
    { onchange: () => go("/restaurants" + query({ state, q, sort: choose.value })) },
    orders.map(([name, words]) => h("option", { value: name, selected: name === sort }, words)),
  );
  const bar = h(
    "div",
    { class: "selection" },
    h("label", { class: "inline" }, "Sort by ", choose),
    syncSelected,
    syncFilter,
    selectPage,
    selectNone,
  );
  const where = h("p", { class: "where", role: "status" });
  const previous = h("button", { type: "button", onclick: () => turn(-1) }, "Previous page");
  const next = h("button", { type: "button", onclick: () => turn(1) }, "Next page");
  const search = h("input", {
    type: "search",
    name: "q",
    value: q,
    autocomplete: "off",
    maxlength: 100,
    placeholder: "Name or id",
  });
  const opened = new Set<string>(); // ids of restaurants whose cause is shown in full
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
            go("/restaurants" + query({ state, sort, q: search.value.trim() }));
          },
        },
        h("label", {}, "Name or id", search),
        h("button", { type: "submit" }, "Search"),
      ),
    ),
    tokens,
    chips,
    bar,
    progress,
    list,
    h("div", { class: "pager" }, previous, where, next),
  );

  const load = async () => {
    page = await ask<Page<Restaurant>>(
      "/v1/ops/restaurants" + query({ state, q, sort, limit: pageSize, cursor: cursors.at(-1) }),
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
    all = state === "" ? sums.restaurants : (sums.states[state] ?? 0);
    drawBar();
    put(
      chips,
      filters.map(([name, words]) =>
        link(
          "/restaurants" + query({ state: name, q, sort }),
          { class: "chip", ...(name === state ? { "aria-current": "true" } : {}) },
          words,
          " ",
          h("b", {}, number(name === "" ? sums.restaurants : (sums.states[name] ?? 0))),
        ),
      ),
    );
  };
  const drawBar = () => {
    put(syncSelected, selected.size === 0 ? "Sync selected…" : `Sync ${count(selected.size, "selected restaurant")}…`);
    syncSelected.disabled = selected.size === 0 || selected.size > most;
    selectNone.disabled = selected.size === 0;
    put(syncFilter, `Sync these ${number(all)}…`);
    syncFilter.hidden = (state === "" && q === "") || all === 0 || all > most; // otherwise "Sync all"
    bar.hidden = all === 0 || !mayAct();
  };
  const select = (ids: string[], on: boolean) => {
    for (const id of ids)
      if (on) selected.add(id);
      else selected.delete(id);
    for (const box of list.querySelectorAll<HTMLInputElement>("input[type=checkbox]"))
      box.checked = selected.has(box.dataset.id ?? "");
    drawBar();
  };
  /** Syncs the given restaurants, or those of the filter, after a confirmation. */
  const begin = (event: Event, given: string[] | null) =>
    during(event.currentTarget as HTMLButtonElement, async () => {
      const ids = given ?? (await idsOf({ state, q }, signal));
      if (ids.length > most) {
        showMessage(`More than ${most} restaurants match: use Sync all, or search for fewer.`, true);
        return;
      }
      const text =
        "This fetches their menus, within the limits of their connections. Menus that the guard stops stay quarantined.";
      if (!(await question({ title: `Sync ${count(ids.length, "menu")}?`, yes: "Sync", body: [h("p", {}, text)] })))
        return;
      const shown = new ProgressPanel();
      put(progress, shown.element);
      await syncSome(ids, shown, signal);
      select(ids, false);
      await Promise.all([load(), count_()]);
    });
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
        : table(
            "Restaurants",
            [
              ...(mayAct() ? ["Select"] : []),
              ...["Restaurant", "State", ...(causes() ? ["Cause"] : []), "Freshness", "Menu", "Last run"],
              ...(mayAct() ? [""] : []),
            ],
            page.result.map(row),
          ),
    );
    if (focused) list.querySelector<HTMLElement>(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  };
  const causes = () => page.result.some(({ cause }) => cause !== null);
  const cause = ({ id, cause }: Restaurant) =>
    cause !== null &&
    h(
      "details",
      {
        open: opened.has(id),
        ontoggle: (event: Event) => {
          if ((event.currentTarget as HTMLDetailsElement).open) opened.add(id);
          else opened.delete(id);
        },
      },
      h("summary", { "data-key": "cause " + id }, briefly(cause)),
      h("p", {}, why(cause)),
    );
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
    const box = h("input", {
      type: "checkbox",
      "data-id": one.id,
      "data-key": "select " + one.id,
      "aria-label": `Select ${name}`,
      onchange: () => select([one.id], box.checked),
    });
    box.checked = selected.has(one.id);
    return h(
      "tr",
      { "data-testid": "restaurant", "data-id": one.id },
      mayAct() && cell("Select", box),
      rowHead(
        link("/restaurants/" + encodeURIComponent(one.id), { "data-key": "open " + one.id }, name),
        h("small", {}, one.id),
      ),
      cell("State", states(one)),
      causes() && cell("Cause", cause(one)),
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
        run
          ? [badge(run.state, "plain"), h("progress", { "aria-label": `Run of ${name}` })]
          : [outcome(one.lastOutcome), one.lastRunAt !== null && h("small", {}, ago(one.lastRunAt))],
      ),
      mayAct() &&
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

function ago(at: string): string {
  return `${span((Date.now() - Date.parse(at)) / 1000)} ago`;
}

/** Returns the badges of a restaurant's states. */
export function states(one: Restaurant): HTMLElement[] {
  if (one.states.length === 0) return [badge("healthy", "good")];
  return one.states.map((state) =>
    badge(state, ["stale", "held", "waiting", "paused"].includes(state) ? "warn" : "bad"),
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
