// What became of an order, and the confirmation: see "Place the order once" in
// docs/order-form.md. It shows only what larder knows, no states of the kitchen.

import { h } from "./dom";
import type { Formatter } from "./groups";
import { checkoutFile } from "./lazy";
import { busy, orderIDOf, overdue, repeatable, type Intent } from "./place";
import type { Line } from "./basket";
import type { Key } from "./texts";

/** Origin is the restaurant of an order, and the language and format of the texts. */
export interface Origin {
  name: string;
  phone: string;
  address: string;
  zone: string;
  language: string;
  format: string;
}

const quiet: Key[] = ["sending", "offline", "checking"]; // neither good nor wrong

export interface OutcomeActions {
  again(): void;
  change(): void;
  startOver(): void;
  reorder(lines: Line[]): void;
  loaded(): void;
}

/** Outcome shows the intent. Its status is announced by screen readers, the confirmation below it is not. */
export class Outcome {
  private readonly status = h("div", { role: "status" });
  private readonly more = h("div", { class: "more" });
  readonly element = h("div", { part: "outcome", tabindex: "-1", hidden: true }, this.status, this.more);
  private shape = "";

  constructor(
    private readonly f: Formatter,
    private readonly actions: OutcomeActions,
  ) {}

  draw(intent: Intent | null, asking: boolean, online: boolean, from: Origin): void {
    const { module } = checkoutFile;
    const shape = intent
      ? JSON.stringify([{ ...intent, sent: 0, maybe: 0, again: 0 }, asking, online, from, !!module])
      : ""; // without what each request changes
    if (shape === this.shape) return; // unchanged: screen readers would read it again
    this.shape = shape;
    this.element.dataset.state = intent?.state ?? "";
    this.element.hidden = intent === null;
    if (!intent) {
      this.status.replaceChildren();
      this.more.replaceChildren();
      return;
    }
    const [words, buttons] = this.words(intent, asking, online);
    for (const other of intent.also ?? []) words.push(["placedAlso", false, other.orderID ?? ""]);
    const said = words.map(([key, good, id]) => {
      const colour = good ? "good" : "wrong";
      return h(
        "p",
        { class: quiet.includes(key) ? "" : colour, ...(key.startsWith("placed") && { part: "order-id" }) },
        this.f.message(key, { id: id ?? orderIDOf(intent) }),
      );
    });
    if (intent.state === "placed" && intent.reason)
      said.push(h("p", { part: "reason" }, this.f.message("reason", { text: intent.reason })));
    const text = said.map((p) => p.textContent).join("");
    if (this.status.textContent !== text) this.status.replaceChildren(...said);
    const button = (key: Key, work: () => void): HTMLElement =>
      h("button", { type: "button", part: "outcome-button", "data-does": key, onclick: work }, this.f.message(key));
    const work: Partial<Record<Key, () => void>> = {
      askAgain: this.actions.again,
      sendAgain: this.actions.again,
      changeOrder: this.actions.change,
      orderMore: this.actions.startOver,
      orderAgain: () => this.actions.reorder(intent.lines),
      print: () => print(),
    };
    const call =
      from.phone &&
      (intent.state !== "placed" || intent.rejected || intent.unknownChange === "reject") &&
      intent.state !== "sending" &&
      intent.state !== "offline"
        ? h(
            "p",
            {},
            this.f.message("call"),
            " ",
            module
              ? module.callTo(from.phone)
              : (void checkoutFile.load().then(this.actions.loaded), h("bdi", { dir: "ltr" }, from.phone)),
          )
        : "";
    const loaded = (): void => {
      this.shape = "";
      this.actions.loaded();
    };
    let receipt: HTMLElement | "" = "";
    if (intent.state === "placed" || busy(intent))
      receipt = module?.receipt(intent, from, this.f) ?? checkoutFile.pending(this.f, loaded);
    const focused = this.more.matches(":focus-within");
    this.more.replaceChildren(
      intent.state === "refused" && intent.message ? h("p", {}, intent.message) : "",
      call,
      receipt,
      h("div", { class: "row buttons" }, ...buttons.map((key) => button(key, work[key]!))),
    );
    if (focused) this.element.focus(); // the button is gone
  }

  /** words returns the messages, each with whether it is good, and the buttons. */
  private words(intent: Intent, asking: boolean, online: boolean): [[Key, boolean, string?][], Key[]] {
    switch (intent.state) {
      case "sending":
      case "checking":
        return [[[intent.state, false]], asking || !online ? [] : ["askAgain"]];
      case "offline":
        return online && overdue(intent)
          ? [[["offlineLong", false]], ["sendAgain", "changeOrder"]]
          : [[["offline", false]], ["changeOrder"]];
      case "lost":
        return online ? [[["lost", false]], ["askAgain"]] : [[["lostOffline", false]], []];
      case "unknown":
        if (intent.idle && !asking) return [[["unchecked", false]], online && repeatable(intent) ? ["sendAgain"] : []];
        return [
          [["unknown", false], ...(online ? [] : [["checkLater", false] as [Key, boolean]])],
          asking || !online ? [] : ["askAgain"],
        ];
      case "unsent":
        return [[["unsent", false]], ["sendAgain", "changeOrder"]];
      case "refused":
        return [[["refused", false]], ["changeOrder"]];
      case "placed": {
        let state: [Key, boolean] = [intent.closed ? "placedClosed" : "placed", true];
        if (intent.rejected) state = ["placedRejected", false];
        else if (intent.unknownChange === "reject") state = ["placedMaybeRejected", false];
        return [
          [state, ...(intent.paid ? [["paid", true] as [Key, boolean]] : [])],
          ["orderMore", "orderAgain", "print"],
        ];
      }
    }
  }
}
