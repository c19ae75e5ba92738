// The ticket of one order.
import { clock, h, refill, words } from "./dom";
import { advance, orderOf, type State, type Ticket } from "./sandbox";

const next: Partial<Record<State, { to: State; words: string }>> = {
  new: { to: "accepted", words: "Accept" },
  accepted: { to: "kitchen", words: "Send to kitchen" },
  kitchen: { to: "cash_station", words: "Send to cash station" },
};

type Fields = Record<string, unknown>;

/** Returns a member of an object. Clients spell names in different cases. */
const member = (of: unknown, name: string): unknown => {
  if (!of || typeof of !== "object") return undefined;
  return (of as Fields)[Object.keys(of).find((key) => key.toLowerCase() === name.toLowerCase()) ?? name];
};
const text = (of: unknown, name: string): string => {
  const value = member(of, name);
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
};
const list = (of: unknown, name: string): unknown[] => {
  const value = member(of, name);
  return Array.isArray(value) ? value : [];
};

/** The card of a ticket. */
export class TicketCard {
  readonly root: HTMLLIElement;
  private readonly when = h("time");
  private readonly marks = h("p", { className: "bar" });
  private readonly step = h("button", { className: "main", type: "button", onclick: () => void this.advance() });

  constructor(
    public ticket: Ticket,
    private readonly complain: (text: string) => void,
  ) {
    const { orderID, body, total, createdAt } = ticket;
    this.when.dateTime = createdAt;
    this.root = h(
      "li",
      { className: "ticket", tabIndex: -1, "data-at": createdAt, "aria-label": `Order ${orderID}` },
      h("h3", {}, `Order ${orderID}`, this.when),
      this.marks,
      ...about(body),
      h("ul", { className: "dishes" }, ...list(body, "dishList").map(dish)),
      h("p", { className: "sum" }, h("span", {}, "Total"), h("span", { className: "count" }, String(total))),
      this.step,
      this.rest(),
    );
  }

  /** Shows the current state of the ticket. */
  show(ticket: Ticket, fresh: boolean): void {
    this.ticket = ticket;
    this.root.classList.toggle("fresh", fresh);
    const step = next[ticket.state];
    const held = document.activeElement === this.step;
    this.step.hidden = !step;
    this.step.textContent = step?.words ?? "";
    this.step.setAttribute("aria-label", `${step?.words}, order ${ticket.orderID}`);
    if (held && !step) this.root.focus();
    const badges = [
      ticket.state === "rejected" && "rejected",
      ticket.state === "closed" && "closed",
      ticket.paid && "paid",
    ];
    refill(this.marks, ...badges.map((one) => one && h("span", { className: "badge" }, one)));
    this.marks.hidden = this.marks.childElementCount === 0;
    this.age();
  }

  /** Updates the age of the order. */
  age(): void {
    const at = new Date(this.ticket.createdAt);
    const minutes = Math.floor((Date.now() - at.getTime()) / 60_000);
    this.when.textContent = minutes > 0 ? `${clock(at)}, ${minutes} min` : clock(at);
  }

  focus(): void {
    (this.step.hidden ? this.root : this.step).focus();
  }

  private async advance(): Promise<void> {
    const step = next[this.ticket.state];
    if (!step) return;
    this.complain("");
    try {
      await advance(this.ticket.orderID, step.to);
    } catch (error) {
      this.complain(`Order ${this.ticket.orderID}: ${words(error)}`);
    }
  }

  /** Returns the headers and the body as sent, loaded when they are opened. */
  private rest(): HTMLDetailsElement {
    const place = h(
      "pre",
      { tabIndex: 0, role: "region", "aria-label": `Order ${this.ticket.orderID}, request as sent` },
      "…",
    );
    const details = h("details", {}, h("summary", {}, "Request as sent"), place);
    const load = async (): Promise<void> => {
      try {
        const { headers, raw, payments } = await orderOf(this.ticket.orderID);
        const head = Object.entries(headers)
          .map(([name, value]) => `${name}: ${value}`)
          .join("\n");
        place.textContent = [head, raw, ...payments.map((one) => `payment ${JSON.stringify(one)}`)].join("\n\n");
      } catch (error) {
        place.textContent = words(error);
      }
    };
    details.addEventListener("toggle", () => {
      if (details.open) void load();
    });
    return details;
  }
}

/** Returns the facts of an order: type, time, payment, guest, address and comment. */
function about(body: Fields): HTMLElement[] {
  const expected = new Date(text(body, "expectedAt"));
  const persons = text(body, "persons");
  const facts = [
    [
      text(body, "expeditionType"),
      Number.isNaN(expected.getTime()) ? "" : `for ${clock(expected)}`,
      persons && `${persons} person${persons === "1" ? "" : "s"}`,
      text(body, "paymentTypeID"),
    ],
    [text(member(body, "guest"), "firstName"), text(member(body, "guest"), "phone")],
    [text(member(body, "address"), "fullAddress")],
  ]
    .map((row) => row.filter(Boolean).join(" · "))
    .filter(Boolean);
  const comment = text(body, "comment");
  return [
    ...facts.map((fact) => h("p", { className: "faint" }, fact)),
    ...(comment ? [h("p", { className: "remark" }, comment)] : []),
  ];
}

function dish(line: unknown): HTMLLIElement {
  const parts = list(line, "ingredients");
  return h(
    "li",
    {},
    counted(line),
    parts.length > 0 && h("ul", {}, ...parts.map((part) => h("li", {}, counted(part)))),
  );
}

function counted(line: unknown): HTMLElement {
  return h(
    "span",
    {},
    h("span", { className: "count" }, `${text(line, "quantity") || "1"} × `),
    text(line, "name") || text(line, "ID") || "?",
  );
}
