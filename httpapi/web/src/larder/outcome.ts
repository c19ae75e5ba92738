// The message about an order that was sent: see "What to show a guest" in
// docs/http.md.

import { h } from "./dom";
import type { Speech } from "./groups";
import type { Intent } from "./place";

export interface Ways { again(): void; anew(): void }

/** outcome shows the state of the intent and the buttons for it. */
export function outcome(element: HTMLElement, intent: Intent | null, asking: boolean, speech: Speech, ways: Ways): void {
  const shape = intent ? `${intent.key} ${intent.state} ${asking} ${intent.orderID} ${speech.message("again")}` : "";
  if (element.dataset.shape === shape) return; // unchanged: screen readers would read it again
  element.dataset.shape = shape;
  element.dataset.state = intent?.state ?? "";
  element.hidden = intent === null;
  if (!intent) {
    element.replaceChildren();
    return;
  }
  const button = (key: "askAgain" | "sendAgain" | "changeOrder" | "orderMore", work: () => void): HTMLElement => h("button", { type: "button", onclick: work, part: "outcome-button", "data-does": key }, speech.message(key));
  const id = intent.orderID ?? "";
  const shown: (Node | string)[] = [];
  switch (intent.state) {
    case "sending":
      shown.push(h("p", {}, speech.message("sending")));
      break;
    case "lost":
      shown.push(h("p", { class: "wrong" }, speech.message("lost")), button("askAgain", ways.again));
      break;
    case "unknown":
      shown.push(h("p", { class: "wrong" }, speech.message("unknown")));
      if (!asking) shown.push(button("askAgain", ways.again));
      break;
    case "unsent":
      shown.push(h("p", { class: "wrong" }, speech.message("unsent")), button("sendAgain", ways.again), button("changeOrder", ways.anew));
      break;
    case "refused":
      shown.push(h("p", { class: "wrong" }, speech.message("refused")), intent.message ? h("p", {}, intent.message) : "", button("changeOrder", ways.anew));
      break;
    case "placed":
      shown.push(intent.rejected ? h("p", { class: "wrong" }, speech.message("placedRejected", { id })) : h("p", { class: "good", part: "order-id" }, speech.message("placed", { id })),
        button("orderMore", ways.anew));
  }
  element.replaceChildren(...shown);
}
