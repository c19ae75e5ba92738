// The fields of the order form. Each has a place for an error message below it.

import type { Details } from "./api";
import type { Line } from "./basket";
import { decimal, type Decimal } from "./decimal";
import { h } from "./dom";
import type { Formatter } from "./groups";
import type { Menu } from "./menu";
import { fieldsOf, lineMessage, placeOf, required, withoutDuplicates, type Form } from "./order";
import type { Violation } from "./place";
import { checkSettings, type Settings } from "./settings";
import { orUndefined } from "./store";
import type { Key } from "./texts";
import {
  about,
  asLocal,
  bookable,
  clock,
  dayName,
  minutesOf,
  moment,
  opens,
  openingsOf,
  resumes,
  slots,
  soon,
  timeOf,
  zoneName,
  type Times,
} from "./times";

/** FormHost is the element that contains the fields. */
export interface FormHost extends Settings {
  form: Form;
  readonly payments: string[];
  readonly locale: string;
  readonly openings: Times["openings"];
  readonly details: Details;
  readonly isConnected: boolean;
  learn(): void;
  readonly timeZone: string;
  getAttribute(name: string): string | null;
  money(amount: Decimal): string;
  readonly formatter: Formatter;
  addEventListener(name: "pointerdown", work: () => void): void;
  entered(): void;
  later(): void;
}

/** Places are where violations are shown, besides the fields: line returns a line of the basket, and moves the focus to it. */
export interface Places {
  submitted: boolean;
  menu: Menu | null | undefined;
  line(index: number): [Line, () => void] | undefined;
  top(): void;
}

// Milliseconds from the end of a press to its click, and of the longest press that is waited for.
const clickTime = 100;
const longestPress = 10_000;

interface Field {
  input: HTMLElement;
  note: HTMLElement;
  label: string;
  touched: boolean;
}

const hints: Record<string, string> = {
  "guest.firstName": "given-name",
  "guest.phone": "tel",
  "address.cityName": "address-level2",
  "address.street": "address-line1",
  "address.apartmentNumber": "address-line2",
};

const keyboards: Record<string, string> = { changeFrom: "decimal", "address.floor": "numeric" }; // that a phone shows, if it is not the usual one

/** Fieldset shows the fields. It is rebuilt only if the set of fields changes, so that the focus stays. */
export class Fieldset {
  readonly element = h("div", { part: "fields", class: "fields" });
  /** released is resolved unless a pointer is pressed in the form. Until then nothing may move: a button that leaves the finger gets no click. */
  released = Promise.resolve();
  private readonly soonTime = h("span", { part: "soon-time" });
  private fields = new Map<string, Field>();
  private shape = "";
  private typeChosen = false; // the guest has chosen delivery or pickup
  private tick = 0; // the timer that looks whether the restaurant has opened or closed

  /** A new fieldset restores what was entered before a reload, or what the guest's browser remembers. */
  constructor(private readonly host: FormHost) {
    const kept = orUndefined(() =>
      JSON.parse(sessionStorage.getItem("larder:guest") ?? localStorage.getItem("larder:guest") ?? "null"),
    ) as Form | null | undefined;
    if (kept && typeof kept.fields === "object" && kept.fields) host.form = { ...host.form, ...kept };
    host.addEventListener("pointerdown", () => {
      this.released = new Promise((resolve) => {
        const over = new AbortController();
        const done = (): void => {
          over.abort();
          resolve();
        };
        const listen = (name: string, work: () => void): void =>
          addEventListener(name, work, { capture: true, signal: over.signal });
        listen("click", done);
        listen("pointercancel", done);
        listen("pointerup", () => setTimeout(done, clickTime));
        setTimeout(done, longestPress);
      });
    });
  }

  /** expire drops a chosen time for which the guest can no longer order. The guest has to choose again. */
  expire(): void {
    const { form } = this.host;
    if (!form.soonest && form.at && !bookable(form.at, Date.now(), this.times)) [form.at, form.gone] = ["", true];
  }

  /** times are the limits of the restaurant for the type of order, which the site can narrow. */
  private get times(): Times {
    const { host } = this;
    const number = (name: string, standard: number): number => {
      const value = Number(host.getAttribute(name));
      return value > 0 && value < Infinity ? value : standard;
    };
    const { accepts, hours } = host.details;
    const { expedition } = host.form;
    const own = minutesOf(accepts?.[expedition].leadTime);
    return {
      lead: Number.isNaN(own) ? number("lead-time", 60) : Math.max(number("lead-time", 0), own),
      from: resumes(accepts?.[expedition]),
      days: number("max-lead", 30),
      openings: host.openings ?? openingsOf(hours?.[expedition]),
      zone: host.timeZone,
    };
  }

  private get openNow(): boolean {
    return soon(this.times);
  }

  /** pausedText returns the text about a pause of one type of order, or of all, with its end if that is known. */
  private pausedText(what: "Orders" | "Delivery" | "Pickup", until: number): string {
    const { host } = this;
    if (until < Infinity)
      return host.formatter.message(`no${what}Before`, { time: timeOf(host.locale, until, host.timeZone) });
    return host.formatter.message(`no${what}`);
  }

  /** pausedTypes returns the ends of the pauses of delivery and pickup, as resumes does. */
  private get pausedTypes(): [delivery: number, pickup: number] {
    const { accepts } = this.host.details;
    return [resumes(accepts?.delivery), resumes(accepts?.pickup)];
  }

  /** preset selects pickup while delivery alone is paused, unless the guest has chosen or entered something. */
  private preset(): void {
    const { form } = this.host;
    const [delivery, pickup] = this.pausedTypes;
    if (delivery && !pickup && !this.typeChosen && !Object.values(form.fields).some(Boolean))
      form.expedition = "pickup";
  }

  /** typeText returns which type of order is paused. It is empty if closedText says it of all. */
  private get typeText(): string {
    const [delivery, pickup] = this.pausedTypes;
    if (delivery === pickup) return "";
    return [delivery && this.pausedText("Delivery", delivery), pickup && this.pausedText("Pickup", pickup)]
      .filter(Boolean)
      .join(". ");
  }

  /**
   * closedText returns until when all orders are paused, or when the restaurant opens. It is empty while it is open, and if
   * nobody knows when: then there are no times.
   */
  private get closedText(): string {
    const { host, times } = this;
    const [delivery, pickup] = this.pausedTypes;
    if (delivery && delivery === pickup) return this.pausedText("Orders", delivery);
    const next = this.openNow || times.from ? NaN : opens(times);
    return Number.isNaN(next) ? "" : host.formatter.message("opens", { time: moment(host.locale, next, times.zone) });
  }

  /** soonText is when an order for as soon as possible is expected. It is empty if nobody says how long the restaurant needs. */
  private get soonText(): string {
    const { host } = this;
    return host.getAttribute("lead-time") || host.details.accepts
      ? `, ${host.formatter.message("about", { time: about(host.locale, Date.now() + this.times.lead * 60_000, host.timeZone) })}`
      : "";
  }

  /** look reads the hours again while the form is visible. */
  private look(): void {
    if (!this.host.isConnected) {
      clearInterval(this.tick);
      this.tick = 0;
    } else if (!document.hidden) this.host.learn();
  }

  draw(format: string, busy: boolean): void {
    const { form, payments } = this.host;
    this.tick ||= setInterval(() => this.look(), 60_000);
    this.preset();
    if (!this.openNow) form.soonest = false;
    if (this.soonTime.textContent !== this.soonText) this.soonTime.textContent = this.soonText;
    if (!payments.includes(form.payment)) form.payment = payments[0] ?? "cash";
    this.expire();
    orUndefined(() => sessionStorage.setItem("larder:guest", JSON.stringify(form))); // every change is drawn
    const shape = [
      format,
      form.expedition,
      form.soonest,
      form.at.slice(0, 10),
      form.payment === "cash",
      payments.join(),
      JSON.stringify(this.times),
      this.openNow,
      this.closedText,
      this.typeText,
      this.host.details.deliveryTerms,
      form.gone,
    ].join(" ");
    if (shape !== this.shape) {
      this.shape = shape;
      const focused = (this.element.getRootNode() as ShadowRoot).activeElement?.id;
      const touched = [...this.fields].filter(([, f]) => f.touched).map(([name]) => name);
      this.fields.clear();
      this.build();
      for (const name of touched) if (this.fields.has(name)) this.fields.get(name)!.touched = true;
      if (focused) this.element.querySelector<HTMLElement>("#" + CSS.escape(focused))?.focus();
    }
    for (const set of this.element.querySelectorAll("fieldset")) set.disabled = busy;
  }

  /** show shows violations at their fields and, after the guest has tried to order, in the summary, with links to their places. */
  show(violations: readonly Violation[], summary: HTMLElement, { submitted, menu, line: lineOf, top }: Places): void {
    const { form } = this.host;
    const text = this.host.formatter.message;
    const links = new Map<Violation | string, [string, () => void]>(); // a field counts once, even with several errors
    this.clear();
    const gone = !form.soonest && form.gone ? [{ path: "/expectedAt", code: "", msg: text("timeGone") }] : [];
    for (const violation of [...withoutDuplicates(violations), ...gone]) {
      const { line, field } = placeOf(violation);
      const msg = this.messageOf(violation, field);
      const [row, focus] = (line === undefined ? undefined : lineOf(line)) ?? [];
      if (row && menu)
        links.set(violation, [`${row.name}: ${lineMessage(violation, menu, row, this.host.formatter)}`, focus!]);
      else if (field !== undefined && this.mark(field, msg, submitted))
        links.set(field, [`${this.label(field)}: ${msg}`, () => this.focus(field)]);
      else links.set(violation, [msg, top]);
    }
    const order = [...this.fields.keys()]; // as on the page: the basket is above the fields
    const rank = (key: Violation | string): number => (typeof key === "string" ? order.indexOf(key) : -1);
    const all = submitted ? [...links].sort(([a], [b]) => rank(a) - rank(b)).map(([, link]) => link) : [];
    const title = all.length ? text("wrong", { n: all.length }) : "";
    if (summary.textContent === title + all.map(([said]) => said).join("")) return;
    summary.replaceChildren(
      ...(all.length
        ? [
            h("p", { class: "wrong" }, title),
            h(
              "ul",
              {},
              ...all.map(([said, focus]) =>
                h(
                  "li",
                  {},
                  h(
                    "a",
                    {
                      href: "#problem",
                      class: "wrong",
                      onclick: (event: Event) => {
                        event.preventDefault();
                        focus();
                      },
                    },
                    said,
                  ),
                ),
              ),
            ),
          ]
        : []),
    );
  }

  /** messageOf returns the message for a guest. What larder says about numbers is for developers. */
  private messageOf({ code, msg, params }: Violation, field: string | undefined): string {
    const { host } = this;
    const { from = 0 } = this.times;
    if (code === "restaurant_paused" || (field === "expectedAt" && from === Infinity))
      // then there is no time to choose
      return this.pausedText(
        host.form.expedition === "pickup" ? "Pickup" : "Delivery",
        from || Date.parse(params?.until ?? "") || Infinity,
      );
    if (code === "field_required") return host.formatter.message("fillIn");
    if (code === "phone_invalid") return host.formatter.message("phoneInvalid");
    if (code === "restaurant_closed" && params?.opensAt)
      return host.formatter.message("opens", {
        time: moment(host.locale, Date.parse(params.opensAt), this.times.zone),
      });
    if (code === "too_soon") return host.formatter.message("timeGone");
    if (code === "minimum_order")
      return host.formatter.message("minimum", {
        sum: host.money(decimal(params?.minimum)),
        missing: host.money(decimal(params?.missing)),
      });
    if (field !== "changeFrom") return msg;
    return code === "change_too_small"
      ? host.formatter.message("changeTooSmall", { sum: host.money(decimal(params?.minimum)) })
      : host.formatter.message("changeInvalid");
  }

  /** clear removes all error messages. */
  private clear(): void {
    for (const { input, note } of this.fields.values()) {
      input.removeAttribute("aria-invalid");
      if (note.textContent) note.textContent = "";
    }
  }

  /** mark shows an error at a field that the guest has left, or at any field if submitted. It reports whether the field exists. */
  private mark(name: string, text: string, submitted: boolean): boolean {
    const field = this.fields.get(name);
    if (!field) return false;
    if (submitted || field.touched) {
      field.input.setAttribute("aria-invalid", "true");
      field.note.textContent = text;
    }
    return true;
  }

  /** label returns the name of a field. */
  private label(name: string): string {
    return this.fields.get(name)?.label ?? "";
  }

  /** focus moves the focus to a field, or to the first input of a group. */
  focus(name: string): void {
    const input = this.fields.get(name)?.input;
    (input?.querySelector<HTMLElement>("input:checked, input") ?? input)?.focus();
  }

  /** focusFirstWrong moves the focus to the first field with an error. It reports whether there is one. */
  focusFirstWrong(): boolean {
    const [wrong] = [...this.fields].find(([, f]) => f.input.getAttribute("aria-invalid") === "true") ?? [];
    if (wrong) this.focus(wrong);
    return !!wrong;
  }

  private build(): void {
    checkSettings(this.host);
    const { form, payments } = this.host;
    const text = this.host.formatter.message;
    const names = fieldsOf(form.expedition);
    const of = (prefix: string): HTMLElement[] => names.filter((n) => n.startsWith(prefix)).map((n) => this.field(n));
    const sets = [
      this.choice(
        "expeditionType",
        "howToGet",
        ["delivery", "pickup"],
        form.expedition,
        (v) => {
          form.expedition = v as Form["expedition"];
          this.typeChosen = true;
        },
        null,
        this.typeText,
      ),
      h("fieldset", { class: "who" }, h("legend", {}, text("who")), ...of("guest.")),
      form.expedition === "delivery" &&
        h(
          "fieldset",
          { class: "address" },
          h("legend", {}, text("where")),
          this.host.details.deliveryTerms &&
            h("p", { part: "delivery-terms", class: "muted", dir: "auto" }, this.host.details.deliveryTerms),
          ...of("address."),
        ),
      this.choice(
        "expectedAt",
        "when",
        this.openNow ? ["soonest", "atTime"] : ["atTime"],
        form.soonest ? "soonest" : "atTime",
        (v) => {
          form.soonest = v === "soonest";
        },
        form.soonest ? null : this.time(),
        this.closedText,
      ),
      this.choice(
        "paymentTypeID",
        "payment",
        payments as Key[],
        form.payment,
        (v) => {
          form.payment = v;
        },
        form.payment === "cash" ? this.field("changeFrom") : null,
      ),
      h("fieldset", {}, this.field("comment")),
      h(
        "label",
        { class: "row remember" },
        h("input", {
          type: "checkbox",
          name: "remember",
          ".checked": form.remember === true,
          onchange: (event: Event) => {
            form.remember = (event.target as HTMLInputElement).checked;
            this.keepDetails();
            this.host.later(); // draws, which stores the choice
          },
        }),
        text("remember"),
      ),
    ];
    this.element.replaceChildren(...sets.filter((s) => s !== false));
  }

  private entered(): void {
    if (this.host.form.remember) this.keepDetails();
    this.host.entered();
  }

  /** keepDetails stores the guest's details for the next visit, or deletes them, as the guest has chosen. */
  private keepDetails(): void {
    const { form } = this.host;
    const { comment, changeFrom, ...fields } = form.fields;
    orUndefined(() =>
      form.remember
        ? localStorage.setItem("larder:guest", JSON.stringify({ ...form, soonest: true, at: "", gone: false, fields }))
        : localStorage.removeItem("larder:guest"),
    );
  }

  private choice(
    name: string,
    title: Key,
    values: Key[],
    chosen: string,
    set: (value: string) => void,
    more: Node | null = null,
    notice = "",
  ): HTMLFieldSetElement {
    const note = h("p", { class: "wrong note", id: "n-" + name });
    const box = h(
      "fieldset",
      { "aria-describedby": note.id, part: "field", "data-field": name },
      h("legend", {}, this.host.formatter.message(title)),
      notice && h("p", { part: "closed", role: "status" }, notice),
      h(
        "div",
        { class: "choices" },
        ...values.map((value) =>
          h(
            "label",
            { class: "row" },
            h("input", {
              type: "radio",
              name,
              value,
              id: `f-${name}-${value}`,
              ".checked": value === chosen,
              onchange: () => {
                set(value);
                this.entered();
              },
            }),
            h("span", {}, this.host.formatter.message(this.labelOf(value)), value === "soonest" && this.soonTime),
          ),
        ),
      ),
      more,
      note,
    );
    if (!this.fields.has(name))
      this.fields.set(name, { input: box, note, label: this.host.formatter.message(title), touched: false });
    return box;
  }

  /** labelOf returns the text of a choice. A card is used on delivery or at pickup. */
  private labelOf(value: Key | "card"): Key {
    if (value !== "card") return value;
    return this.host.form.expedition === "delivery" ? "cardOnDelivery" : "cardAtPickup";
  }

  private field(name: string): HTMLElement {
    const needed = required(this.host.form.expedition).includes(name);
    const note = h("p", { class: "wrong note", id: "n-" + name });
    const long = name === "comment";
    const most = name.startsWith("guest.") ? 200 : 1000; // policy H10; larder validates it again
    const attributes = {
      id: "f-" + name,
      name,
      autocomplete: hints[name] ?? "off",
      "aria-describedby": note.id,
      "aria-required": needed || null,
      maxlength: most,
      ".value": this.host.form.fields[name] ?? "",
      oninput: (event: Event) => {
        this.host.form.fields[name] = (event.target as HTMLInputElement).value;
        this.entered();
      },
      onblur: () => {
        const field = this.fields.get(name);
        if (field && !field.touched && this.host.form.fields[name] !== undefined) {
          field.touched = true;
          this.host.later(); // an immediate redraw could move a button during a click
        }
      },
    };
    const input = long
      ? h("textarea", { ...attributes, rows: 2 })
      : h("input", {
          ...attributes,
          type: name === "guest.phone" ? "tel" : "text",
          inputmode: keyboards[name] ?? null,
        });
    return this.labelled(name, input, note, needed);
  }

  /** time offers the days and the quarters of an hour for which the guest can order. */
  private time(): HTMLElement {
    const { form, locale } = this.host;
    const limits = this.times;
    const all = slots(Date.now(), limits);
    const chosen = form.at && all.find((s) => Date.parse(s) === Date.parse(form.at)); // the zone may have changed
    form.gone = !chosen && (form.gone || form.at !== "");
    form.at = chosen || (form.gone ? "" : (all[0] ?? ""));
    const days = [...new Set(all.map((s) => s.slice(0, 10)))];
    const date = form.at.slice(0, 10) || days[0]!;
    const times = all.filter((s) => s.startsWith(date));
    const format = new Intl.DateTimeFormat(locale, { hour: "numeric", minute: "2-digit", timeZone: "UTC" });
    const select = (
      id: string,
      values: [string, string][],
      chosen: string,
      set: (value: string) => void,
    ): HTMLSelectElement => {
      const input: HTMLSelectElement = h(
        "select",
        {
          id,
          "aria-required": true,
          "aria-describedby": "n-expectedAt-time",
          onchange: () => {
            set(input.value);
            form.gone = false;
            this.entered();
          },
        },
        ...values.map(([value, name]) => h("option", { value, ".selected": value === chosen }, name)),
      );
      return input;
    };
    const note = h("p", { class: "wrong note", id: "n-expectedAt-time" });
    if (!all.length) return h("p", { class: "muted" }, this.host.formatter.message("noTimes"));
    // At the end of daylight saving time, an hour occurs twice: the offset tells them apart.
    const twice = (time: string): boolean => times.filter((t) => t.slice(0, 16) === time.slice(0, 16)).length > 1;
    const at = select(
      "f-expectedAt",
      [
        ...(form.gone ? [["", this.host.formatter.message("choose")] as [string, string]] : []),
        ...times.map((t): [string, string] => [t, format.format(asLocal(t)) + (twice(t) ? ` (${t.slice(19)})` : "")]),
      ],
      form.at,
      (value) => {
        form.at = value;
      },
    );
    const today = clock(limits.zone)(Date.now()).slice(0, 10);
    const on = select(
      "f-expectedAt-day",
      days.map((d) => [d, dayName(locale, d, today)]),
      date,
      (value) => {
        form.at =
          all.find((s) => s.startsWith(value) && s.slice(11, 16) === form.at.slice(11, 16)) ??
          all.find((s) => s.startsWith(value))!;
      },
    );
    const label = this.host.formatter.message("expectedAt", { zone: zoneName(locale, form.at, limits.zone) });
    this.fields.set("expectedAt", { input: at, note, label, touched: form.gone });
    return h(
      "div",
      { class: "times" },
      h("div", { part: "field" }, h("label", { for: on.id }, this.host.formatter.message("day")), on),
      h("div", { part: "field", "data-field": "expectedAt" }, h("label", { for: at.id }, label), at, note),
    );
  }

  private labelled(name: string, input: HTMLElement, note: HTMLElement, needed: boolean): HTMLElement {
    const label = this.host.formatter.message(name as Key);
    this.fields.set(name, { input, note, label, touched: false });
    return h(
      "div",
      { part: "field", "data-field": name },
      h("label", { for: input.id }, needed ? label : this.host.formatter.message("optional", { name: label })),
      input,
      note,
    );
  }
}
