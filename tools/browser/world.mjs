// What stands behind the pages: larder's own API for operators and the
// sandbox's switches, which scenarios turn and look at.
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

const sandbox = async (path, options) => (await ask(env.LARDER_KITCHEN, path, options)).result;

/** The sandbox: an ordering service with switches (docs/sandbox.md). */
export const kitchen = {
  orders: () => sandbox('/sandbox/orders'),
  counters: () => sandbox('/sandbox/counters'),
  settings: (change) => sandbox('/sandbox/settings', change && { method: 'PUT', body: change }),
  faults: (list) => sandbox('/sandbox/faults', list && { method: 'PUT', body: list }),
  stop: (restaurant, stops) => sandbox(`/sandbox/stop-list/${encodeURIComponent(restaurant)}`, { method: 'PATCH', body: stops }),
  menu: (restaurant) => sandbox(`/sandbox/menus/${encodeURIComponent(restaurant)}`),
};

/** Larder, asked as an operator. */
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
  /** Pulls a restaurant's menu now, and waits for it. */
  resync(restaurant) {
    return this.ops(`/v1/ops/restaurants/${encodeURIComponent(restaurant)}/sync?wait=15s`, { method: 'POST' });
  },
  get: (path) => ask(env.LARDER_URL, path),
};
