// Mistakes in the attributes and properties of the elements, for the developers of the site.

import type { Menu } from "./menu";
import { report } from "./report";
import { orUndefined } from "./store";
import type { Opening } from "./times";

/** Settings are what the site has set. */
export interface Settings {
  getAttribute(name: string): string | null;
  readonly openings?: readonly Opening[] | null;
}

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i; // RFC 3339

/** checkSettings reports each value that the element cannot use, and the slots without a dish. */
export function checkSettings(site: Settings, slots: Iterable<string> = [], menu?: Menu): void {
  for (const slot of slots)
    if (!menu?.product(slot.slice(5)))
      report(
        `slot="${slot}" belongs to no dish of the menu. Use "card-" and the id of a dish: /v1/restaurants/${site.getAttribute("restaurant")}/menu lists the ids.`,
      );
  const zone = site.getAttribute("time-zone");
  if (zone && !orUndefined(() => new Intl.DateTimeFormat("en", { timeZone: zone })))
    report(`time-zone="${zone}" is unknown. Use a name such as Europe/Lisbon.`);
  const currency = site.getAttribute("currency");
  if (currency && orUndefined(() => Intl.supportedValuesOf("currency").includes(currency.toUpperCase())) === false)
    report(`currency="${currency}" is unknown. Use an ISO 4217 code such as EUR.`);
  for (const [name, unit] of [
    ["lead-time", "minutes"],
    ["max-lead", "days"],
  ] as const) {
    const value = site.getAttribute(name);
    if (value && !(Number(value) >= 0 && Number(value) < Infinity))
      report(`${name}="${value}" is not a number of ${unit}. The default is used.`);
  }
  const { openings } = site;
  if (openings && !Array.isArray(openings)) return report("openings is not a list of intervals.");
  for (const opening of openings ?? []) {
    const { from, to } = Object(opening) as Partial<Opening>;
    const valid = [from, to].every(
      (time) => typeof time === "string" && instant.test(time) && !Number.isNaN(Date.parse(time)),
    );
    if (!valid)
      report(
        `openings: ${JSON.stringify(opening)} is not an interval in RFC 3339. Use {"from": "2026-05-01T11:00:00+01:00", "to": "2026-05-01T22:30:00+01:00"}.`,
      );
    else if (Date.parse(from!) > Date.parse(to!)) report(`openings: ${JSON.stringify(opening)} ends before it starts.`);
  }
}
