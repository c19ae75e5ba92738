// The changes of all menus on one day.

import { query } from "./api";
import { cell, h, put, rowHead, table, type Child } from "./dom";
import { count, dayOf, moment, period } from "./format";
import type { MenuChange, Run } from "./model";
import { restaurantLink } from "./names";
import { pages } from "./pager";
import { link, type View } from "./view";

export const dailyChanges: View = async (root, { params, signal, go }) => {
  const today = new Date();
  const yesterday = new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1);
  const day = params.get("day") ?? dayOf(yesterday);
  const choose = h("input", {
    type: "date",
    value: day,
    max: dayOf(today),
    onchange: () => go("/changes" + query({ day: choose.value })),
  });
  const list = h("div", { class: "rows" });
  put(
    root,
    h("h1", { tabindex: -1 }, "Menu changes"),
    h("p", {}, h("label", { class: "inline" }, "Day ", choose)),
    list,
  );
  const words: [string, string] = ["change", "changes"];
  await pages<MenuChange>(list, { path: "/v1/ops/changes", params: period(day), words, draw }, signal);
};

function draw(all: MenuChange[]): Child {
  if (all.length === 0) return h("p", { class: "empty" }, "No menu changed on this day.");
  return table(
    "Changes, newest first",
    ["Restaurant", "Time", "Changes", "Started by", ""],
    all.map(({ run, restaurantName }) =>
      h(
        "tr",
        { "data-testid": "change", "data-id": run.restaurant },
        rowHead(restaurantLink(run.restaurant, restaurantName)),
        cell("Time", moment(run.finishedAt)),
        cell("Changes", summary(run)),
        cell("Started by", run.trigger === "manual" ? run.by.join(", ") || "manual" : run.trigger),
        h("td", { class: "acts" }, comparison(run, restaurantName ?? run.restaurant)),
      ),
    ),
  );
}

function comparison(run: Run, name: string): Child {
  if (!run.from) return "first menu";
  const to = `/restaurants/${encodeURIComponent(run.restaurant)}` + query({ from: run.from, to: run.version });
  return link(to, { "aria-label": `Compare version ${run.from} of ${name} with ${run.version}` }, "Compare");
}

function summary(run: Run): Child {
  const { added, removed, changed } = run.changes;
  const text = `${count(added, "dish", "dishes")} added, ${removed} removed, ${changed} changed`;
  return run.rollback ? [text, h("small", {}, `Rollback to version ${run.rollback.version}`)] : text;
}
