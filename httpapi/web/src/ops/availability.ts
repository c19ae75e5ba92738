// What operators say about a restaurant: pauses, a longer lead time, and dishes that are not sold.

import { ask, errorText, pathOf, result } from "./api";
import { during, fillIn, showMessage, type Effect } from "./ask";
import { h, put, type Child } from "./dom";
import { count, span } from "./format";
import type { Restaurant, Restrictions } from "./model";
import { mayAct } from "./rights";

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

/** Returns a time in the zone, such as "today 19:00" or "Fri 4 Dec 19:00". */
function when(at: number, zone: string, now: number): string {
  const day = (time: number) => Date.parse(new Intl.DateTimeFormat("sv", { timeZone: zone }).format(time));
  const days = Math.round((day(at) - day(now)) / 86_400_000);
  const clock = { hour: "2-digit", minute: "2-digit", timeZone: zone } as const;
  const time = new Intl.DateTimeFormat("en-GB", clock).format(at);
  if (days === 0 || days === 1) return `${days === 0 ? "today" : "tomorrow"} ${time}`;
  const date = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short", timeZone: zone });
  return `${date.format(at)} ${time}`;
}

type Chosen = { at: number | null; text: string; tomorrow: boolean; until: string | null };

/** Returns the fields for the end and the reason, and a function that returns the end; undefined until there is one. */
function endOf(one: Restaurant, legend: string, first: string, withOpening = false) {
  const zone = one.freshness.timeZone || "UTC";
  const opens = withOpening ? one.availability!.nextOpening : null;
  let chosen = first;
  const choice = (value: string, ...words: Child[]) =>
    h(
      "label",
      { class: "choice" },
      h("input", { type: "radio", name: "end", value, checked: value === first, oninput: () => (chosen = value) }),
      words,
    );
  const byTime = choice("time", h("span", {}, `until a time (${zone})`));
  const radio = byTime.querySelector("input")!;
  let clock: string | undefined; // the time that was described
  const time = h("input", {
    type: "time",
    "aria-label": `Time (${zone})`,
    oninput: () => {
      radio.checked = true;
      chosen = "time";
      clock = time.value ? nextClock(time.value, zone, Date.now()) : undefined;
    },
  });
  const note = h("input", { type: "text", maxlength: 200, autocomplete: "off" });
  return {
    fields: [
      h(
        "fieldset",
        { class: "ends" },
        h("legend", {}, legend),
        choice("30", "for 30 min"),
        choice("60", "for 1 hour"),
        choice("120", "for 2 hours"),
        opens && choice("next_open", `until the next opening: ${when(Date.parse(opens), zone, Date.now())}`),
        h("div", { class: "choice" }, byTime, time),
        choice("none", "until I end it"),
      ),
      h("label", {}, "Why (only for operators)", note),
    ],
    note: () => note.value,
    end(): Chosen | undefined {
      const now = Date.now();
      if (chosen === "none") return { at: null, text: "until somebody ends it", tomorrow: false, until: null };
      let at = now + Number(chosen) * 60_000;
      if (chosen === "time") at = clock === undefined ? NaN : Date.parse(clock);
      if (chosen === "next_open") at = Date.parse(opens!);
      if (Number.isNaN(at)) return undefined;
      const text = `until ${when(at, zone, now)}, in ${span(Math.max(60, 60 * Math.round((at - now) / 60_000)))}`;
      const tomorrow = chosen === "time" && !when(at, zone, now).startsWith("today");
      return { at, text, tomorrow, until: chosen === "next_open" ? chosen : new Date(at).toISOString() };
    },
  };
}

const noTime: Effect = { text: "Type the time of the end.", button: "Confirm", missing: true };

type Type = "delivery" | "pickup";
const types: Type[] = ["delivery", "pickup"];

/** Returns the part of the restaurant's page with what holds now and the buttons. changed is called with the new state. */
export function availability(one: Restaurant, signal: AbortSignal, changed: (now: Restrictions) => void): HTMLElement {
  const now = one.availability!;
  const name = one.name || one.id;
  const zone = one.freshness.timeZone || "UTC";
  const send = async (method: string, path: string, done: string, body?: unknown) => {
    changed(await result<Restrictions>(pathOf(one.id) + path, { method, body, signal }));
    showMessage(done);
  };
  const act = (words: string, work: () => Promise<void>, attributes = {}): Child =>
    mayAct() &&
    h(
      "button",
      {
        type: "button",
        onclick: (event: Event) => during(event.currentTarget as HTMLButtonElement, work),
        ...attributes,
      },
      words,
    );
  const minutes = (type: Type) => parseInt(now.leadTime[type]);
  /** Returns those types whose orders take longer than until a time: a pause until then changes nothing for them. */
  const unchanged = (of: Type[], end: number) => of.filter((type) => end <= Date.now() + minutes(type) * 60_000);
  const takes = (of: Type[]) => of.map((type) => `${type} takes at least ${span(minutes(type) * 60)}`).join(", ");

  const pauseOrders = () => {
    const end = endOf(one, "How long", "none");
    let of = types;
    const choice = (words: string, value: Type[]) =>
      h(
        "label",
        { class: "choice" },
        h("input", { type: "radio", name: "type", checked: value === types, oninput: () => (of = value) }),
        words,
      );
    const body = [
      h("fieldset", { class: "ends" }, h("legend", {}, "Which orders"), [
        choice("all orders", types),
        choice("only delivery", ["delivery"]),
        choice("only pickup", ["pickup"]),
      ]),
      ...end.fields,
    ];
    const which = () => (of === types ? "all orders" : of[0]);
    const effect = (): Effect => {
      const chosen = end.end(),
        button = `Pause ${which()}`;
      if (!chosen) return { ...noTime, button };
      if (chosen.at === null) return { button, text: `Guests can't order until somebody ends the pause.` };
      const same = unchanged(of, chosen.at);
      if (same.length === of.length)
        return { button, surprise: true, text: `This changes nothing for guests: ${takes(same)}. Choose a later end.` };
      const later = `No orders for a time before the end, ${chosen.text.replace("until ", "")}. Guests can order for later.`;
      const rest = same.length > 0 ? ` Nothing changes for ${same[0]}: ${takes(same)}.` : "";
      return { button, text: later + rest, surprise: chosen.tomorrow || rest !== "" };
    };
    return fillIn({
      title: `Pause orders of ${name}`,
      body,
      effect,
      send: () => {
        const { until, text } = end.end()!;
        const fields = { until, note: end.note(), ...(of === types ? {} : { expeditionTypes: of }) };
        return send("POST", "/pause", `Paused ${which()} of ${name} ${text}.`, fields);
      },
    });
  };

  const longer = () => {
    const end = endOf(one, "How long this holds", "60");
    const lead = h(
      "select",
      {},
      [30, 45, 60, 75, 90, 120, 180].map((minutes) =>
        h("option", { value: minutes, selected: minutes === 90 }, `${minutes} min`),
      ),
    );
    const effect = (): Effect => {
      const chosen = end.end(),
        button = `Set ${lead.value} min`;
      if (!chosen) return { ...noTime, button };
      const same = now.busy ? [] : types.filter((type) => minutes(type) >= Number(lead.value));
      if (same.length === types.length)
        return { button, surprise: true, text: `This changes nothing for guests: ${takes(same)} already.` };
      const ready = when(Date.now() + Number(lead.value) * 60_000, zone, Date.now());
      const text = `An order of now is ready ${ready} at the earliest. This holds ${chosen.text}.`;
      const rest = same.length > 0 ? ` Nothing changes for ${same[0]}: ${takes(same)}.` : "";
      return { button, text: text + rest, surprise: chosen.tomorrow || rest !== "" };
    };
    return fillIn({
      title: `Longer lead time of ${name}`,
      body: [h("label", {}, "An order takes at least", lead), ...end.fields],
      effect,
      send: () => {
        const { until, text } = end.end()!;
        const done = `Orders of ${name} take at least ${lead.value} min ${text}.`;
        return send("POST", "/busy", done, { until, note: end.note(), leadTime: `${lead.value}m` });
      },
    });
  };

  const soldOut = async () => {
    const end = endOf(one, "How long", now.nextOpening ? "next_open" : "none", true);
    const picked = await pickItems(one, signal);
    const effect = (): Effect => {
      const chosen = end.end(),
        selected = picked.ids.size;
      const button = selected === 0 ? "Take off the menu" : `Take ${selected} off the menu`;
      if (selected === 0) return { button, missing: true, text: "Select what is not sold." };
      if (!chosen) return { ...noTime, button };
      return {
        button,
        text: `Guests see ${count(selected, "item")} sold out ${chosen.text}.`,
        surprise: chosen.tomorrow,
      };
    };
    await fillIn({
      title: `Take dishes off the menu of ${name}`,
      body: [picked.element, ...end.fields],
      effect,
      send: () => {
        const { until, text } = end.end()!;
        const done = `Guests see ${count(picked.ids.size, "item")} sold out ${text}.`;
        return send("POST", "/snooze", done, { until, note: end.note(), ids: [...picked.ids] });
      },
    });
  };

  const local = new Intl.DateTimeFormat("en-GB", {
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    timeZone: zone,
    timeZoneName: "short",
  });
  const ends = (until: string) => h("time", { datetime: until }, local.format(new Date(until)));
  type Held = { until: string | null; note: string; by: string; at: string };
  const line = (words: Child, held: Held, button: Child, ...more: Child[]) =>
    h(
      "li",
      {},
      h(
        "div",
        {},
        h("b", {}, words),
        held.until === null ? " until somebody ends it" : [" until ", ends(held.until)],
        h("small", {}, [held.note, `by ${held.by}`].filter(Boolean).join(" · ")),
        more,
      ),
      button,
    );

  const paused = (of: Type[], words: string) => {
    const held = now.pause[of[0]!]!;
    const again = act("Take orders again", () => send("DELETE", "/pause", `Guests can order at ${name} again.`), {
      class: "main",
    });
    let effect: Child = "Guests can't order.";
    if (held.until !== null) {
      const same = unchanged(of, Date.parse(held.until));
      effect =
        same.length === of.length
          ? `This changes nothing for guests now: ${takes(same)}.`
          : ["Guests can order for ", ends(held.until), " or later."];
    }
    return line(words, held, again, h("p", {}, effect));
  };
  const { delivery, pickup } = now.pause;
  const both = delivery && pickup && delivery.at === pickup.at;
  const wake = async (items: { id: string }[], done: string) => {
    let last: Restrictions | undefined;
    try {
      for (const { id } of items)
        last = await result<Restrictions>(`${pathOf(one.id)}/snooze/${encodeURIComponent(id)}`, {
          method: "DELETE",
          signal,
        });
      showMessage(done);
    } finally {
      if (last) changed(last);
    }
  };
  const label = (item: Snoozed) => [h("bdi", {}, item.name), item.kind === "option" && " (option)"];
  const wakes = (items: Snoozed[], words: string, what: string) =>
    act(words, () => wake(items, `Sold again: ${what}.`), { "aria-label": `${words}: ${what}` });
  const lines: Child[] = [
    both
      ? paused(types, "No orders")
      : [delivery && paused(["delivery"], "No delivery"), pickup && paused(["pickup"], "No pickup")],
    now.busy &&
      line(
        `Orders take at least ${parseInt(now.busy.leadTime)} min`,
        now.busy,
        act("End", () => send("DELETE", "/busy", `The usual lead time of ${name} holds again.`), {
          "aria-label": "End the longer lead time",
        }),
      ),
    together(now.snoozed).map((items) =>
      items.length === 1
        ? line([label(items[0]!), " is not sold"], items[0]!, wakes(items, "Sell again", items[0]!.name))
        : line(
            `${items.length} are not sold`,
            items[0]!,
            wakes(items, "Sell all again", items.map((item) => item.name).join(", ")),
            h(
              "ul",
              {},
              items.map((item) => h("li", {}, h("span", {}, label(item)), wakes([item], "Sell again", item.name))),
            ),
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
    h(
      "p",
      { class: "buttons" },
      act("Pause orders…", pauseOrders),
      act("Longer lead time…", longer),
      one.version !== null && act("Dishes sold out…", soldOut),
    ),
    none ? h("p", {}, `Taking orders normally: ${takes(types)}.`) : h("ul", { class: "held" }, lines),
  );
}

type Snoozed = Restrictions["snoozed"][number];

/** Groups what an operator has taken off the menu at once. */
function together(all: Snoozed[]): Snoozed[][] {
  const groups = new Map<string, Snoozed[]>();
  for (const item of all) {
    const key = [item.at, item.by, item.until, item.note].join("\n");
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return [...groups.values()];
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
    if (found.length === 0 && !fault) put(list, h("li", {}, `Nothing found for “${search.value.trim()}”.`));
    else
      list.replaceChildren(
        ...found.slice(0, Math.max(shown, ids.size)).map(({ id, name, kind }) => {
          const box = h("input", {
            type: "checkbox",
            checked: ids.has(id),
            oninput: () => {
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
