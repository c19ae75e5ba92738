// The dialog of a dish: the modal window and its place in the history. Its content
// is in a file of its own.

import type { Line } from "./basket";
import type { Done, DishView } from "./dish";
import { h } from "./dom";
import type { Formatter } from "./groups";
import { dishFile } from "./lazy";
import { entered, left } from "./links";
import type { Shop } from "./shop";

/** DishDialog is a modal dialog. The browser keeps the focus in it and restores it afterwards. */
export class DishDialog {
  readonly element: HTMLDialogElement;
  /** fragment is the address of the open dish, or "" if the dialog has none. */
  fragment = "";
  private view: DishView | null = null;
  private asked = 0; // counts the dishes that were opened
  private owner: Shop | null = null; // of the open dish

  /** addressed: the address shows the open dish. */
  constructor(
    private readonly shop: () => Shop | null,
    private readonly formatter: Formatter,
    private readonly done: Done,
    private readonly addressed = false,
  ) {
    this.element = h("dialog", {
      part: "dish",
      "aria-labelledby": "dish-name",
      onclose: () => this.closed(),
      onclick: (event: Event) => {
        if (event.target === this.element) this.close(); // a click outside the box
      },
    });
  }

  close(): void {
    this.element.close();
  }

  /** closeInner closes an enlarged photo. It reports whether one was open. */
  closeInner(): boolean {
    const inner = this.element.querySelector("dialog");
    inner?.close();
    return inner !== null;
  }

  /** open shows a dish, either new or with the choices of a line. */
  open(id: string, line: Line | null = null): void {
    const shop = this.shop();
    const product = shop?.menu?.product(id);
    if (!product) return;
    this.owner = shop;
    this.show(id, product.name, line);
    if (!this.element.open) this.element.showModal();
    if ((this.element.getRootNode() as ShadowRoot).host?.getAttribute("links") === "off") return;
    this.fragment = this.addressed ? "#dish=" + encodeURIComponent(id) : "";
    entered(this);
  }

  /** refresh updates the open dialog after a change of the menu, or closes it if it is of another restaurant. */
  refresh(): void {
    if (this.owner === this.shop()) this.view?.refresh();
    else this.close();
  }

  private show(id: string, name: string, line: Line | null): void {
    const asked = ++this.asked;
    const { module } = dishFile;
    if (module) {
      this.view ??= new module.DishView(this.element, this.shop, this.formatter, this.done);
      this.view.open(id, line);
    } else {
      this.element.replaceChildren(
        h(
          "div",
          { class: "body" },
          h(
            "div",
            { class: "row" },
            h(
              "h2",
              { id: "dish-name", part: "dish-name", class: "grow", dir: "auto", tabindex: "-1", autofocus: true },
              name,
            ),
            h(
              "button",
              {
                type: "button",
                class: "round",
                "aria-label": this.formatter.message("close"),
                part: "dish-close",
                onclick: () => this.close(),
              },
              "×",
            ),
          ),
          dishFile.pending(this.formatter, () => {
            if (this.element.open && asked === this.asked) this.show(id, name, line);
          }),
        ),
      );
    }
    if (this.element.open) this.element.querySelector<HTMLElement>("h2")?.focus();
  }

  private closed(): void {
    if (this.element.open) return; // another dish was opened at once
    this.asked++;
    this.view?.clear();
    this.element.replaceChildren();
    left(this);
  }
}
