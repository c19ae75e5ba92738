// The form for a custom fault.
import { h } from "./dom";
import { calls, actions } from "./presets";
import type { Fault } from "./sandbox";

const choice = (names: string[]) => h("select", {}, ...names.map((name, i) => h("option", { value: String(i) }, name)));
const number = (value: string, min: string, max: string, required = true) =>
  h("input", { type: "number", value, min, max, required });
const field = (name: string, input: HTMLElement) => h("label", { className: "field" }, name, input);

/** Returns the form. It calls inject with the fault. */
export function ownFault(inject: (fault: Fault) => void): HTMLFormElement {
  const where = choice(calls.map((call) => call.name));
  const what = choice(actions.map((action) => action.words));
  const needed = {
    status: number("503", "200", "599"),
    delay: h("input", {
      type: "text",
      value: "2s",
      required: true,
      pattern: "([0-9.]+(ms|s|m|h))+",
      title: "A duration, such as 250ms, 2s or 1m30s",
    }),
    after: number("1000", "0", "100000000"),
  };
  const retry = number("", "0", "3600", false);
  const times = number("1", "1", "1000000", false);
  const restaurant = h("input", { type: "text" });
  const labels = {
    status: field("Status", needed.status),
    delay: field("Wait", needed.delay),
    after: field("Bytes before the connection breaks", needed.after),
  };
  const repeat = field("Retry-After in seconds (optional)", retry);
  const show = () => {
    const { needs } = actions[Number(what.value)]!;
    for (const name of ["status", "delay", "after"] as const) {
      labels[name].hidden = name !== needs;
      needed[name].disabled = name !== needs;
    }
    repeat.hidden = needs !== "status";
  };
  what.addEventListener("change", show);
  show();
  const onsubmit = (event: Event) => {
    event.preventDefault();
    const action = actions[Number(what.value)]!;
    const fault: Fault = { match: { ...calls[Number(where.value)]!.match }, do: action.name };
    if (restaurant.value.trim()) fault.match.restaurant = restaurant.value.trim();
    if (times.value) fault.times = Number(times.value);
    if (action.needs === "status") fault.status = Number(needed.status.value);
    if (action.needs === "status" && retry.value) fault.retryAfter = Number(retry.value);
    if (action.needs === "delay") fault.delay = needed.delay.value;
    if (action.needs === "after") fault.after = Number(needed.after.value);
    inject(fault);
  };
  return h(
    "form",
    { className: "panel", onsubmit, "aria-labelledby": "own" },
    h("h2", { id: "own" }, "Custom fault"),
    h(
      "div",
      { className: "fields" },
      field("Call", where),
      field("Effect", what),
      labels.status,
      labels.delay,
      labels.after,
      repeat,
      field("Restaurant id (empty: any)", restaurant),
      field("Number of times (empty: until removed)", times),
    ),
    h("p", {}, h("button", { className: "main", type: "submit" }, "Inject")),
  );
}
