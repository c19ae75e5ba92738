// The audit log.

import { ask, query } from "./api";
import { showError } from "./ask";
import { cell, h, put, rowHead, table, type Child } from "./dom";
import { badge, count, moment } from "./format";
import type { AuditEntry, Page } from "./model";
import { restaurantLink } from "./names";
import { link, type View } from "./view";

const pageSize = 50;

const names: Record<string, string> = {
  sync: "synced",
  force: "forced",
  sync_all: "synced all",
  force_all: "forced all",
  rollback: "rolled back",
  release: "released",
  resolve: "resolved",
  accept_restore: "accepted restored data",
  sign_in: "signed in",
  sign_out: "signed out",
};

export const audit: View = async (root, { params, signal, go }) => {
  const action = params.get("action") ?? "";
  const cursors: (string | null)[] = [null];
  let page: Page<AuditEntry> = { result: [], next: null };
  const list = h("div", { class: "list" });
  const where = h("p", { class: "where", role: "status" });
  const previous = h("button", { type: "button", onclick: () => turn(-1) }, "Newer");
  const next = h("button", { type: "button", onclick: () => turn(1) }, "Older");
  const choose = h(
    "select",
    { onchange: () => go("/audit" + query({ action: choose.value })) },
    h("option", { value: "" }, "all actions"),
    Object.entries(names).map(([name, words]) => h("option", { value: name, selected: name === action }, words)),
  );
  put(
    root,
    h("h1", { tabindex: -1 }, "Audit log"),
    h("p", {}, h("label", { class: "inline" }, "Show ", choose)),
    list,
    h("div", { class: "pager" }, previous, where, next),
  );
  const load = async () => {
    page = await ask<Page<AuditEntry>>("/v1/ops/audit" + query({ action, limit: pageSize, cursor: cursors.at(-1) }), {
      signal,
    });
    previous.disabled = cursors.length === 1;
    next.disabled = page.next === null;
    put(where, `Page ${cursors.length}, ${count(page.result.length, "entry", "entries")}`);
    put(list, auditTable(page.result, true));
  };
  const turn = (by: number) => {
    if (by > 0) cursors.push(page.next);
    else cursors.pop();
    void load().catch(showError);
  };
  await load();
};

/** Returns a table of entries. If about, it has a column with the subject of each entry. */
export function auditTable(all: AuditEntry[], about: boolean): Child {
  if (all.length === 0) return h("p", { class: "empty" }, "No entries yet.");
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
