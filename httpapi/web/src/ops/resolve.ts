// Resolving several orders with one outcome and one reason.

import { ask } from "./api";
import { question, showMessage } from "./ask";
import { h } from "./dom";
import { count } from "./format";
import type { Order } from "./model";

interface Resolved {
  ref: string;
  resolved: boolean;
  msg: string | null;
}

/** Asks for the outcome and the reason, and records them for each order. Resolves to false if cancelled. */
export async function resolveSelected(orders: Order[], signal: AbortSignal): Promise<boolean> {
  const operations = [...new Set(orders.map((one) => one.unknown?.operation ?? "create"))];
  const creates = operations.includes("create");
  const choice = (value: string, title: string, why: string, disabled = false) =>
    h(
      "label",
      { class: "choice" },
      h("input", { type: "radio", name: "outcome", value, required: true, disabled }),
      h("span", {}, h("b", {}, title), h("small", {}, why)),
    );
  const fields = h(
    "div",
    {},
    h(
      "fieldset",
      {},
      h("legend", {}, "Outcome of all of them"),
      choice(
        "not_done",
        creates ? "The restaurants don't have them" : "The restaurants haven't recorded them",
        creates ? "Mark the orders as not placed. The guests will see this." : "Mark them as not done.",
      ),
      choice(
        "done",
        "They took effect",
        creates
          ? "Not possible for new orders: each needs its order number. Resolve them one by one."
          : "Mark them as done.",
        creates,
      ),
    ),
    h(
      "label",
      {},
      "Reason, stored with each order (who you spoke to)",
      h("textarea", { name: "note", rows: 2, maxlength: 1000, required: true }),
    ),
    h(
      "label",
      { class: "choice" },
      h("input", { type: "checkbox", required: true }),
      h("span", {}, "I have checked each of these orders with its restaurant."),
    ),
  );
  const yes = await question({
    title: `Resolve ${count(orders.length, "order")}?`,
    yes: "Resolve",
    danger: true,
    fields,
    body: [
      h("p", {}, "You can't undo this."),
      h(
        "ul",
        { class: "scroll" },
        orders.map((one) =>
          h(
            "li",
            {},
            `${one.orderID ? `Order ${one.orderID}` : `ref ${one.ref}`}, ${one.restaurantName ?? one.restaurant ?? "restaurant not known"}: ${one.unknown?.operation ?? "create"} ${one.unknown?.code ?? ""}`.trim(),
          ),
        ),
      ),
    ],
  });
  if (!yes) return false;
  const outcome = fields.querySelector<HTMLInputElement>('input[name="outcome"]:checked')?.value;
  const note = fields.querySelector("textarea")?.value.trim();
  const skipped: Resolved[] = [];
  for (const operation of operations) {
    const same = orders.filter((one) => (one.unknown?.operation ?? "create") === operation);
    const refs = same.map((one) => one.ref);
    const calls = Object.fromEntries(same.flatMap((one) => (one.unknown ? [[one.ref, one.unknown.call]] : [])));
    const { result } = await ask<{ result: Resolved[] }>("/v1/ops/orders/resolve", {
      method: "POST",
      signal,
      body: { refs, calls, operation, outcome, note },
    });
    skipped.push(...result.filter((one) => !one.resolved));
  }
  const done = `${count(orders.length - skipped.length, "order")} resolved.`;
  if (skipped.length === 0) showMessage(done);
  else
    showMessage(
      `${done} ${count(skipped.length, "order")} skipped: ${skipped.map((one) => `${one.ref}: ${one.msg}`).join("; ")}`,
      true,
    );
  return true;
}
