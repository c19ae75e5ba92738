// The audit log.

import { query } from "./api";
import { cell, h, put, rowHead, table, type Child } from "./dom";
import { badge, dayOf, moment, period } from "./format";
import type { AuditEntry } from "./model";
import { restaurantLink } from "./names";
import { pages } from "./pager";
import { link, type View } from "./view";

const names: Record<string, string> = {
  sync: "synced",
  force: "forced",
  sync_all: "synced all",
  force_all: "forced all",
  rollback: "rolled back",
  release: "released",
  pause: "paused orders",
  open: "opened",
  busy: "longer lead time",
  busy_end: "usual lead time",
  snooze: "took off the menu",
  wake: "sold again",
  resolve: "resolved",
  accept_restore: "accepted restored data",
  sign_in: "signed in",
  sign_out: "signed out",
};

export const audit: View = async (root, { params, signal, go }) => {
  const action = params.get("action") ?? "",
    client = params.get("client") ?? "",
    day = params.get("day") ?? "";
  const choose = h(
    "select",
    { onchange: () => show() },
    h("option", { value: "" }, "all actions"),
    Object.entries(names).map(([name, words]) => h("option", { value: name, selected: name === action }, words)),
  );
  const by = h("input", { type: "search", value: client, placeholder: "all clients", onchange: () => show() });
  const on = h("input", { type: "date", value: day, max: dayOf(new Date()), onchange: () => show() });
  const show = () => go("/audit" + query({ action: choose.value, client: by.value.trim(), day: on.value }));
  const list = h("div", { class: "rows" });
  put(
    root,
    h("h1", { tabindex: -1 }, "Audit log"),
    h(
      "div",
      { class: "filters" },
      h("label", {}, "Action", choose),
      h("label", {}, "Client", by),
      h("label", {}, "Day", on),
    ),
    list,
  );
  const wanted = { action, client, ...period(day) };
  const draw = (entries: AuditEntry[]) => auditTable(entries, true);
  await pages<AuditEntry>(list, { path: "/v1/ops/audit", params: wanted, words: ["entry", "entries"], draw }, signal);
};

/** Returns a table of entries. If about, it has a column with the subject of each entry. */
export function auditTable(all: AuditEntry[], about: boolean): Child {
  if (all.length === 0) return h("p", { class: "empty" }, "No entries.");
  return table(
    "Actions, newest first",
    ["Time", "Client", "Action", ...(about ? ["Subject"] : []), "Details"],
    all.map((entry) =>
      h(
        "tr",
        { "data-testid": "entry" },
        rowHead(moment(entry.at)),
        cell("Client", entry.client, h("small", {}, entry.via === "session" ? "browser" : "token")),
        cell("Action", badge(names[entry.action] ?? entry.action)),
        about && cell("Subject", subject(entry)),
        cell(
          "Details",
          entry.version !== null && `to version ${entry.version} `,
          entry.detail ?? "",
          h("small", {}, `request ${entry.requestId}`),
        ),
      ),
    ),
  );
}

function subject(entry: AuditEntry): Child {
  const restaurant = entry.restaurant && restaurantLink(entry.restaurant, entry.restaurantName);
  if (entry.ref)
    return [link("/orders/" + encodeURIComponent(entry.ref), {}, "Order"), " ", h("small", {}, entry.ref), restaurant];
  if (restaurant) return restaurant;
  if (entry.batch) return link("/sync/" + encodeURIComponent(entry.batch), {}, "all restaurants");
  return "–";
}
