// The routes of the sandbox and the types of their responses (docs/sandbox.md).

export type State = "new" | "accepted" | "kitchen" | "cash_station" | "closed" | "rejected";

/** An order. Its body is what a client sent, so any field may be missing or have any type. */
export interface Ticket {
  orderID: string;
  restaurantID: string;
  state: State;
  paid: boolean;
  createdAt: string;
  total: number;
  body: Record<string, unknown>;
}

export interface Fault {
  match: { method?: string; path?: string; restaurant?: string };
  times?: number;
  probability?: number;
  do: string;
  delay?: string;
  status?: number;
  retryAfter?: number;
  after?: number;
}

export type Value = string | number | boolean | object;
export type Values = Record<string, Value>;

export interface Board {
  counters: { calls: Record<string, number>; executed: Record<string, number>; tokens: number };
  faults: Fault[];
  settings: Values;
  refused: { at: string; requestId: string; restaurantID: string; reasons: string[] | null }[];
  menus: number;
}

/** The time limit of one request, in milliseconds. */
const limit = 15_000;

/** Sends a request to the sandbox. It throws an Error with the message of an error response. */
async function ask<T>(method: string, path: string, body?: object): Promise<T> {
  const sent = body instanceof Blob ? body : body && JSON.stringify(body);
  const response = await fetch(`/sandbox/${path}`, {
    method,
    signal: AbortSignal.timeout(limit),
    headers: body ? { "Content-Type": "application/json" } : {},
    body: sent ?? null,
  });
  const answer = (await response.json()) as { result: T; msg?: string; errors?: string[] | null };
  if (!response.ok) throw new Error([answer.msg ?? `status ${response.status}`, ...(answer.errors ?? [])].join(": "));
  return answer.result;
}

const at = encodeURIComponent;

export const advance = (id: string, to: State) => ask("POST", `orders/${at(id)}/advance`, { to });
export const orderOf = (id: string) =>
  ask<{ headers: Record<string, string>; raw: string; payments: unknown[] }>("GET", `orders/${at(id)}`);
export const addFault = (fault: Fault) => ask("POST", "faults", fault);
export const setFaults = (faults: Fault[]) => ask("PUT", "faults", faults);
export const setSettings = (change: Values) => ask<Values>("PUT", "settings", change);
export const clearCounters = () => ask("DELETE", "counters");

/** The names of the menus that were found, by restaurant. */
export const names = new Map<string, string>();

/** Returns the ids of menus that match a search, and stores their names. */
export async function findMenus(search: string): Promise<string[]> {
  const found = await ask<{ menus: string[]; names: Record<string, string> }>(
    "GET",
    `menus?limit=50&search=${at(search)}`,
  );
  for (const [id, name] of Object.entries(found.names)) if (name || !names.has(id)) names.set(id, name);
  return found.menus;
}

/** Returns the name of a restaurant's menu with its id, or only the id. */
export const named = (id: string): string => (names.get(id) ? `${names.get(id)} (${id})` : id);

/** Returns the id in a text of named, or the whole text. */
export const idIn = (text: string): string => /\(([^()]+)\)$/.exec(text)?.[1] ?? text;

export const menuPath = (restaurant: string) => `/sandbox/menus/${at(restaurant)}`;
export const menuOf = (restaurant: string) => ask<Record<string, unknown>>("GET", `menus/${at(restaurant)}`);
export const putMenu = (restaurant: string, file: Blob) =>
  ask<{ bytes: number; wellFormed: boolean }>("PUT", `menus/${at(restaurant)}`, file);
export const stop = (restaurant: string, stops: Record<string, boolean>) =>
  ask("PATCH", `stop-list/${at(restaurant)}`, stops);
