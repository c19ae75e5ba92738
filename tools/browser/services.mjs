// Clients of larder's API for operators and of the sandbox's control API.
import { env } from 'node:process';
import { must } from './scenario.mjs';

const limit = 20_000; // of one request, in milliseconds

async function ask(base, path, { method = 'GET', body, headers = {} } = {}) {
  const response = await fetch(base + path, {
    method,
    headers: body === undefined ? headers : { 'Content-Type': 'application/json', ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(limit),
  });
  const text = await response.text();
  must(response.ok, `${method} ${path}: ${response.status} ${text.slice(0, 300)}`);
  return text === '' ? undefined : JSON.parse(text);
}

const askSandbox = async (path, options) => (await ask(env.LARDER_SANDBOX, path, options)).result;

/** The sandbox, an ordering service with a control API (docs/sandbox.md). */
export const sandbox = {
  orders: () => askSandbox('/sandbox/orders'),
  counters: () => askSandbox('/sandbox/counters'),
  settings: (change) => askSandbox('/sandbox/settings', change && { method: 'PUT', body: change }),
  faults: (list) => askSandbox('/sandbox/faults', list && { method: 'PUT', body: list }),
  stop: (restaurant, stops) => askSandbox(`/sandbox/stop-list/${encodeURIComponent(restaurant)}`, { method: 'PATCH', body: stops }),
  menu: (restaurant) => askSandbox(`/sandbox/menus/${encodeURIComponent(restaurant)}`),
};

/** Larder's API for operators. */
export const larder = {
  async token() {
    const response = await fetch(`${env.LARDER_URL}/connect/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials', client_id: env.LARDER_OPS_ID, client_secret: env.LARDER_OPS_SECRET, scope: 'ops' }),
      signal: AbortSignal.timeout(limit),
    });
    must(response.ok, `POST /connect/token: ${response.status}`);
    return (await response.json()).access_token;
  },
  async ops(path, options = {}) {
    return ask(env.LARDER_URL, path, { ...options, headers: { ...options.headers, Authorization: `Bearer ${await this.token()}` } });
  },
  /** Syncs a restaurant's menu and waits for the result. */
  resync(restaurant) {
    return this.ops(`/v1/ops/restaurants/${encodeURIComponent(restaurant)}/sync?wait=15s`, { method: 'POST' });
  },
  get: (path) => ask(env.LARDER_URL, path),
  /** Pays, completes or rejects an order as the shop's backend. */
  async changeOrder(orderID, operation, body) {
    const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'storefront', client_secret: 'storefront-secret' });
    const { access_token: token } = await (await fetch(`${env.LARDER_URL}/connect/token`, { method: 'POST', body: form })).json();
    return ask(env.LARDER_URL, `/v1/orders/${orderID}/${operation}`, { method: 'PUT', body, headers: { Authorization: `Bearer ${token}` } });
  },
};

/** What an operator can say about a restaurant, and how guests of the locale "en" read the times in UTC. */
export function operator(restaurant) {
  const path = `/v1/ops/restaurants/${encodeURIComponent(restaurant)}`;
  const time = (ms, options) => new Intl.DateTimeFormat('en', { hour: 'numeric', minute: '2-digit', timeZone: 'UTC', ...options }).format(ms);
  const day = (ms) => new Date(ms).toISOString().slice(0, 10);
  const weekday = (ms) => (day(ms) === day(Date.now()) ? {} : { weekday: 'short' });
  return {
    pause: (body = {}) => larder.ops(`${path}/pause`, { method: 'POST', body }),
    resume: () => larder.ops(`${path}/pause`, { method: 'DELETE' }),
    busy: (leadTime) => larder.ops(`${path}/busy`, { method: 'POST', body: { leadTime } }),
    free: () => larder.ops(`${path}/busy`, { method: 'DELETE' }),
    snooze: (ids, body = {}) => larder.ops(`${path}/snooze`, { method: 'POST', body: { ids, ...body } }),
    wake: (id) => larder.ops(`${path}/snooze/${encodeURIComponent(id)}`, { method: 'DELETE' }),
    /** Returns the full minute some minutes from now. */
    inMinutes: (minutes) => new Date(Math.floor(Date.now() / 60_000 + minutes) * 60_000).toISOString(),
    /** Returns a time as the elements show it. */
    shown(text) {
      const ms = Date.parse(text);
      return time(ms, { ...weekday(ms), ...(ms - Date.now() > 6 * 86_400_000 && { day: 'numeric', month: 'short' }) });
    },
    /** Returns a time as the header of the page shows it. */
    shownInHeader: (text) => time(Date.parse(text), { ...weekday(Date.parse(text)), hourCycle: 'h23' }),
  };
}
