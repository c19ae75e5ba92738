// One order: the contact of the restaurant, the calls, and the form that resolves
// an unknown outcome.

import { result } from "./api";
import { during, question, showMessage } from "./ask";
import { cell, h, put, rowHead, table, type Child } from "./dom";
import { badge, moment, orderState, outcome, price, telephone } from "./format";
import type { Call, Order } from "./model";
import { link, type View } from "./view";
import { mayAct } from "./rights";

export const order: View = async (root, { id, signal }) => {
  const path = "/v1/ops/orders/" + encodeURIComponent(id);
  const load = async () => draw(await result<Order>(path, { signal }));
  const draw = (one: Order) => {
    const open = one.calls?.findLast((call) => call.outcome === "unknown");
    const create = one.calls?.find((call) => call.operation === "create");
    const sent = create?.sent;
    put(
      root,
      h("p", { class: "back" }, link("/orders", {}, "← Orders")),
      h("h1", { tabindex: -1 }, one.orderID ? `Order ${one.orderID}` : "Order without a number"),
      h(
        "p",
        { class: "facts" },
        orderState(one.state),
        one.paid && badge("paid", "good"),
        h("span", {}, `ref ${one.ref}`),
      ),
      open && mayAct() && resolveForm(one, open, path, signal, load),
      h(
        "div",
        { class: "cards" },
        h(
          "div",
          { class: "card" },
          h("h2", {}, "Restaurant"),
          facts([
            ["Name", one.restaurantName ?? "–"],
            ["Phone", one.restaurantPhone ? telephone(one.restaurantPhone) : "none in the configuration"],
            ["Address", one.restaurantAddress ?? "–"],
            ["ID", one.restaurant ?? "–"],
            ["Connection", one.connection],
          ]),
        ),
        h(
          "div",
          { class: "card" },
          h("h2", {}, "Order"),
          facts([
            ["Number", one.orderID ?? "not known"],
            ["Total", price(one.total)],
            ["Ordered", moment(one.createdAt)],
            ["Expected", moment(one.expectedAt)],
            ["Placed by", one.client],
            ["Request", create?.requestId ?? "–"],
          ]),
        ),
        h("div", { class: "card" }, h("h2", {}, "Guest"), guest(sent)),
        h("div", { class: "card" }, h("h2", {}, "Dishes"), dishes(sent)),
      ),
      h("section", { "aria-label": "Calls" }, h("h2", {}, "Calls to the ordering service"), calls(one.calls ?? [])),
    );
  };
  await load();
};

function facts(all: [string, Child][]): HTMLElement {
  return h(
    "dl",
    {},
    all.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
  );
}

function text(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** Returns a member of an object. Clients spell names in different cases. */
function member(of: any, name: string): any {
  if (of === null || typeof of !== "object") return undefined;
  const key = Object.keys(of).find((key) => key.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : of[key];
}

function guest(sent: any): HTMLElement {
  if (!sent) return h("p", {}, "Not available: the stored order has expired, or larder did not place this order.");
  const person = member(sent, "guest"),
    address = member(sent, "address");
  const phone = text(member(person, "phone"));
  const change = text(member(sent, "changeFrom"));
  return facts([
    [
      "Name",
      [text(member(person, "firstName")) || text(member(person, "name")), text(member(person, "lastName"))]
        .filter(Boolean)
        .join(" ") || "–",
    ],
    ["Phone", phone ? telephone(phone) : "–"],
    ["Address", text(member(address, "fullAddress")) || "–"],
    ["Type", text(member(sent, "expeditionType")) || "–"],
    ["Payment", [text(member(sent, "paymentTypeID")) || "–", change && `, change for ${change}`]],
    ["Comment", text(member(sent, "comment")) || "–"],
  ]);
}

function dishes(sent: any): HTMLElement {
  const list: any[] = member(sent, "dishList") ?? [];
  if (list.length === 0) return h("p", {}, "Not available.");
  return h(
    "ul",
    { class: "dishes" },
    list.map((dish) =>
      h(
        "li",
        {},
        position(dish),
        member(dish, "price") !== undefined && ` at ${price(Number(member(dish, "price")))}`,
        h(
          "ul",
          {},
          (member(dish, "ingredients") ?? []).map((one: any) => h("li", {}, position(one))),
        ),
      ),
    ),
  );
}

/** Returns a dish as text, such as "2 × Latte". */
function position(one: any): Child {
  return [
    `${text(member(one, "quantity")) || 1} × `,
    h("bdi", {}, text(member(one, "name")) || text(member(one, "id"))),
  ];
}

function calls(all: Call[]): HTMLElement {
  return table(
    "Calls, oldest first",
    ["Call", "Outcome", "Time", "Response", "Resolved"],
    all.map((call) =>
      h(
        "tr",
        {},
        rowHead(call.operation),
        cell(
          "Outcome",
          outcome(call.outcome),
          call.contradicted && [
            badge("contradicted", "bad"),
            h(
              "small",
              {},
              `a later response of the service: ${call.contradicted}${call.foundOrderID ? `, order ${call.foundOrderID}` : ""}`,
            ),
          ],
        ),
        cell("Time", moment(call.startedAt), h("small", {}, `by ${call.client}, request ${call.requestId}`)),
        cell(
          "Response",
          call.answer
            ? [`${call.answer.status} ${call.answer.code ?? ""}`, call.answer.msg && h("small", {}, call.answer.msg)]
            : "none",
        ),
        cell(
          "Resolved",
          call.settled
            ? [
                `${call.settled.outcome.replace("_", " ")} by ${call.settled.by}`,
                h("small", {}, moment(call.settled.at), call.settled.note ? `: ${call.settled.note}` : ""),
              ]
            : "–",
        ),
      ),
    ),
  );
}

const names: Record<string, string> = {
  create: "the order",
  pay: "the payment",
  complete: "the completion",
  reject: "the rejection",
};

/** Returns the form that records an outcome. */
function resolveForm(
  one: Order,
  call: Call,
  path: string,
  signal: AbortSignal,
  then: () => Promise<void>,
): HTMLElement {
  const what = names[call.operation] ?? call.operation;
  const creates = call.operation === "create";
  // A refusal of the second copy of a change says nothing about the first one (policy O8b).
  const again =
    !creates &&
    one.calls?.some(
      ({ number, operation, settled }) =>
        number < call.number && operation === call.operation && settled?.outcome === "send_again",
    );
  const titles: Record<string, string> = {
    done: creates ? "The restaurant has the order" : `The restaurant has recorded ${what}`,
    not_done: creates ? "The restaurant doesn't have the order" : `The restaurant hasn't recorded ${what}`,
    send_again: `Resend ${what}`,
  };
  const choice = (value: string, why: string) =>
    h(
      "label",
      { class: "choice" },
      h("input", {
        type: "radio",
        name: "outcome",
        value,
        required: true,
        onchange: () => {
          number.hidden = !creates || value !== "done";
          orderID.required = !number.hidden;
        },
      }),
      h("span", {}, h("b", {}, titles[value]), h("small", {}, why)),
    );
  const orderID = h("input", { name: "orderID", autocomplete: "off", maxlength: 200 });
  const number = h("label", { hidden: true }, "Order number at the restaurant", orderID);
  const note = h("textarea", { name: "note", rows: 2, maxlength: 1000 });
  const submit = h("button", { type: "submit", class: "main" }, "Resolve…");
  const form = h(
    "form",
    {
      class: "resolve",
      "aria-label": "Resolve",
      onsubmit: (event: Event) => {
        event.preventDefault();
        void during(submit, async () => {
          const outcome = new FormData(form).get("outcome") as string;
          const yes = await question({
            title: "Record this outcome?",
            yes: "Resolve",
            danger: true,
            body: [
              h("p", {}, `${titles[outcome]}. You can't undo this.`),
              outcome === "send_again" &&
                creates &&
                one.expectedAt &&
                new Date(one.expectedAt) < new Date() &&
                h(
                  "p",
                  {},
                  "The order's expected time, ",
                  moment(one.expectedAt),
                  ", has passed. larder sends it with this time.",
                ),
            ],
          });
          if (!yes) return;
          const resolved = await result<Order>(path + "/resolve", {
            method: "POST",
            signal,
            body: {
              operation: call.operation,
              call: call.number,
              outcome,
              ...(creates && outcome === "done" ? { orderID: orderID.value.trim() } : {}),
              ...(note.value.trim() ? { note: note.value.trim() } : {}),
            },
          });
          const last = resolved.attempts.findLast((other) => other.operation === call.operation && other.by === null);
          showMessage((outcome === "send_again" && last && sentAgain[last.outcome]) || "Resolved.");
          await then();
          document.querySelector<HTMLElement>("h1")?.focus();
        });
      },
    },
    h("h2", {}, creates ? "Does the restaurant have the order?" : `Has the restaurant recorded ${what}?`),
    h(
      "p",
      {},
      `Call ${one.restaurantName ?? "the restaurant"}`,
      one.restaurantPhone && [" on ", telephone(one.restaurantPhone)],
      ` and ask whether they have ${creates ? "this order" : `${what} of order ${one.orderID ?? ""}`}. The ordering service did not confirm it.`,
    ),
    h(
      "fieldset",
      {},
      h("legend", {}, "Outcome"),
      choice("done", creates ? "Mark the order as placed." : `Mark ${what} as done.`),
      choice("not_done", creates ? "Mark it as not placed. The guest will see this." : "Mark it as not done."),
      choice(
        "send_again",
        "The restaurant doesn't have it. larder sends it once more. This is possible until its data expires.",
      ),
    ),
    number,
    h("label", {}, "Note (who you spoke to)", note),
    h("p", {}, submit),
    call.answer &&
      (call.answer.code || again) &&
      h(
        "p",
        {},
        `The service answered ${again ? "the second copy with " : ""}${call.answer.status} ${call.answer.code ?? ""}${call.answer.msg ? `: ${call.answer.msg}` : ""}`,
        again && ". Look whether the first one took effect.",
        !again &&
          mayRefuse(call.answer.status, creates) &&
          !timeWords.test(call.answer.msg ?? "") && [
            ". If this code always means that it refused, add this to the connection and restart larder: ",
            h("code", {}, `refusal_codes: [${JSON.stringify(call.answer.code)}]`),
          ],
      ),
  );
  return form;
}

/** What became of a call that was sent again, by its outcome. */
const sentAgain: Record<string, string | undefined> = {
  done: "Sent again. It took effect.",
  refused: "Sent again, and the ordering service refused it.",
  not_sent:
    "Not sent, because the ordering service could not be reached. larder won't send it again; the guest or the storefront can.",
  unknown: "Sent again, and again it isn't known whether it took effect. Ask the restaurant.",
  open: "Sent again, and again it isn't known whether it took effect. Ask the restaurant.",
};

/** An error whose message has one of these does not always mean a refusal (policy O8b). */
const timeWords =
  /time-?out|timed out|expired|таймаут|тайм-аут|время ожидания|срок ожидания|истекло|(task|operation) was cancel|connection reset|hang up|no response|not respond|не ответил|не отвечает|нет ответа/i;

/** Reports whether refusal_codes can make responses with this status refusals (policy O8b). */
function mayRefuse(status: number, creates: boolean): boolean {
  return status < 300 ? !creates : status >= 500 && status <= 599 && status !== 502 && status !== 504;
}
