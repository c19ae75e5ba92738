// What operators say about a restaurant: pauses, a longer lead time, and dishes that are not sold.

import { ask, errorText, pathOf, result } from "./api";
import { choose, during, showMessage } from "./ask";
import { h, type Child } from "./dom";
import { count, span } from "./format";
import type { Restaurant, Restrictions } from "./model";

const old = 30; // seconds without a read of Redis, after which the page says so
const day = 24 * 60; // minutes

/**
 * Returns the next time at which a clock in the zone shows hh:mm. If the clock skips it, that is when it has done so. No
 * time is two days away.
 */
export function nextClock(hhmm: string, zone: string, now: number): string {
  const format = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone: zone });
  const shows = (minute: number) => format.format(minute * 60_000);
  let minute = Math.floor(now / 60_000);
  for (let before = shows(minute++), end = minute + 2 * day; minute < end; minute++) {
    const at = shows(minute);
    if (at === hhmm || (before < hhmm && hhmm < at)) break;
    before = at;
  }
  return new Date(minute * 60_000).toISOString();
}

/** The fields of a dialog for the end, and its buttons: each chooses an end and closes the dialog. */
function endOf(one: Restaurant, opening = false) {
  const zone = one.freshness.timeZone || "UTC";
  const time = h("input", { type: "time", required: true });
  const note = h("input", { type: "text", maxlength: 200, autocomplete: "off" });
  const button = (value: string, words: string, free = true) =>
    h("button", { type: "submit", value, class: free ? "" : "main", formnovalidate: free }, words);
  return {
    fields: [
      h("label", {}, "Why (only for operators)", note),
      h(
        "p",
        { class: "ends" },
        button("30", "30 min"),
        button("60", "1 hour"),
        button("120", "2 hours"),
        opening && button("next_open", "Until the next opening"),
        button("none", "Until I end it"),
      ),
      h(
        "p",
        { class: "ends" },
        h("label", {}, `Until a time (${zone})`, time),
        button("time", "Until this time", false),
      ),
    ],
    /** Returns the members until and note of the request. */
    chosen(value: string) {
      let until: string | null = null;
      if (value === "next_open") until = value;
      else if (value === "time") until = nextClock(time.value, zone, Date.now());
      else if (value !== "none") until = new Date(Date.now() + Number(value) * 60_000).toISOString();
      return { until, note: note.value };
    },
  };
}

/** Returns the part of the restaurant's page with what holds now and the buttons. changed is called with the new state. */
export function availability(one: Restaurant, signal: AbortSignal, changed: (now: Restrictions) => void): HTMLElement {
  const now = one.availability!;
  const name = one.name || one.id;
  const send = async (method: string, path: string, body?: unknown) => {
    changed(await result<Restrictions>(pathOf(one.id) + path, { method, body, signal }));
    showMessage(method === "DELETE" ? "Done: guests can order this again." : "Done: this holds for guests now.");
  };
  const act = (words: string, work: () => Promise<void>, attributes = {}) =>
    h(
      "button",
      {
        type: "button",
        onclick: (event: Event) => during(event.currentTarget as HTMLButtonElement, work),
        ...attributes,
      },
      words,
    );

  const pauseOrders = async () => {
    const end = endOf(one);
    const type = (value: string, words: string) =>
      h("label", { class: "choice" }, h("input", { type: "radio", name: "type", value, checked: value === "" }), words);
    const types = h("fieldset", {}, h("legend", {}, "Orders"), [
      type("", "all orders"),
      type("delivery", "only delivery"),
      type("pickup", "only pickup"),
    ]);
    const body = [
      h("p", {}, "Guests can't order for a time before the end. Orders for later are still accepted."),
      types,
      ...end.fields,
    ];
    const value = await choose({ title: `Pause orders of ${name}`, body });
    if (value === "no") return;
    const only = types.querySelector<HTMLInputElement>("input:checked")?.value;
    await send("POST", "/pause", { ...end.chosen(value), ...(only ? { expeditionTypes: [only] } : {}) });
  };

  const longer = async () => {
    const end = endOf(one);
    const lead = h(
      "select",
      {},
      [30, 45, 60, 75, 90, 120, 180].map((minutes) =>
        h("option", { value: minutes, selected: minutes === 90 }, `${minutes} min`),
      ),
    );
    const body = [
      h("p", {}, "From an order to the earliest time at which it is ready. A longer configured time stays."),
      h("label", {}, "At least", lead),
      ...end.fields,
    ];
    const value = await choose({ title: `Longer lead time of ${name}`, body });
    if (value !== "no") await send("POST", "/busy", { ...end.chosen(value), leadTime: `${lead.value}m` });
  };

  const soldOut = async () => {
    const end = endOf(one, true);
    const picked = await pickItems(one, signal);
    const body = [h("p", {}, "They look sold out to guests."), picked.element, ...end.fields];
    const value = await choose({ title: `Dishes of ${name} that are not sold`, body });
    if (value === "no") return;
    if (picked.ids.size === 0) return showMessage("Nothing was changed: no dish was selected.", true);
    await send("POST", "/snooze", { ...end.chosen(value), ids: [...picked.ids] });
  };

  const local = new Intl.DateTimeFormat("en-GB", {
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    timeZone: one.freshness.timeZone || "UTC",
    timeZoneName: "short",
  });
  const ends = (until: string) => h("time", { datetime: until }, local.format(new Date(until)));
  type Held = { until: string | null; note: string; by: string };
  const line = (words: string, held: Held, button: HTMLElement) =>
    h(
      "li",
      {},
      h(
        "span",
        {},
        h("b", {}, words),
        held.until === null ? " until somebody ends it" : [" until ", ends(held.until)],
        h("small", {}, [held.note, `by ${held.by}`].filter(Boolean).join(" · ")),
      ),
      button,
    );
  const open = () => act("Open", () => send("DELETE", "/pause"), { class: "main" });
  const { delivery, pickup } = now.pause;
  const lines: Child[] = [
    delivery && pickup && delivery.at === pickup.at
      ? line("No orders", delivery, open())
      : [delivery && line("No delivery", delivery, open()), pickup && line("No pickup", pickup, open())],
    now.busy &&
      line(
        `Orders take at least ${now.busy.leadTime}`,
        now.busy,
        act("End", () => send("DELETE", "/busy"), { "aria-label": "End the longer lead time" }),
      ),
    now.snoozed.map((item) =>
      line(
        `${item.name} is not sold`,
        item,
        act("Sell again", () => send("DELETE", `/snooze/${encodeURIComponent(item.id)}`), {
          "aria-label": `Sell again: ${item.name}`,
        }),
      ),
    ),
  ];
  const age = now.readAt === null ? null : (Date.now() - Date.parse(now.readAt)) / 1000;
  const none = !delivery && !pickup && !now.busy && now.snoozed.length === 0;
  return h(
    "section",
    { "aria-label": "Orders", class: "availability" },
    h("h2", {}, "Orders"),
    (age === null || age > old) &&
      h(
        "p",
        { class: "note" },
        age === null
          ? "Larder has not read from Redis yet what operators have said."
          : `As of ${span(age)} ago: larder can't read Redis. What was said last holds until its end.`,
      ),
    none ? h("p", {}, "No operator restricts orders.") : h("ul", { class: "held" }, lines),
    (delivery?.until || pickup?.until) && h("p", {}, "Orders for the end of a pause or later are still accepted."),
    h(
      "p",
      { class: "buttons" },
      act("Pause orders…", pauseOrders),
      act("Longer lead time…", longer),
      one.version !== null && act("Dishes sold out…", soldOut),
    ),
  );
}

const shown = 40; // items of a search

/** Returns a list of the menu's dishes and options to select from. */
async function pickItems(one: Restaurant, signal: AbortSignal): Promise<{ element: HTMLElement; ids: Set<string> }> {
  type Item = { id?: unknown; name?: unknown };
  type Listed = { products?: Item[]; ingredients?: Item[] };
  let view: Listed = {};
  let fault = "";
  try {
    view =
      (await ask<{ result?: Listed } & Listed>(`${pathOf(one.id)}/versions/${one.version}/view`, { signal })) ?? {};
    view = (view as { result?: Listed }).result ?? view;
  } catch (error) {
    fault = errorText(error);
  }
  const named = (items: Item[] | undefined, kind: string) =>
    (items ?? [])
      .filter(({ id }) => id !== undefined && id !== null)
      .map(({ id, name }) => ({ id: String(id), name: String(name ?? id), kind }));
  const items = [...named(view.products, ""), ...named(view.ingredients, "option")];
  const ids = new Set<string>();
  const list = h("ul", { class: "items" });
  const search = h("input", { type: "search", autocomplete: "off", oninput: () => draw() });
  const status = h("p", { role: "status" });
  const draw = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = items.filter(
      ({ id, name }) => ids.has(id) || words.every((word) => name.toLowerCase().includes(word)),
    );
    found.sort((a, b) => Number(ids.has(b.id)) - Number(ids.has(a.id)));
    list.replaceChildren(
      ...found.slice(0, Math.max(shown, ids.size)).map(({ id, name, kind }) => {
        const box = h("input", {
          type: "checkbox",
          checked: ids.has(id),
          onchange: () => {
            if (box.checked) ids.add(id);
            else ids.delete(id);
            say(found.length);
          },
        });
        return h(
          "li",
          {},
          h("label", { class: "choice" }, box, h("span", {}, h("bdi", {}, name), kind && h("small", {}, kind))),
        );
      }),
    );
    say(found.length);
  };
  const say = (found: number) => {
    const more =
      found > shown ? `; the first ${shown} of ${count(found, "match", "matches")} are listed, search for others` : "";
    status.textContent = fault || `${count(ids.size, "selected", "selected")}${more}`;
  };
  draw();
  return { element: h("div", {}, h("label", {}, "Search dishes and options", search), status, list), ids };
}
