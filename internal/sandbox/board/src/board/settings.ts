// The settings of the sandbox. Each change is sent immediately.
import { h, say, words } from "./dom";
import { setSettings, type Board, type Value, type Values } from "./sandbox";

interface Setting {
  name: string;
  title: string;
  about: string;
  values?: string[];
}

const known: Setting[] = [
  { name: "autoAccept", title: "Orders advance automatically", about: "If off, orders advance only on this board." },
  {
    name: "autoAcceptDelay",
    title: "Time until an order is in the kitchen",
    about: "Accepted after half of this time, at the cash station after twice this time.",
  },
  {
    name: "rejectionReasons",
    title: "Rejection reasons",
    about: "The sandbox lists reasons, and a rejection needs one of them.",
  },
  { name: "tokenLifetime", title: "Lifetime of new tokens", about: "At least 1s." },
  {
    name: "bodies",
    title: "Request bodies",
    about: "strict: as documented; tolerant: also variants that real clients send.",
    values: ["strict", "tolerant"],
  },
  { name: "validators", title: "Menus have an ETag", about: "Clients can then ask whether a menu has changed." },
  { name: "spelling", title: "Spelling of ids in responses", about: "orderID or orderId.", values: ["ID", "Id"] },
  { name: "prices", title: "Prices in menus", about: "As numbers or as text.", values: ["number", "string"] },
  {
    name: "nulls",
    title: "Missing values in menus",
    about: "null, empty, or omitted.",
    values: ["null", "empty", "omit"],
  },
  { name: "orderIDs", title: "Ids of new orders", about: "Text, or numbers above 2^53.", values: ["string", "number"] },
  { name: "paymentRefusedStatus", title: "Status for a payment that is too small", about: "200, or 400 to 599." },
  {
    name: "capacity",
    title: "Capacity for orders and changes",
    about:
      "The number of concurrent calls (0: no limit) and the duration of each. Further calls wait. They are executed even if the client has disconnected.",
  },
  {
    name: "currencies",
    title: "Accepted payment codes",
    about: "GUIDs of currencies, separated by commas. Empty: all.",
  },
];

type Input = HTMLInputElement | HTMLSelectElement;

/** The settings view. */
export class Settings {
  readonly title = "Settings";
  readonly root: HTMLElement;
  private readonly form = h("div", { className: "fields panel" });
  private readonly wrong = h("p", { className: "wrong", role: "alert" });
  private readonly inputs = new Map<string, Input>();
  private now: Values = {};

  constructor() {
    this.root = h(
      "div",
      { className: "view" },
      h("h1", {}, "Settings"),
      h("p", { className: "faint" }, "A change takes effect immediately and is lost when the sandbox stops."),
      this.wrong,
      this.form,
    );
  }

  board({ settings }: Board): void {
    this.now = settings;
    for (const [name, value] of Object.entries(settings)) {
      const input = this.inputs.get(name) ?? this.add(name, value);
      if (input !== document.activeElement || !(input instanceof HTMLInputElement)) write(input, value); // do not overwrite a field that is being edited
    }
  }

  /** Adds the control of a setting. An unknown setting is shown with its name. */
  private add(name: string, value: Value): Input {
    const { title, about, values } = known.find((one) => one.name === name) ?? {
      title: name,
      about: "",
      values: undefined,
    };
    const onchange = () => void this.change(name, input);
    const described = { onchange, "aria-describedby": `about-${name}` };
    const type = { boolean: "checkbox", number: "number" }[typeof value as string] ?? "text";
    const input: Input = values
      ? h("select", described, ...values.map((one) => h("option", {}, one)))
      : h("input", { ...described, type });
    const label =
      type === "checkbox"
        ? h("label", { className: "tick" }, input, title)
        : h("label", { className: "field" }, title, input);
    this.form.append(h("div", {}, label, h("p", { className: "faint", id: `about-${name}` }, about)));
    this.inputs.set(name, input);
    return input;
  }

  private async change(name: string, input: Input): Promise<void> {
    this.wrong.textContent = "";
    const was = this.now[name]!;
    try {
      this.now = await setSettings({ [name]: read(input, was) });
      write(input, this.now[name]!);
      say("Saved");
    } catch (error) {
      write(input, was);
      this.wrong.textContent = words(error);
    }
  }
}

function read(input: Input, like: Value): Value {
  if (Array.isArray(like))
    return input.value
      .split(",")
      .map((one) => one.trim())
      .filter(Boolean);
  if (typeof like === "boolean") return (input as HTMLInputElement).checked;
  if (typeof like === "object") return JSON.parse(input.value) as object;
  return typeof like === "number" ? Number(input.value) : input.value;
}

function write(input: Input, value: Value): void {
  if (typeof value === "boolean") (input as HTMLInputElement).checked = value;
  else if (Array.isArray(value)) input.value = value.join(", ");
  else input.value = typeof value === "object" ? JSON.stringify(value) : String(value);
}
