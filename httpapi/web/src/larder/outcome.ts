// The message about an order that was sent: see "What to show a guest" in
// docs/http.md.

import { h } from "./dom";
import type { Formatter } from "./groups";
import type { Intent } from "./place";

export interface OutcomeActions { again(): void; startOver(): void }

/** outcome shows the state of the intent and the buttons for it. */
export function outcome(element: HTMLElement, intent: Intent | null, asking: boolean, formatter: Formatter, actions: OutcomeActions): void {
  const shape = intent ? `${intent.key} ${intent.state} ${asking} ${intent.orderID} ${formatter.message("again")}` : "";
  if (element.dataset.shape === shape) return; // unchanged: screen readers would read it again
  element.dataset.shape = shape;
  element.dataset.state = intent?.state ?? "";
  element.hidden = intent === null;
  if (!intent) {
    element.replaceChildren();
    return;
  }
  const button = (key: "askAgain" | "sendAgain" | "changeOrder" | "orderMore", work: () => void): HTMLElement => h("button", { type: "button", onclick: work, part: "outcome-button", "data-does": key }, formatter.message(key));
  const id = intent.orderID ?? "";
  const shown: (Node | string)[] = [];
  switch (intent.state) {
    case "sending":
      shown.push(h("p", {}, formatter.message("sending")));
      break;
    case "lost":
      shown.push(h("p", { class: "wrong" }, formatter.message("lost")), button("askAgain", actions.again));
      break;
    case "unknown":
      shown.push(h("p", { class: "wrong" }, formatter.message("unknown")));
      if (!asking) shown.push(button("askAgain", actions.again));
      break;
    case "unsent":
      shown.push(h("p", { class: "wrong" }, formatter.message("unsent")), button("sendAgain", actions.again), button("changeOrder", actions.startOver));
      break;
    case "refused":
      shown.push(h("p", { class: "wrong" }, formatter.message("refused")), intent.message ? h("p", {}, intent.message) : "", button("changeOrder", actions.startOver));
      break;
    case "placed":
      shown.push(intent.rejected ? h("p", { class: "wrong" }, formatter.message("placedRejected", { id })) : h("p", { class: "good", part: "order-id" }, formatter.message("placed", { id })),
        button("orderMore", actions.startOver));
  }
  element.replaceChildren(...shown);
}
