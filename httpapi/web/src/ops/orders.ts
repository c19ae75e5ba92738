// Orders by state. The default filter shows orders that need resolving.

import { ask, query } from './api';
import { showError } from './ask';
import { cell, h, pause, put, rowHead, table } from './dom';
import { badge, count, moment, orderState, price } from './format';
import type { Order, Page } from './model';
import { link, type View } from './view';

const pageSize = 50;
const again = 10_000; // between two reloads, in milliseconds; there are no events for orders

const filters: [string, string][] = [
  ['unknown', 'Needs resolving'], ['placing', 'Placing'], ['placed', 'Placed'], ['refused', 'Refused'],
  ['not_sent', 'Not sent'], ['closed', 'Closed'], ['rejected', 'Rejected'], ['all', 'All'],
];

export const orders: View = async (root, { params, signal }) => {
  const state = params.get('state') ?? 'unknown';
  const cursors: (string | null)[] = [null];
  let page: Page<Order> = { result: [], next: null };
  const list = h('div', { class: 'list' });
  const where = h('p', { class: 'where', role: 'status' });
  const previous = h('button', { type: 'button', onclick: () => turn(-1) }, 'Previous page');
  const next = h('button', { type: 'button', onclick: () => turn(1) }, 'Next page');
  put(root, h('h1', { tabindex: -1 }, 'Orders'),
    h('nav', { class: 'chips', 'aria-label': 'By state' }, filters.map(([name, words]) =>
      link('/orders' + query({ state: name }), { class: 'chip', ...(name === state ? { 'aria-current': 'true' } : {}) }, words))),
    state === 'unknown' && h('p', {}, 'The ordering service did not confirm whether these orders took effect. Call the restaurant, then record the outcome.'),
    list, h('div', { class: 'pager' }, previous, where, next));
  const load = async () => {
    page = await ask<Page<Order>>('/v1/ops/orders' + query({ state: state === 'all' ? '' : state, limit: pageSize, cursor: cursors.at(-1) }), { signal });
    const focused = list.contains(document.activeElement) ? document.activeElement?.getAttribute('href') : null;
    previous.disabled = cursors.length === 1;
    next.disabled = page.next === null;
    put(where, `Page ${cursors.length}, ${count(page.result.length, 'order')}`);
    put(list, page.result.length === 0 ? h('p', { class: 'empty' }, state === 'unknown' ? 'No orders need resolving.' : 'No orders in this state.')
      : table('Orders, newest first', ['Order', 'Restaurant', 'State', 'Total', 'Placed by'], page.result.map(row)));
    if (focused) list.querySelector<HTMLElement>(`a[href="${CSS.escape(focused)}"]`)?.focus();
  };
  const turn = (by: number) => {
    if (by > 0) cursors.push(page.next);
    else cursors.pop();
    void load().then(() => root.querySelector<HTMLElement>('h1')?.focus()).catch(showError);
  };
  await load();
  void (async () => {
    while (await pause(again, signal)) if (!document.hidden) await load().catch(showError);
  })();
};

function row(order: Order): HTMLTableRowElement {
  return h('tr', { 'data-testid': 'order', 'data-ref': order.ref },
    rowHead(link('/orders/' + encodeURIComponent(order.ref), {}, order.orderID ? `Order ${order.orderID}` : 'Order without a number'), h('small', {}, moment(order.createdAt))),
    cell('Restaurant', order.restaurantName ?? order.restaurant ?? '–'),
    cell('State', orderState(order.state), order.paid && badge('paid', 'good')),
    cell('Total', price(order.total)),
    cell('Placed by', order.client, h('small', {}, order.connection)));
}
