// The counters: calls by operation, how many took effect, and tokens.
import { h, refill, words } from "./dom";
import { clearCounters, type Board } from "./sandbox";

/** The calls view. */
export class Calls {
  readonly title = "Calls";
  readonly root: HTMLElement;
  private readonly rows = h("tbody");
  private readonly tokens = h("strong", { className: "count" }, "0");
  private readonly wrong = h("p", { className: "wrong", role: "alert" });

  constructor() {
    const head = (name: string, className = "") => h("th", { scope: "col", className }, name);
    this.root = h(
      "div",
      { className: "view" },
      h(
        "div",
        { className: "bar" },
        h("h1", {}, "Calls"),
        h("button", { type: "button", onclick: () => void this.clear() }, "Reset counters"),
      ),
      this.wrong,
      h(
        "section",
        { className: "panel" },
        h("p", {}, "Tokens issued: ", this.tokens),
        h(
          "table",
          {},
          h("caption", { className: "unseen" }, "Calls by operation"),
          h("thead", {}, h("tr", {}, head("Operation"), head("Calls", "number"), head("Took effect", "number"))),
          this.rows,
        ),
      ),
    );
  }

  board({ counters: { calls, executed, tokens } }: Board): void {
    this.tokens.textContent = String(tokens);
    const number = (n = 0) => h("td", { className: "number" }, String(n));
    const rows = Object.keys(calls)
      .sort()
      .map((name) => h("tr", {}, h("th", { scope: "row" }, name), number(calls[name]), number(executed[name])));
    refill(this.rows, ...(rows.length > 0 ? rows : [h("tr", {}, h("td", { colSpan: 3 }, "No calls yet."))]));
  }

  private async clear(): Promise<void> {
    this.wrong.textContent = "";
    try {
      await clearCounters();
    } catch (error) {
      this.wrong.textContent = words(error);
    }
  }
}
