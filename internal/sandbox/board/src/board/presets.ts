// Faults that storefronts and larder must live with, ready to be injected.
import { count } from './dom';
import type { Fault } from './sandbox';

const order = { method: 'POST', path: '/orders/api/v1/orders' };
const view = { method: 'GET', path: '/orders/api/v1/menu/view' };
const token = { method: 'POST', path: '/connect/token' };
const service = { path: '/orders/*' };

export const presets: { name: string; words: string; fault: Fault }[] = [
  { name: 'Lost answer', words: 'The next order is taken, and the connection breaks before the answer.', fault: { match: order, times: 1, do: 'execute_then_reset' } },
  { name: 'Answer that never comes', words: 'The next order is taken, and nothing is answered.', fault: { match: order, times: 1, do: 'execute_then_hang' } },
  { name: 'Taken, yet 500', words: 'The next order is taken and answered 500.', fault: { match: order, times: 1, do: 'execute_then_status', status: 500 } },
  { name: 'Broken connection', words: 'The next order does not get through.', fault: { match: order, times: 1, do: 'reset_before' } },
  { name: '503 to orders', words: 'The next three orders are answered 503, Retry-After 2 s.', fault: { match: order, times: 3, do: 'status', status: 503, retryAfter: 2 } },
  { name: 'Too many requests', words: 'The next three calls are answered 429, Retry-After 1 s.', fault: { match: service, times: 3, do: 'status', status: 429, retryAfter: 1 } },
  { name: 'Slow', words: 'Every call takes two seconds more, until removed.', fault: { match: {}, do: 'latency', delay: '2s' } },
  { name: 'Away', words: 'Every connection breaks, until removed.', fault: { match: {}, do: 'reset_before' } },
  { name: 'Expired tokens', words: 'All tokens expire at the next call.', fault: { match: service, times: 1, do: 'expire_tokens' } },
  { name: 'No tokens', words: 'The next three tokens are refused, 503.', fault: { match: token, times: 3, do: 'status', status: 503 } },
  { name: 'Menu that is no JSON', words: 'The next menu is garbage.', fault: { match: view, times: 1, do: 'garbage' } },
  { name: 'Menu cut off', words: 'The next menu breaks off after 1,000 bytes.', fault: { match: view, times: 1, do: 'truncate', after: 1000 } },
  { name: "A proxy's page", words: 'The next call is answered a page of HTML, 502.', fault: { match: service, times: 1, do: 'html' } },
];

/** The calls that a fault of one's own may meet. */
export const calls: { name: string; match: Fault['match'] }[] = [
  { name: 'every call', match: {} },
  { name: 'new orders', match: order },
  { name: 'payments', match: { method: 'PUT', path: '/orders/api/v1/orders/*/pay' } },
  { name: 'completions', match: { method: 'PUT', path: '/orders/api/v1/orders/*/complete' } },
  { name: 'rejections', match: { method: 'PUT', path: '/orders/api/v1/orders/*/reject' } },
  { name: 'the menu', match: view },
  { name: 'rejection reasons', match: { method: 'GET', path: '/orders/api/v1/rejectionReasons' } },
  { name: 'tokens', match: token },
];

/** What a fault does, and which number it needs. */
export const deeds: { name: string; words: string; needs?: 'status' | 'delay' | 'after' }[] = [
  { name: 'status', words: 'do nothing, answer a status', needs: 'status' },
  { name: 'latency', words: 'wait, then as usual', needs: 'delay' },
  { name: 'hang', words: 'do nothing, never answer' },
  { name: 'reset_before', words: 'do nothing, break the connection' },
  { name: 'execute_then_reset', words: 'do it, then break the connection' },
  { name: 'execute_then_hang', words: 'do it, never answer' },
  { name: 'execute_then_status', words: 'do it, then answer a status', needs: 'status' },
  { name: 'truncate', words: 'do it, break off within the answer', needs: 'after' },
  { name: 'garbage', words: 'do nothing, answer what is no JSON' },
  { name: 'html', words: 'do nothing, answer a page of HTML' },
  { name: 'expire_tokens', words: 'let all tokens expire, then as usual' },
];

/** A fault in words. */
export function inWords(fault: Fault): string {
  const where = [fault.match.method, fault.match.path, fault.match.restaurant && `of ${fault.match.restaurant}`].filter(Boolean).join(' ') || 'every call';
  const often = fault.times ? count(fault.times, 'more time') : fault.probability ? `with probability ${fault.probability}` : 'until removed';
  const numbers = [
    fault.status && `status ${fault.status}`, fault.delay && fault.delay !== '0s' && `delay ${fault.delay}`,
    fault.retryAfter && `Retry-After ${fault.retryAfter}`, fault.after && `after ${count(fault.after, 'byte')}`,
  ].filter(Boolean);
  return `${where}: ${[fault.do, ...numbers].join(', ')}; ${often}`;
}
