// Orders by state. The default filter shows orders that need resolving.

import { ask, query } from "./api";
import { during, showError } from "./ask";
import { cell, h, pause, put, rowHead, table } from "./dom";
import { badge, count, missingOrders, moment, orderState, price, telephone } from "./format";
import type { Order, OrderPage } from "./model";
import { resolveSelected } from "./resolve";
import { link, type View } from "./view";
import { mayAct } from "./rights";

const pageSize = 50;
const again = 10_000; // between two reloads, in milliseconds; there are no events for orders

const filters: [string, string][] = [
  ["unknown", "Needs resolving"],
  ["placing", "Placing"],
  ["placed", "Placed"],
  ["refused", "Refused"],
  ["not_sent", "Not sent"],
  ["closed", "Closed"],
  ["rejected", "Rejected"],
  ["all", "All"],
];

export const orders: View = async (root, { params, signal }) => {
  const state = params.get("state") ?? "unknown";
  const cursors: (string | null)[] = [null];
  let page: OrderPage = { result: [], next: null, unreadable: [], paused: [] };
  const selected = new Set<string>(); // refs; only of the current page
  const list = h("div", { class: "list" });
  const missing = h("p", { class: "fault", role: "alert", hidden: true });
  const bar = h("div", { class: "selection", role: "group", "aria-label": "Selected orders" });
  const where = h("p", { class: "where", role: "status" });
  const previous = h("button", { type: "button", onclick: () => turn(-1) }, "Previous page");
  const next = h("button", { type: "button", onclick: () => turn(1) }, "Next page");
  put(
    root,
    h("h1", { tabindex: -1 }, "Orders"),
    h(
      "nav",
      { class: "chips", "aria-label": "By state" },
      filters.map(([name, words]) =>
        link(
          "/orders" + query({ state: name }),
          { class: "chip", ...(name === state ? { "aria-current": "true" } : {}) },
          words,
        ),
      ),
    ),
    state === "unknown" &&
      h(
        "p",
        {},
        "The ordering service did not confirm whether these orders took effect. Call the restaurant, then record the outcome.",
      ),
    missing,
    bar,
    list,
    h("div", { class: "pager" }, previous, where, next),
  );
  const select = (refs: string[], on: boolean) => {
    for (const ref of refs)
      if (on) selected.add(ref);
      else selected.delete(ref);
    for (const box of list.querySelectorAll<HTMLInputElement>("input[data-key]"))
      box.checked = selected.has(box.dataset.key ?? "");
    drawBar();
  };
  const resolve = (event: Event) =>
    void during(event.currentTarget as HTMLButtonElement, async () => {
      const orders = page.result.filter((one) => selected.has(one.ref));
      if (!(await resolveSelected(orders, signal))) return;
      selected.clear();
      await load();
      root.querySelector<HTMLElement>("h1")?.focus();
    });
  const resolveButton = h("button", { type: "button", class: "main", onclick: resolve });
  const selectedCount = h("p", { role: "status" });
  const selectors = h("div", { class: "buttons" });
  const drawBar = () => {
    put(selectedCount, count(selected.size, "order") + " selected");
    put(
      resolveButton,
      selected.size === 0 ? "Resolve selected…" : `Resolve ${count(selected.size, "selected order")}…`,
    );
    resolveButton.disabled = selected.size === 0;
  };
  const drawSelectors = () => {
    const focused = document.activeElement?.getAttribute("data-code");
    put(
      selectors,
      codes(page.result).map(([code, refs]) =>
        h(
          "button",
          { type: "button", "data-code": code, onclick: () => select(refs, true) },
          `Select code ${code} (${refs.length})`,
        ),
      ),
      h("button", { type: "button", "data-code": "", onclick: () => select([...selected], false) }, "Select none"),
    );
    if (focused !== null && focused !== undefined)
      selectors.querySelector<HTMLElement>(`[data-code="${CSS.escape(focused)}"]`)?.focus();
  };
  if (state === "unknown" && mayAct()) put(bar, selectors, selectedCount, resolveButton);
  const load = async () => {
    page = await ask<OrderPage>(
      "/v1/ops/orders" + query({ state: state === "all" ? "" : state, limit: pageSize, cursor: cursors.at(-1) }),
      { signal },
    );
    const focused = list.contains(document.activeElement) ? document.activeElement : null;
    const key = focused?.getAttribute("data-key"),
      href = focused?.getAttribute("href");
    for (const ref of selected) if (!page.result.some((one) => one.ref === ref)) selected.delete(ref);
    previous.disabled = cursors.length === 1;
    next.disabled = page.next === null;
    const text = missingOrders(page);
    missing.hidden = text === "";
    if (missing.textContent !== text) put(missing, text); // not announced again at each reload
    put(where, `Page ${cursors.length}, ${count(page.result.length, "order")}`);
    if (page.result.length === 0) {
      const none = state === "unknown" && text === "" ? "No orders need resolving." : "No orders in this state.";
      put(list, h("p", { class: "empty" }, none));
    } else if (state === "unknown") {
      const columns = [...(mayAct() ? ["Select"] : []), "Order", "Restaurant", "Guest", "Unknown", "Total"];
      const rows = page.result.map((one) => unknownRow(one, selected, select));
      put(list, table("Orders that need resolving, newest first", columns, rows));
    } else {
      const columns = ["Order", "Restaurant", "State", "Total", "Placed by"];
      put(list, table("Orders, newest first", columns, page.result.map(row)));
    }
    bar.hidden = !mayAct() || state !== "unknown" || page.result.length === 0;
    drawSelectors();
    drawBar();
    if (key) list.querySelector<HTMLElement>(`input[data-key="${CSS.escape(key)}"]`)?.focus();
    else if (href) list.querySelector<HTMLElement>(`a[href="${CSS.escape(href)}"]`)?.focus();
  };
  const turn = (by: number) => {
    selected.clear();
    if (by > 0) cursors.push(page.next);
    else cursors.pop();
    void load()
      .then(() => root.querySelector<HTMLElement>("h1")?.focus())
      .catch(showError);
  };
  await load();
  void (async () => {
    while (await pause(again, signal)) if (!document.hidden) await load().catch(showError);
  })();
};

/** Returns the codes of the responses, each with the refs of its orders. */
function codes(orders: Order[]): [string, string[]][] {
  const all = new Map<string, string[]>();
  for (const { ref, unknown } of orders)
    if (unknown?.code) all.set(unknown.code, [...(all.get(unknown.code) ?? []), ref]);
  return [...all];
}

function unknownRow(
  order: Order,
  selected: Set<string>,
  select: (refs: string[], on: boolean) => void,
): HTMLTableRowElement {
  const { unknown } = order;
  const name = order.orderID ? `Order ${order.orderID}` : "Order without a number";
  const box = h("input", {
    type: "checkbox",
    "data-key": order.ref,
    "aria-label": `Select ${name}, ref ${order.ref}`,
    onchange: () => select([order.ref], box.checked),
  });
  box.checked = selected.has(order.ref);
  return h(
    "tr",
    { "data-testid": "order", "data-ref": order.ref },
    mayAct() && cell("Select", box),
    rowHead(link("/orders/" + encodeURIComponent(order.ref), {}, name), h("small", {}, moment(order.createdAt))),
    cell(
      "Restaurant",
      order.restaurantName ?? order.restaurant ?? "–",
      unknown?.restaurantPhone && h("small", {}, telephone(unknown.restaurantPhone)),
    ),
    cell("Guest", unknown?.guestPhone ? telephone(unknown.guestPhone) : "–"),
    cell(
      "Unknown",
      unknown?.operation ?? "–",
      h("small", {}, [unknown?.status, unknown?.code].filter(Boolean).join(" ") || "no response"),
    ),
    cell("Total", price(order.total), order.paid && badge("paid", "good")),
  );
}

function row(order: Order): HTMLTableRowElement {
  return h(
    "tr",
    { "data-testid": "order", "data-ref": order.ref },
    rowHead(
      link(
        "/orders/" + encodeURIComponent(order.ref),
        {},
        order.orderID ? `Order ${order.orderID}` : "Order without a number",
      ),
      h("small", {}, moment(order.createdAt)),
    ),
    cell("Restaurant", order.restaurantName ?? order.restaurant ?? "–"),
    cell("State", orderState(order.state), order.paid && badge("paid", "good")),
    cell("Total", price(order.total)),
    cell("Placed by", order.client, h("small", {}, order.connection)),
  );
}
