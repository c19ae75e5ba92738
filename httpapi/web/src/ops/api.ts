// Requests to larder. Each one uses the page's own origin and the session cookie,
// and is aborted when its view is closed.

/** An error response, with its message. */
export class ResponseError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly retryAfter: number,
  ) {
    super(message);
  }
}

const limit = 75_000; // of one request, in milliseconds; a request waits for a run for at most a minute

let whenEnded: () => void = () => {};

/** Sets the function that is called when the session has ended. */
export function onSessionEnd(then: () => void): void {
  whenEnded = then;
}

interface RequestOptions {
  method?: string;
  body?: unknown;
  signal?: AbortSignal;
}

/** Returns the whole response. Throws a ResponseError, or an AbortError if the view was closed. */
export async function ask<T>(path: string, { method = "GET", body, signal }: RequestOptions = {}): Promise<T> {
  const signals = [AbortSignal.timeout(limit), ...(signal ? [signal] : [])];
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      credentials: "same-origin",
      cache: "no-store",
      signal: AbortSignal.any(signals),
      ...(body === undefined ? {} : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ResponseError(
      0,
      "unreachable",
      "Can't reach larder. Your last action may have gone through; refresh before repeating it.",
      0,
    );
  }
  const text = await response.text();
  if (response.ok) return (text === "" ? undefined : JSON.parse(text)) as T;
  let code = "unreadable",
    message = `larder responded with status ${response.status}.`;
  try {
    const problem = JSON.parse(text);
    code = problem.code;
    message = sentence(problem);
  } catch {
    /* a proxy responded, not larder */
  }
  if (response.status === 401 && !path.startsWith("/ops/")) whenEnded();
  throw new ResponseError(response.status, code, message, Number(response.headers.get("Retry-After") ?? 0));
}

/** Returns the member `result` of a response. */
export async function result<T>(path: string, options: RequestOptions = {}): Promise<T> {
  return (await ask<{ result: T }>(path, options)).result;
}

function sentence(problem: { msg: string; errors?: { msg: string }[] | null }): string {
  const all = [problem.msg, ...(problem.errors ?? []).map((one) => one.msg)].filter(
    (text, i, texts) => text && texts.indexOf(text) === i,
  );
  return all.map((text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".")).join(" ");
}

/** Reports whether an error only means that the view was closed. */
export function isGone(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the path of a restaurant's routes. */
export function pathOf(restaurant: string): string {
  return "/v1/ops/restaurants/" + encodeURIComponent(restaurant);
}

/** Returns a query string without empty values. */
export function query(values: Record<string, string | number | null | undefined>): string {
  const given = Object.entries(values).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return given.length === 0 ? "" : "?" + new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
}
