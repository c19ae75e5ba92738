// The operator console: the session and the current view.

import { isGone, onSessionEnd, result, errorText, ask } from "./ops/api";
import { messageRegion, showMessage, showError } from "./ops/ask";
import { audit } from "./ops/audit";
import { dailyChanges } from "./ops/dailychanges";
import { h, pause, put } from "./ops/dom";
import * as live from "./ops/live";
import type { Session, Summary } from "./ops/model";
import { order } from "./ops/order";
import { orders } from "./ops/orders";
import { restaurant } from "./ops/restaurant";
import { restaurants } from "./ops/restaurants";
import { mayAct, setRights } from "./ops/rights";
import { signIn } from "./ops/signin";
import { syncAll } from "./ops/syncall";
import { link, parse, type View } from "./ops/view";

const tabs: [string, string][] = [
  ["restaurants", "Restaurants"],
  ["orders", "Orders"],
  ["changes", "Menu changes"],
  ["sync", "Sync all"],
  ["audit", "Audit log"],
];
const views: Record<string, { list: View; one?: View; title: string }> = {
  restaurants: { list: restaurants, one: restaurant, title: "Restaurants" },
  orders: { list: orders, one: order, title: "Orders" },
  changes: { list: dailyChanges, title: "Menu changes" },
  sync: { list: syncAll, title: "Sync all" },
  audit: { list: audit, title: "Audit log" },
};
const sums = 30_000; // between two counts of the orders that need resolving, in milliseconds

/** Aborted when the session ends. */
let signedIn = new AbortController();

function begin(session: Session): void {
  signedIn.abort();
  signedIn = new AbortController();
  setRights(session);
  const all = signedIn.signal;
  const waiting = h("b", { class: "count", hidden: true });
  const shownTabs = tabs.filter(([name]) => name !== "sync" || mayAct());
  const items = shownTabs.map(([name, title]) =>
    link("/" + name, { "data-tab": name }, title, name === "orders" && [" ", waiting]),
  );
  const state = h("span", { class: "live", "data-testid": "live" }, "connecting");
  const main = h("main", { id: "main" });
  put(
    document.body,
    h(
      "a",
      {
        class: "skip",
        href: "#main",
        onclick: (event: Event) => {
          event.preventDefault();
          main.querySelector<HTMLElement>("h1")?.focus();
        },
      },
      "Skip to content",
    ),
    h(
      "header",
      {},
      h("p", { class: "name" }, "Larder operations"),
      h("nav", { "aria-label": "Console" }, items),
      h(
        "p",
        { class: "who" },
        state,
        h("span", { class: "id" }, session.client, session.connection && ` (${session.connection})`),
        !mayAct() && h("span", { class: "badge plain" }, "read only"),
        h("button", { type: "button", class: "quiet", onclick: () => void leave().catch(showError) }, "Sign out"),
      ),
    ),
    messageRegion,
    main,
    h("footer", {}, `larder ${session.version}`),
  );
  showMessage("");

  live.on(
    "link",
    (open) => {
      put(state, open ? "live" : "not live");
      state.classList.toggle("off", !open);
      if (!open) void check(all);
    },
    all,
  );
  live.open();
  all.addEventListener("abort", live.close, { once: true });

  let shown = new AbortController();
  const show = async (focus: boolean) => {
    shown.abort();
    shown = new AbortController();
    const { signal } = shown;
    all.addEventListener("abort", () => shown.abort(), { once: true, signal });
    const { name, id, params } = parse(location.hash);
    const view = views[name] ?? views.restaurants!;
    document.title = `${view.title} · Larder operations`;
    for (const item of items) {
      if (item.dataset.tab === name) item.setAttribute("aria-current", "page");
      else item.removeAttribute("aria-current");
    }
    put(main, h("p", { class: "empty" }, "Loading…"));
    const go = (to: string) => {
      location.hash = to;
    };
    try {
      await (id !== "" && view.one ? view.one : view.list)(main, { id, params, signal, go });
    } catch (error) {
      if (isGone(error) || signal.aborted) return;
      put(
        main,
        h("h1", { tabindex: -1 }, view.title),
        h("p", { role: "alert", class: "fault" }, errorText(error)),
        h("p", {}, h("button", { type: "button", onclick: () => void show(true) }, "Try again")),
      );
    }
    if (signal.aborted) return;
    const heading = main.querySelector<HTMLElement>("h1");
    if (id !== "" && heading) document.title = `${heading.textContent} · Larder operations`;
    if (focus) heading?.focus();
  };
  addEventListener(
    "hashchange",
    () => {
      showMessage("");
      void show(true);
    },
    { signal: all },
  );
  void show(false);
  void (async () => {
    do {
      try {
        const { unknownOrders, moreUnknownOrders } = await result<Summary>("/v1/ops/summary", { signal: all });
        waiting.hidden = !unknownOrders;
        put(
          waiting,
          `${unknownOrders ?? ""}${moreUnknownOrders ? "+" : ""}`,
          h("span", { class: "hidden" }, " need resolving"),
        );
      } catch {
        /* the views show the error */
      }
    } while (await pause(sums, all));
  })();
}

/** Checks whether the session has ended, after the event stream broke. */
async function check(signal: AbortSignal): Promise<void> {
  try {
    if ((await result<Session | null>("/ops/session", { signal })) === null && !signal.aborted)
      endSession("Your session has ended. Sign in again.");
  } catch {
    /* larder is unreachable: the stream reconnects */
  }
}

function endSession(why: string): void {
  signedIn.abort();
  signIn(document.body, why, begin);
}

async function leave(): Promise<void> {
  await ask("/ops/session", { method: "DELETE" });
  endSession("");
}

onSessionEnd(() => endSession("Your session has ended. Sign in again."));
try {
  const session = await result<Session | null>("/ops/session");
  if (session) begin(session);
  else endSession("");
} catch (error) {
  endSession(errorText(error));
}
