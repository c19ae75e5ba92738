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

/** An end that is chosen. label is for the button, text for a sentence. */
interface End {
  /** The time in milliseconds, or null if an operator ends it. */
  at: number | null;
  label: string;
  text: string;
  tomorrow: boolean;
}

const morning = "06:00"; // the end of "today" of a restaurant whose hours larder does not know

/**
 * Returns the fields for the end and the reason, and a function that returns the end; undefined until there is one. extra is
 * added to a length, in minutes: how much earlier the effect ends than what is stored.
 */
function endOf(one: Restaurant, legend: string, first: string, extra: () => number = () => 0) {
  const zone = one.freshness.timeZone || "UTC";
  const opens = one.availability!.nextOpening;
  const day = opens ?? nextClock(morning, zone, Date.now());
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
  const lengths: Record<string, string> = { 30: "for 30 min", 60: "for 1 hour", 120: "for 2 hours" };
  const dayWords = opens ? "until the next opening" : "for today";
  return {
    fields: [
      h(
        "fieldset",
        { class: "ends" },
        h("legend", {}, legend),
        Object.entries(lengths).map(([value, words]) => choice(value, words)),
        choice("day", `${dayWords}: until ${when(Date.parse(day), zone, Date.now())}`),
        h("div", { class: "choice" }, byTime, time),
        choice("none", "until I end it"),
      ),
      h("label", {}, "Why (only for operators)", note),
    ],
    note: () => note.value,
    end(): End | undefined {
      const now = Date.now();
      if (chosen === "none")
        return { at: null, label: "until I end it", text: "until somebody ends it", tomorrow: false };
      let at = now + (Number(chosen) + extra()) * 60_000;
      if (chosen === "time") at = clock === undefined ? NaN : Date.parse(clock);
      if (chosen === "day") at = Date.parse(day);
      if (Number.isNaN(at)) return undefined;
      const until = `until ${when(at, zone, now)}`;
      const left = span(Math.max(60, 60 * Math.round((at - now) / 60_000)));
      const tomorrow = chosen === "time" && !until.startsWith("until today");
      return { at, label: lengths[chosen] ?? until, text: `${until}, in ${left}`, tomorrow };
    },
  };
}

const untilOf = ({ at }: End) => (at === null ? null : new Date(at).toISOString());

/** Reports whether an end is later than another one. */
const isLater = (held: string | null, at: number | null) => at !== null && (held === null || Date.parse(held) > at);

const noTime: Effect = { text: "Type the time of the end.", button: "Confirm", missing: true };

type Type = "delivery" | "pickup";
const types: Type[] = ["delivery", "pickup"];

// After an action, another button that ends something is where the finger is: a second tap soon after the first one is ignored.
const settles = 700; // milliseconds
let settleUntil = 0;

/** Returns the part of the restaurant's page with what holds now and the buttons. changed is called with the new state. */
export function availability(one: Restaurant, signal: AbortSignal, changed: (now: Restrictions) => void): HTMLElement {
  const now = one.availability!;
  const name = one.name || one.id;
  const zone = one.freshness.timeZone || "UTC";
  const send = async (method: string, path: string, done: string, body?: unknown) => {
    settleUntil = Date.now() + settles;
    changed(await result<Restrictions>(pathOf(one.id) + path, { method, body, signal }));
    showMessage(done);
  };
  const act = (words: string, work: () => Promise<void>, attributes = {}): Child =>
    mayAct() &&
    h(
      "button",
      {
        type: "button",
        onclick: (event: Event) => {
          if (Date.now() > settleUntil || words.endsWith("…"))
            void during(event.currentTarget as HTMLButtonElement, work);
        },
        ...attributes,
      },
      words,
    );
  const minutes = (type: Type) => parseInt(now.leadTime[type]);
  /** Returns those types whose orders take longer than until a time: a pause until then changes nothing for them. */
  const unchanged = (of: Type[], end: number) => of.filter((type) => end <= Date.now() + minutes(type) * 60_000);
  const takes = (of: Type[]) => of.map((type) => `${type} takes at least ${span(minutes(type) * 60)}`).join(", ");
  const lasts = (held: { until: string | null }) =>
    held.until === null ? "until somebody ends it" : `until ${when(Date.parse(held.until), zone, Date.now())}`;

  const pauseOrders = () => {
    let of = types;
    const longest = () => Math.max(...of.map(minutes));
    const end = endOf(one, "How long guests can't order for as soon as possible", "30", longest);
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
    const which = () => (of === types ? "all orders" : of[0]!);
    const what = () => (of === types ? "orders" : of[0]!);
    const effect = (): Effect => {
      const chosen = end.end(),
        button = `Pause ${which()} ${chosen?.label ?? ""}`;
      if (!chosen) return { ...noTime, button };
      const shorter = of.map((type) => now.pause[type]).filter((held) => held && isLater(held.until, chosen.at));
      const replaces = shorter.length > 0 ? ` This replaces the pause that lasts ${lasts(shorter[0]!)}.` : "";
      const surprise = chosen.tomorrow || replaces !== "";
      if (chosen.at === null)
        return {
          button,
          surprise,
          text: `Guests can't order${of === types ? "" : ` ${of[0]}`} until somebody ends the pause.`,
        };
      const same = unchanged(of, chosen.at);
      if (same.length === of.length)
        return {
          button,
          missing: true,
          surprise: true,
          text: `This would change nothing: ${takes(same)}. Choose a time after ${when(Date.now() + longest() * 60_000, zone, Date.now())}.`,
        };
      const text = `No ${what()} for a time before the end, ${when(chosen.at, zone, Date.now())}. Guests can order for later.`;
      const rest = same.length > 0 ? ` Nothing changes for ${same[0]}: ${takes(same)}.` : "";
      return { button, text: text + rest + replaces, surprise: surprise || rest !== "" };
    };
    return fillIn({
      title: `Pause orders of ${name}`,
      body,
      effect,
      send: () => {
        const chosen = end.end()!;
        const fields = { until: untilOf(chosen), note: end.note(), ...(of === types ? {} : { expeditionTypes: of }) };
        const done =
          chosen.at === null ? "until somebody ends it" : `for times before ${when(chosen.at, zone, Date.now())}`;
        return send("POST", "/pause", `Paused ${which()} of ${name} ${done}.`, fields);
      },
    });
  };

  const longer = () => {
    const end = endOf(one, "How long this holds", "day");
    const least = now.busy ? 0 : Math.min(...types.map(minutes));
    const offered = [30, 45, 60, 75, 90, 120, 180, 240].filter((minutes) => minutes > least);
    const preset = offered.find((minutes) => minutes >= least + 30);
    const lead = h(
      "select",
      {},
      offered.map((minutes) => h("option", { value: minutes, selected: minutes === preset }, `${minutes} min`)),
    );
    const effect = (): Effect => {
      const chosen = end.end(),
        button = `Set ${lead.value} min ${chosen?.label ?? ""}`;
      if (!chosen) return { ...noTime, button };
      const same = now.busy ? [] : types.filter((type) => minutes(type) >= Number(lead.value));
      const ready = when(Date.now() + Number(lead.value) * 60_000, zone, Date.now());
      const rest = same.length > 0 ? ` Nothing changes for ${same[0]}: ${takes(same)}.` : "";
      const replaces = now.busy ? ` This replaces ${parseInt(now.busy.leadTime)} min ${lasts(now.busy)}.` : "";
      return {
        button,
        text: `An order that comes now is ready ${ready} at the earliest. This holds ${chosen.text}.${rest}${replaces}`,
        surprise: chosen.tomorrow || rest + replaces !== "",
      };
    };
    return fillIn({
      title: `Orders of ${name} take longer`,
      body: [h("label", {}, "An order takes at least", lead), ...end.fields],
      effect,
      send: () => {
        const chosen = end.end()!;
        const done = `Orders of ${name} take at least ${lead.value} min ${chosen.text}.`;
        return send("POST", "/busy", done, { until: untilOf(chosen), note: end.note(), leadTime: `${lead.value}m` });
      },
    });
  };

  const soldOut = async () => {
    const end = endOf(one, "How long", "day");
    const picked = await pickItems(one, signal);
    const effect = (): Effect => {
      const chosen = end.end(),
        selected = picked.ids.size;
      const button = selected === 0 ? "Mark as sold out" : `Mark ${selected} as sold out ${chosen?.label ?? ""}`;
      if (selected === 0) return { button, missing: true, text: "Select what is sold out." };
      if (!chosen) return { ...noTime, button };
      const shorter = now.snoozed.filter(({ id, until }) => picked.ids.has(id) && isLater(until, chosen.at));
      const replaces =
        shorter.length > 0 ? ` This replaces a later end: ${shorter[0]!.name} is sold out ${lasts(shorter[0]!)}.` : "";
      const text = `Guests see ${count(selected, "item")} sold out ${chosen.text}.`;
      return { button, text: text + replaces, surprise: chosen.tomorrow || replaces !== "" };
    };
    await fillIn({
      title: `Sold out at ${name}`,
      body: [picked.element, ...end.fields],
      effect,
      send: () => {
        const chosen = end.end()!;
        const done = `Guests see ${count(picked.ids.size, "item")} sold out ${chosen.text}.`;
        return send("POST", "/snooze", done, { until: untilOf(chosen), note: end.note(), ids: [...picked.ids] });
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
    let effect: Child = of.length === 2 ? "Guests can't order." : `Guests can't order ${of[0]}.`;
    if (held.until !== null) {
      const same = unchanged(of, Date.parse(held.until));
      effect =
        same.length === of.length
          ? `Guests can order again: ${takes(same)}.`
          : ["Guests can order for ", ends(held.until), " or later."];
    }
    return line(words, held, false, h("p", {}, effect));
  };
  const { delivery, pickup } = now.pause;
  const both = delivery && pickup && delivery.at === pickup.at;
  let kind = "";
  if (delivery && !pickup) kind = "delivery ";
  if (pickup && !delivery) kind = "pickup ";
  const again = act(
    `Take ${kind}orders again`,
    () => send("DELETE", "/pause", `Guests can order ${kind}at ${name} again.`),
    { class: "main" },
  );
  const wake = async (items: { id: string }[], done: string) => {
    let last: Restrictions | undefined;
    settleUntil = Date.now() + settles;
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
    (delivery || pickup) && again && h("li", {}, again),
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
        ? line([label(items[0]!), ": sold out"], items[0]!, wakes(items, "Sell again", items[0]!.name))
        : line(
            `${items.length} are sold out`,
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
      act("Orders take longer…", longer),
      one.version !== null && act("Sold out…", soldOut),
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
  type Item = { id?: unknown; name?: unknown; description?: unknown };
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
  const off = new Set(one.availability!.snoozed.map(({ id }) => id));
  const named = (items: Item[] | undefined, kind: string) =>
    (items ?? [])
      .filter(({ id }) => id !== undefined && id !== null)
      .map(({ id, name, description }) => ({
        id: String(id),
        name: String(name ?? id),
        words: `${name} ${description ?? ""}`.toLowerCase(),
        state: [kind, off.has(String(id)) && "sold out"].filter(Boolean).join(", "),
      }));
  const items = [...named(view.products, ""), ...named(view.ingredients, "option")];
  const ids = new Set<string>();
  const list = h("ul", { class: "items" });
  const search = h("input", { type: "search", autocomplete: "off", oninput: () => draw() });
  const status = h("p", { role: "status" });
  const draw = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = items.filter((item) => words.every((word) => item.words.includes(word)));
    const byName = (item: { name: string }) => Number(!words.every((word) => item.name.toLowerCase().includes(word)));
    matches.sort((a, b) => byName(a) - byName(b)); // what matches by its description comes after what matches by its name
    const others = items.filter((item) => ids.has(item.id) && !matches.includes(item));
    const found = [...matches.slice(0, shown), ...others];
    put(
      list,
      matches.length === 0 && !fault && h("li", {}, `Nothing found for “${search.value.trim()}”.`),
      found.map(({ id, name, state }) => {
        const box = h("input", {
          type: "checkbox",
          checked: ids.has(id),
          oninput: () => {
            if (box.checked) ids.add(id);
            else ids.delete(id);
            say(matches.length);
          },
        });
        return h(
          "li",
          {},
          h("label", { class: "choice" }, box, h("span", {}, h("bdi", {}, name), state && h("small", {}, state))),
        );
      }),
    );
    say(matches.length);
  };
  const say = (found: number) => {
    const more =
      found > shown ? `; the first ${shown} of ${count(found, "match", "matches")} are listed, search for others` : "";
    const chosen = new Set(items.filter(({ id }) => ids.has(id)).map(({ name }) => name));
    const same = items.filter(({ id, name }) => chosen.has(name) && !ids.has(id)).length;
    const left =
      same > 0 ? `; ${count(same, "other item")} with the same name ${same === 1 ? "is" : "are"} not selected` : "";
    status.textContent = fault || `${count(ids.size, "selected", "selected")}${left}${more}`;
  };
  draw();
  return { element: h("div", {}, h("label", {}, "Search dishes and options", search), status, list), ids };
}
