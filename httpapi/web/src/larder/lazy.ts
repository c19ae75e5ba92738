// Parts of the elements that are in files of their own. They are loaded when the
// browser is idle, or when a guest needs them.

import { h } from "./dom";
import type { Formatter } from "./groups";
import { whenIdle } from "./idlejobs";
import type { Menu } from "./menu";
import { report } from "./report";
import type { Settings } from "./settings";

const patience = 3_000; // milliseconds until they are loaded even if the browser is busy

/** LazyFile is a module that is loaded once. */
export class LazyFile<T> {
  /** module is null until the file is loaded. */
  module: T | null = null;
  private loading: Promise<boolean> | null = null;
  private failures = 0;

  constructor(private readonly url: string) {}

  /** load reports whether the module could be loaded. If not, the next call tries again. */
  load(): Promise<boolean> {
    const again = this.failures ? (this.url.includes("?") ? "&" : "?") + "try=" + this.failures : ""; // browsers keep failures by address
    return (this.loading ??= (import(this.url + again) as Promise<T>).then(
      (module) => {
        this.module = module;
        return true;
      },
      (error) => {
        this.loading = null;
        this.failures++;
        report(`${this.url} cannot be loaded (${error}).`);
        return false;
      },
    ));
  }

  /** pending returns a note that the file is being loaded. It calls ready after that. If it cannot be loaded, it offers to try again. */
  pending(f: Formatter, ready: () => void): HTMLElement {
    const box = h("span", { class: "muted row", role: "status", tabindex: "-1" });
    const attempt = async (): Promise<void> => {
      box.replaceChildren(f.message("wait"));
      if (await this.load()) ready();
      else
        box.replaceChildren(
          f.message("notLoaded"),
          " ",
          h(
            "button",
            {
              type: "button",
              onclick: () => {
                box.focus(); // the button goes
                void attempt();
              },
            },
            f.message("again"),
          ),
        );
    };
    void attempt();
    return box;
  }
}

// larder adds the versions of the files.
export const dishFile = new LazyFile<typeof import("../dish")>(new URL("./dish.js", import.meta.url).href);
export const checkoutFile = new LazyFile<typeof import("../checkout")>(new URL("./checkout.js", import.meta.url).href);

/** preload loads all files when the browser is idle, so that they are there at once, and offline. Then it checks the site's settings and slots without a dish, and calls ready. */
export function preload(site: Settings, ready?: () => void, slots?: Iterable<string>, menu?: Menu): void {
  const work = (): void => {
    if (!navigator.onLine) return;
    void dishFile.load().then(ready);
    void checkoutFile.load().then(() => checkoutFile.module?.checkSettings(site, slots, menu));
  };
  whenIdle(work, patience, patience / 2);
}
