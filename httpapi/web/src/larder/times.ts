// The times for which a guest can order, in the restaurant's time zone.

import type { components } from "../api/openapi";
import type { Details } from "./api";
import type { Formatter } from "./groups";

type Accepts = components["schemas"]["Accepts"];

/** Opening is an interval in which the restaurant takes orders, in RFC 3339. */
export interface Opening {
  from: string;
  to: string;
}

const minute = 60_000,
  step = 15 * minute,
  day = 24 * 60 * minute;

/** zoneOf returns a time zone that the browser knows: the given one, or the browser's own. */
export function zoneOf(name: string): string {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name || undefined }).resolvedOptions().timeZone;
  } catch {
    return zoneOf("");
  }
}

/** clock returns a function that writes instants in RFC 3339 with the offset of a time zone, such as "2026-05-01T18:30:00+01:00". */
export function clock(zone: string): (ms: number) => string {
  const names = new Intl.DateTimeFormat("en", { timeZone: zoneOf(zone), timeZoneName: "longOffset" });
  return (ms) => {
    const name = names.formatToParts(ms).find((part) => part.type === "timeZoneName")!.value; // "GMT+01:00" or "GMT"
    const offset = /[+-]\d\d:\d\d/.exec(name.replace("\u2212", "-"))?.[0] ?? "+00:00";
    const [hours, minutes] = offset.slice(1).split(":").map(Number) as [number, number];
    return (
      new Date(ms + (hours * 60 + minutes) * minute * (offset[0] === "-" ? -1 : 1)).toISOString().slice(0, 19) + offset
    );
  };
}

/** open reports whether an instant is in one of the intervals. Without intervals it always is. */
export function open(ms: number, openings: readonly Opening[] | null): boolean {
  return !Array.isArray(openings) || openings.some((one) => Date.parse(one?.from) <= ms && ms <= Date.parse(one?.to));
}

/** Times limits the times for which a guest can order: lead is in minutes, days is the longest lead, from is the end of a pause in milliseconds. */
export interface Times {
  lead: number;
  from?: number;
  days: number;
  openings: readonly Opening[] | null;
  zone: string;
}

/** soon reports whether a guest can order for as soon as possible. */
export function soon({ lead, from = 0, openings }: Times): boolean {
  const at = Date.now() + lead * minute;
  return at >= from && open(at, openings);
}

/** resumes returns when a pause of orders ends: 0 if they are not paused, Infinity if the end is not known. */
export const resumes = (accepts: Accepts | undefined): number =>
  accepts?.reason === "paused" ? Date.parse(accepts.next ?? "") || Infinity : 0;

/** minutesOf returns the minutes of a lead time such as "60m", or NaN. */
export function minutesOf(text: string | undefined): number {
  let sum = text ? 0 : NaN;
  for (const [, number, unit] of (text ?? "").matchAll(/([\d.]+)(h|m(?!s)|s|ms)/g))
    sum += Number(number) * ({ h: 60, m: 1, s: 1 / 60 }[unit!] ?? 0);
  return sum;
}

/** openingsOf returns the hours of a restaurant, whose ends do not belong to them, as openings. */
export const openingsOf = (hours: readonly Opening[] | null | undefined): Opening[] | null =>
  hours?.map(({ from, to }) => ({ from, to: new Date(Date.parse(to) - 1).toISOString() })) ?? null;

/** opens returns when the restaurant opens next, after the lead time; NaN if that is not known. */
export function opens({ lead, openings }: Times): number {
  const from = Date.now() + lead * minute;
  const later = (openings ?? []).map((one) => Date.parse(one?.from)).filter((at) => at > from);
  return later.length ? Math.min(...later) : NaN;
}

/** bookable reports whether a guest can still order for a time. */
export function bookable(time: string, now: number, { lead, from = 0, days, openings }: Times): boolean {
  const at = Date.parse(time);
  return at >= Math.max(now + lead * minute, from) && at <= now + days * day && open(at, openings);
}

/** zoneName names a time zone at a time, such as "GMT+1". */
export function zoneName(language: string, time: string, zone: string): string {
  const parts = new Intl.DateTimeFormat(language, { timeZone: zoneOf(zone), timeZoneName: "short" }).formatToParts(
    Date.parse(time) || Date.now(),
  );
  return parts.find((part) => part.type === "timeZoneName")!.value;
}

/**
 * slots returns the quarters of an hour for which a guest can order, earliest first:
 * between the lead time and the longest lead, within the openings, and not in a pause.
 */
export function slots(now: number, { lead, from = 0, days, openings, zone }: Times): string[] {
  const write = clock(zone);
  const found: string[] = [];
  for (let at = Math.ceil(Math.max(now + lead * minute, from) / step) * step; at <= now + days * day; at += step) {
    if (open(at, openings)) found.push(write(at));
  }
  return found;
}

/** asLocal reads a time as if its local time was in UTC, to format it without its time zone. */
export const asLocal = (time: string): Date => new Date(time.slice(0, 19) + "Z");

/** dayName names a day, such as "Tomorrow, 24 Nov" or "Thu, 26 Nov". */
export function dayName(language: string, date: string, today: string): string {
  const at = asLocal(date + "T00:00:00");
  const days = Math.round((at.getTime() - asLocal(today + "T00:00:00").getTime()) / day);
  const far = days < 0 || days > 1;
  const name = new Intl.DateTimeFormat(language, {
    ...(far && { weekday: "short" }),
    day: "numeric",
    month: "short",
    timeZone: "UTC",
  }).format(at);
  if (far) return name;
  const near = new Intl.RelativeTimeFormat(language, { numeric: "auto" }).format(days, "day");
  return `${near.charAt(0).toLocaleUpperCase(language)}${near.slice(1)}, ${name}`;
}

/** about formats a time of today that is not exact: the next full five minutes. */
export function about(language: string, ms: number, zone: string): string {
  const five = 5 * minute;
  return new Intl.DateTimeFormat(language, { hour: "numeric", minute: "2-digit", timeZone: zoneOf(zone) }).format(
    Math.ceil(ms / five) * five,
  );
}

/** timeOf formats a time of today. On another day it has the weekday, and later than in six days the date. */
export function timeOf(language: string, ms: number, zone: string, now = Date.now()): string {
  const timeZone = zoneOf(zone);
  const date = new Intl.DateTimeFormat("en", { timeZone });
  return new Intl.DateTimeFormat(language, {
    hour: "numeric",
    minute: "2-digit",
    timeZone,
    ...(date.format(ms) !== date.format(now) && { weekday: "short" }),
    ...(ms - now > 6 * day && { day: "numeric", month: "short" }),
  }).format(ms);
}

/** SoldOutHost is the element that shows the text. */
interface SoldOutHost {
  readonly details: Details;
  readonly locale: string;
  readonly timeZone: string;
  readonly formatter: Formatter;
}

/** soldOut returns the text with the time at which a snoozed dish or option returns. It is undefined if that is not known. */
export function soldOut(
  id: string,
  { details, locale, timeZone, formatter }: SoldOutHost,
  now = Date.now(),
): string | undefined {
  const until = Date.parse(details.snoozed?.find((one) => one.id === id)?.until ?? "");
  return until > now ? formatter.message("soldOutUntil", { time: timeOf(locale, until, timeZone, now) }) : undefined;
}

/** moment formats an instant for the reader, with the time zone. */
export function moment(language: string, ms: number, zone: string): string {
  return new Intl.DateTimeFormat(language, {
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "numeric",
    minute: "2-digit",
    timeZone: zoneOf(zone),
    timeZoneName: "short",
  }).format(ms);
}
