// Asking larder. Every request goes to the page's own address, with the
// session's cookie, and ends with the view that asked.

/** A refusal, in larder's own words. */
export class Refusal extends Error {
  constructor(readonly status: number, readonly code: string, message: string, readonly retryAfter: number) {
    super(message);
  }
}

const limit = 75_000; // of one request, in milliseconds: a run is waited for a minute at most

let whenOver: () => void = () => {};

/** Tells what to do when the session turns out to be over. */
export function onSessionOver(then: () => void): void {
  whenOver = then;
}

interface Asking { method?: string; body?: unknown; signal?: AbortSignal }

/** Gives the whole answer; throws a Refusal, or an AbortError when the view is gone. */
export async function ask<T>(path: string, { method = 'GET', body, signal }: Asking = {}): Promise<T> {
  const signals = [AbortSignal.timeout(limit), ...(signal ? [signal] : [])];
  let response: Response;
  try {
    response = await fetch(path, {
      method, credentials: 'same-origin', cache: 'no-store', signal: AbortSignal.any(signals),
      ...(body === undefined ? {} : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refusal(0, 'unreachable', 'Larder cannot be reached. What was asked for may have been done: look before you ask again.', 0);
  }
  const text = await response.text();
  if (response.ok) return (text === '' ? undefined : JSON.parse(text)) as T;
  let code = 'unreadable', message = `Larder answered ${response.status}.`;
  try {
    const problem = JSON.parse(text);
    code = problem.code;
    message = sentence(problem);
  } catch { /* something between here and larder answered */ }
  if (response.status === 401 && !path.startsWith('/ops/')) whenOver();
  throw new Refusal(response.status, code, message, Number(response.headers.get('Retry-After') ?? 0));
}

/** The `result` of an answer. */
export async function result<T>(path: string, asking: Asking = {}): Promise<T> {
  return (await ask<{ result: T }>(path, asking)).result;
}

function sentence(problem: { msg: string; errors?: { msg: string }[] | null }): string {
  const all = [problem.msg, ...(problem.errors ?? []).map((one) => one.msg)].filter((text, i, texts) => text && texts.indexOf(text) === i);
  return all.map((text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.')).join(' ');
}

/** Whether an error only says that the view is gone. */
export function isGone(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

export function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The path of a restaurant's routes. */
export function pathOf(restaurant: string): string {
  return '/v1/ops/restaurants/' + encodeURIComponent(restaurant);
}

/** A query without what is empty. */
export function query(values: Record<string, string | number | null | undefined>): string {
  const given = Object.entries(values).filter(([, value]) => value !== '' && value !== null && value !== undefined);
  return given.length === 0 ? '' : '?' + new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
}
