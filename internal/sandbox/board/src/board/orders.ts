// Orders as the kitchen sees them: a column for each state. Tickets move to the
// next column automatically or by a button.
import { h, refill, say, words, zone } from "./dom";
import { setSettings, type Board, type State, type Ticket } from "./sandbox";
import { TicketCard } from "./ticket";

const columns: { name: string; title: string; holds: State[]; note?: string }[] = [
  { name: "new", title: "New", holds: ["new"] },
  { name: "accepted", title: "Accepted", holds: ["accepted"] },
  { name: "kitchen", title: "Kitchen", holds: ["kitchen"] },
  {
    name: "cash_station",
    title: "Cash station",
    holds: ["cash_station"],
    note: "Ready. Larder completes a paid order, and then it is closed.",
  },
  { name: "ended", title: "Closed or rejected", holds: ["closed", "rejected"] },
];

/** The number of tickets shown; the sandbox sends as many. */
const most = 200;

/** The interval between updates of the age of tickets, in milliseconds. */
const aging = 10_000;

/** The orders view. */
export class Orders {
  readonly title = "Orders";
  readonly root: HTMLElement;
  private readonly cards = new Map<string, TicketCard>();
  private readonly lists = new Map<State, { list: HTMLOListElement; count: HTMLElement }>();
  private readonly summary = h("p", { className: "faint" });
  private readonly empty = h(
    "p",
    { className: "note" },
    "No orders yet. An order that is placed through larder appears here.",
  );
  private readonly auto = h("input", { type: "checkbox", onchange: () => void this.switchAuto() });
  private readonly autoWords = h("span", {}, "Orders advance automatically");
  private readonly refusals = h("ol", { className: "list" });
  private readonly refused = h(
    "section",
    { className: "panel", hidden: true },
    h("h2", {}, "Refused orders, newest first"),
    this.refusals,
  );
  private readonly wrong = h("p", { className: "wrong", role: "alert" });

  constructor() {
    const board = h("div", { className: "columns" });
    for (const { name, title, holds, note } of columns) {
      const count = h("span", { className: "count" }, "0");
      const list = h("ol", { "aria-label": `${title} orders` });
      for (const state of holds) this.lists.set(state, { list, count });
      board.append(
        h(
          "section",
          { className: "column", "data-state": name },
          h("h2", {}, title, count),
          note && h("p", { className: "faint" }, note),
          list,
        ),
      );
    }
    this.root = h(
      "div",
      { className: "view" },
      h(
        "div",
        { className: "bar" },
        h("h1", {}, "Orders"),
        this.summary,
        h("label", { className: "tick" }, this.auto, this.autoWords),
      ),
      this.wrong,
      this.empty,
      board,
      this.refused,
    );
    setInterval(() => this.cards.forEach((card) => card.age()), aging);
  }

  /** Applies new and changed orders. The first ones after a reconnect replace everything. */
  take(changed: Ticket[], total: number, first: boolean): void {
    const arrived: string[] = [];
    if (first) {
      const known = new Set(changed.map((ticket) => ticket.orderID));
      for (const id of [...this.cards.keys()]) if (!known.has(id)) this.drop(id);
    }
    for (const ticket of changed) {
      let card = this.cards.get(ticket.orderID);
      if (!card) {
        card = new TicketCard(ticket, (text) => {
          this.wrong.textContent = text;
        });
        this.cards.set(ticket.orderID, card);
        if (!first) arrived.push(ticket.orderID);
      }
      card.show(ticket, !first);
      this.place(card);
    }
    for (const id of [...this.cards.keys()].slice(0, Math.max(0, this.cards.size - most))) this.drop(id);
    this.empty.hidden = total > 0;
    this.summary.textContent = `${total > this.cards.size ? `The newest ${this.cards.size} of ${total}` : `${total} in total`}. Times are in ${zone}.`;
    for (const { list, count } of this.lists.values()) count.textContent = String(list.childElementCount);
    if (arrived.length > 0)
      say(arrived.length === 1 ? `Order ${arrived[0]} arrived` : `${arrived.length} orders arrived`);
  }

  private drop(id: string): void {
    this.cards.get(id)?.root.remove();
    this.cards.delete(id);
  }

  /** Moves a card to the list of its state, newest first, and keeps the focus. */
  private place(card: TicketCard): void {
    const list = this.lists.get(card.ticket.state)?.list;
    if (!list || card.root.parentElement === list) return;
    const focused = card.root.contains(document.activeElement);
    const older = [...list.children].find((other) => (other as HTMLElement).dataset.at! < card.ticket.createdAt);
    list.insertBefore(card.root, older ?? null);
    if (focused) card.focus();
  }

  board({ settings, refused }: Board): void {
    this.auto.checked = settings.autoAccept === true;
    this.autoWords.textContent = `Orders advance automatically; they are in the kitchen after ${settings.autoAcceptDelay}`;
    this.refused.hidden = refused.length === 0;
    refill(
      this.refusals,
      ...refused.map(({ at, requestId, reasons }) =>
        h(
          "li",
          {},
          h(
            "div",
            {},
            h("p", {}, h("strong", {}, new Date(at).toLocaleTimeString("en-GB")), ` request ${requestId}`),
            h("ul", {}, ...(reasons ?? []).map((reason) => h("li", { className: "wrong" }, reason))),
          ),
        ),
      ),
    );
  }

  private async switchAuto(): Promise<void> {
    this.wrong.textContent = "";
    try {
      await setSettings({ autoAccept: this.auto.checked });
    } catch (error) {
      this.wrong.textContent = words(error);
    }
  }
}
