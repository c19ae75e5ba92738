// The fields of the order form. Each has a place for an error message below it.

import { h } from "./dom";
import { fieldsOf, required, withOffset, type Form } from "./order";
import type { Key } from "./texts";

/** FormHost is the element that contains the fields. */
export interface FormHost {
  form: Form;
  readonly payments: string[];
  text(key: Key, params?: Record<string, string | number>): string;
  changed(): void;
  later(): void;
}

interface Field { input: HTMLElement; note: HTMLElement; touched: boolean }

const hints: Record<string, string> = {
  "guest.firstName": "given-name", "guest.phone": "tel", "address.street": "address-line1", "address.cityName": "address-level2",
};

/** Fieldset shows the fields. It is rebuilt only if the set of fields changes, so that the focus stays. */
export class Fieldset {
  readonly element = h("div", { part: "fields", class: "fields" });
  private fields = new Map<string, Field>();
  private shape = "";

  constructor(private readonly host: FormHost) {}

  draw(format: string, busy: boolean): void {
    const { form, payments } = this.host;
    const shape = [format, form.expedition, form.soonest, form.payment === "cash", payments.join()].join(" ");
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

  /** clear removes all error messages. */
  clear(): void {
    for (const { input, note } of this.fields.values()) {
      input.removeAttribute("aria-invalid");
      if (note.textContent) note.textContent = "";
    }
  }

  /** mark shows an error at a field that the guest has left, or at any field if submitted. It reports whether the field exists. */
  mark(name: string, text: string, submitted: boolean): boolean {
    const field = this.fields.get(name);
    if (!field) return false;
    if (submitted || field.touched) {
      field.input.setAttribute("aria-invalid", "true");
      field.note.textContent = text;
    }
    return true;
  }

  firstWrong(): HTMLElement | null { return this.element.querySelector("[aria-invalid=true]"); }

  private build(): void {
    const { form, payments } = this.host;
    const text = this.host.text.bind(this.host);
    const names = fieldsOf(form.expedition);
    const of = (prefix: string): HTMLElement[] => names.filter((n) => n.startsWith(prefix)).map((n) => this.field(n));
    const sets = [
      this.choice("expeditionType", "howToGet", ["delivery", "pickup"], form.expedition, (v) => { form.expedition = v as Form["expedition"]; }),
      h("fieldset", {}, h("legend", {}, text("who")), ...of("guest.")),
      form.expedition === "delivery" && h("fieldset", { class: "address" }, h("legend", {}, text("where")), ...of("address.")),
      this.choice("expectedAt", "when", ["soonest", "atTime"], form.soonest ? "soonest" : "atTime", (v) => {
        form.soonest = v === "soonest";
        if (!form.soonest && !form.at) form.at = inAnHour();
      }, form.soonest ? null : this.time()),
      this.choice("paymentTypeID", "payment", payments as Key[], form.payment, (v) => { form.payment = v; }, form.payment === "cash" ? this.field("changeFrom") : null),
      h("fieldset", {}, this.field("comment")),
    ];
    this.element.replaceChildren(...sets.filter((s): s is HTMLFieldSetElement => s !== false));
  }

  private choice(name: string, title: Key, values: Key[], chosen: string, set: (value: string) => void, more: Node | null = null): HTMLFieldSetElement {
    const note = h("p", { class: "wrong note", id: "n-" + name });
    const box = h("fieldset", { "aria-describedby": note.id, part: "field", "data-field": name }, h("legend", {}, this.host.text(title)), h("div", { class: "choices" }, ...values.map((value) => h("label", { class: "row" },
      h("input", { type: "radio", name, value, id: `f-${name}-${value}`, ".checked": value === chosen, onchange: () => {
        set(value);
        this.host.changed();
      } }), this.host.text(this.labelOf(value))))), more, note);
    if (!this.fields.has(name)) this.fields.set(name, { input: box, note, touched: false });
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
      id: "f-" + name, name, autocomplete: hints[name] ?? "off", "aria-describedby": note.id, "aria-required": needed || null, maxlength: most, ".value": this.host.form.fields[name] ?? "",
      oninput: (event: Event) => {
        this.host.form.fields[name] = (event.target as HTMLInputElement).value;
        this.host.changed();
      },
      onblur: () => {
        const field = this.fields.get(name);
        if (field && !field.touched && this.host.form.fields[name] !== undefined) {
          field.touched = true;
          this.host.later(); // an immediate redraw could move a button during a click
        }
      },
    };
    const input = long ? h("textarea", { ...attributes, rows: 2 })
      : h("input", { ...attributes, type: name === "guest.phone" ? "tel" : "text", inputmode: name === "changeFrom" ? "decimal" : name === "address.floor" ? "numeric" : null });
    return this.labelled(name, input, note, needed);
  }

  private time(): HTMLElement {
    const name = "expectedAt";
    const note = h("p", { class: "wrong note", id: "n-" + name });
    const input = h("input", { id: "f-" + name, type: "datetime-local", "aria-describedby": note.id, "aria-required": true, ".value": this.host.form.at, oninput: () => {
      this.host.form.at = input.value;
      this.host.changed();
    } });
    return this.labelled(name, input, note, true);
  }

  private labelled(name: string, input: HTMLElement, note: HTMLElement, needed: boolean): HTMLElement {
    this.fields.set(name, { input, note, touched: false });
    const label = this.host.text(name as Key, { zone: zoneAt(this.host.form.at) });
    return h("div", { part: "field", "data-field": name }, h("label", { for: input.id }, needed ? label : this.host.text("optional", { name: label })), input, note);
  }
}

/** zoneAt returns the short name of the guest's time zone at a local time, or now if the time is not valid. */
function zoneAt(local: string): string {
  const at = new Date(local);
  const parts = new Intl.DateTimeFormat("en-GB", { timeZoneName: "short" }).formatToParts(Number.isNaN(at.getTime()) ? new Date() : at);
  return parts.find((part) => part.type === "timeZoneName")?.value ?? "";
}

/** inAnHour returns the first suggestion for a time: in about an hour, at a quarter of an hour. */
function inAnHour(): string {
  const at = new Date(Date.now() + 75 * 60_000);
  at.setMinutes(Math.floor(at.getMinutes() / 15) * 15, 0, 0);
  return withOffset(new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)).slice(0, 16);
}
