// The faults: active ones, presets and custom faults.
import { h, refill, say, words } from "./dom";
import { inWords, presets } from "./presets";
import { ownFault } from "./ownfault";
import { addFault, findMenus, names, setFaults, type Board, type Fault } from "./sandbox";

/** The faults view. */
export class Faults {
  readonly title = "Faults";
  readonly root: HTMLElement;
  private faults: Fault[] = [];
  private readonly list = h("ul", { className: "list", "aria-label": "Active faults" });
  private readonly none = h("p", { className: "note" }, "No active faults.");
  private readonly clear = h(
    "button",
    { type: "button", onclick: () => void this.run(() => setFaults([]), "All faults removed") },
    "Remove all",
  );
  private readonly wrong = h("p", { className: "wrong", role: "alert" });

  constructor() {
    const inject = (fault: Fault, name: string) => void this.run(() => addFault(fault), `${name}: active`);
    this.root = h(
      "div",
      { className: "view" },
      h("div", { className: "bar" }, h("h1", {}, "Faults"), this.clear),
      this.wrong,
      h(
        "section",
        { className: "panel" },
        h("h2", {}, "Active"),
        h("p", { className: "faint" }, "A call meets the first fault that matches it."),
        this.none,
        this.list,
      ),
      h(
        "section",
        { className: "panel" },
        h("h2", {}, "Inject"),
        h(
          "ul",
          { className: "presets" },
          ...presets.map((preset) =>
            h(
              "li",
              {},
              h("button", { type: "button", onclick: () => inject(preset.fault, preset.name) }, preset.name),
              h("p", { className: "faint" }, preset.words),
            ),
          ),
        ),
      ),
      ownFault((fault) => inject(fault, "Custom fault")),
    );
  }

  board({ faults }: Board): void {
    if (JSON.stringify(faults) === JSON.stringify(this.faults)) return; // do not move a button that is about to be pressed
    const unnamed = faults.map(({ match }) => match.restaurant ?? "").filter((id) => id && !names.has(id));
    if (unnamed.length) void Promise.all(unnamed.map(findMenus)).then(() => this.draw(faults));
    this.draw(faults);
  }

  private draw(faults: Fault[]): void {
    const held = this.list.contains(document.activeElement);
    this.faults = faults;
    refill(
      this.list,
      ...faults.map((fault, i) =>
        h(
          "li",
          {},
          h("span", {}, inWords(fault)),
          h(
            "button",
            {
              type: "button",
              "data-key": String(i),
              "aria-label": `Remove ${inWords(fault)}`,
              onclick: () => void this.remove(i),
            },
            "Remove",
          ),
        ),
      ),
    );
    this.none.hidden = faults.length > 0;
    if (held && !this.list.contains(document.activeElement)) (this.list.querySelector("button") ?? this.clear).focus();
  }

  private remove(i: number): Promise<void> {
    return this.run(() => setFaults(this.faults.filter((_, n) => n !== i)), "Fault removed");
  }

  private async run(action: () => Promise<unknown>, done: string): Promise<void> {
    this.wrong.textContent = "";
    try {
      await action();
      say(done);
    } catch (error) {
      this.wrong.textContent = words(error);
    }
  }
}
