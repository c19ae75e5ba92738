// One order: whom to call, what to ask, and the form to resolve what became of
// it.

import { result } from './api';
import { during, question, showMessage } from './ask';
import { cell, h, put, rowHead, table, type Child } from './dom';
import { badge, moment, outcome, price, telephone } from './format';
import type { Call, Order } from './model';
import { link, type View } from './view';

export const order: View = async (root, { id, signal }) => {
  const path = '/v1/ops/orders/' + encodeURIComponent(id);
  const load = async () => draw(await result<Order>(path, { signal }));
  const draw = (one: Order) => {
    const open = one.calls?.findLast((call) => call.outcome === 'unknown');
    const create = one.calls?.find((call) => call.operation === 'create');
    const sent = create?.sent;
    put(root,
      h('p', { class: 'back' }, link('/orders', {}, '← Orders')),
      h('h1', { tabindex: -1 }, one.orderID ? `Order ${one.orderID}` : 'Order without a number'),
      h('p', { class: 'facts' }, outcome(one.state), one.paid && badge('paid', 'good'), h('span', {}, `ref ${one.ref}`)),
      open && resolveForm(one, open, path, signal, load),
      h('div', { class: 'cards' },
        h('div', { class: 'card' }, h('h2', {}, 'The restaurant'), facts([
          ['Name', one.restaurantName ?? '–'], ['Phone', one.restaurantPhone ? telephone(one.restaurantPhone) : 'not configured (restaurants[].phone)'],
          ['Address', one.restaurantAddress ?? '–'], ['Id', one.restaurant ?? '–'], ['Connection', one.connection]])),
        h('div', { class: 'card' }, h('h2', {}, 'The order'), facts([
          ['Number', one.orderID ?? 'the service gave none'], ['Total', price(one.total)], ['Ordered', moment(one.createdAt)],
          ['Expected', moment(one.expectedAt)], ['Placed by', one.client], ['Request', create?.requestId ?? '–']])),
        h('div', { class: 'card' }, h('h2', {}, 'The guest'), guest(sent)),
        h('div', { class: 'card' }, h('h2', {}, 'What was ordered'), dishes(sent))),
      h('section', { 'aria-label': 'Calls' }, h('h2', {}, 'What larder asked of the ordering service'), calls(one.calls ?? [])));
  };
  await load();
};

function facts(all: [string, Child][]): HTMLElement {
  return h('dl', {}, all.map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** A member in whatever case it was sent. */
function member(of: any, name: string): any {
  if (of === null || typeof of !== 'object') return undefined;
  const key = Object.keys(of).find((key) => key.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : of[key];
}

function guest(sent: any): HTMLElement {
  if (!sent) return h('p', {}, 'What was sent is no longer kept, or larder did not place this order.');
  const person = member(sent, 'guest'), address = member(sent, 'address');
  const phone = text(member(person, 'phone'));
  const change = text(member(sent, 'changeFrom'));
  return facts([
    ['Name', [text(member(person, 'firstName')) || text(member(person, 'name')), text(member(person, 'lastName'))].filter(Boolean).join(' ') || '–'],
    ['Phone', phone ? telephone(phone) : '–'],
    ['Address', text(member(address, 'fullAddress')) || '–'],
    ['Kind', text(member(sent, 'expeditionType')) || '–'],
    ['Pays by', [text(member(sent, 'paymentTypeID')) || '–', change && `, change from ${change}`]],
    ['Comment', text(member(sent, 'comment')) || '–'],
  ]);
}

function dishes(sent: any): HTMLElement {
  const list: any[] = member(sent, 'dishList') ?? [];
  if (list.length === 0) return h('p', {}, 'Not known.');
  return h('ul', { class: 'dishes' }, list.map((dish) => h('li', {},
    position(dish), member(dish, 'price') !== undefined && ` at ${price(Number(member(dish, 'price')))}`,
    h('ul', {}, (member(dish, 'ingredients') ?? []).map((one: any) => h('li', {}, position(one)))))));
}

/** "2 × Latte", whichever way the name is written. */
function position(one: any): Child {
  return [`${text(member(one, 'quantity')) || 1} × `, h('bdi', {}, text(member(one, 'name')) || text(member(one, 'id')))];
}

function calls(all: Call[]): HTMLElement {
  return table('Calls, the oldest first', ['Call', 'Outcome', 'When', 'The service said', 'Resolved'], all.map((call) => h('tr', {},
    rowHead(call.operation),
    cell('Outcome', outcome(call.outcome), call.contradicted && [badge('contradicted', 'bad'), h('small', {}, `the service said later: ${call.contradicted}`)]),
    cell('When', moment(call.startedAt), h('small', {}, `by ${call.client}, request ${call.requestId}`)),
    cell('The service said', call.answer ? [`${call.answer.status} ${call.answer.code ?? ''}`, call.answer.msg && h('small', {}, call.answer.msg)] : 'nothing'),
    cell('Resolved', call.settled ? [`${call.settled.outcome.replace('_', ' ')} by ${call.settled.by}`, h('small', {}, moment(call.settled.at), call.settled.note ? `: ${call.settled.note}` : '')] : '–'))));
}

const names: Record<string, string> = { create: 'the order', pay: 'the payment', complete: 'the completion', reject: 'the rejection' };

/** The form in which a person says what is so. */
function resolveForm(one: Order, call: Call, path: string, signal: AbortSignal, then: () => Promise<void>): HTMLElement {
  const what = names[call.operation] ?? call.operation;
  const creates = call.operation === 'create';
  const choice = (value: string, title: string, why: string) => h('label', { class: 'choice' },
    h('input', { type: 'radio', name: 'outcome', value, required: true, onchange: () => { number.hidden = !creates || value !== 'done'; orderID.required = !number.hidden; } }),
    h('span', {}, h('b', {}, title), h('small', {}, why)));
  const orderID = h('input', { name: 'orderID', autocomplete: 'off', maxlength: 200 });
  const number = h('label', { hidden: true }, 'The order’s number at the restaurant', orderID);
  const note = h('textarea', { name: 'note', rows: 2, maxlength: 1000 });
  const submit = h('button', { type: 'submit', class: 'main' }, 'Resolve…');
  const form = h('form', {
    class: 'resolve', 'aria-label': 'Resolve',
    onsubmit: (event: Event) => {
      event.preventDefault();
      void during(submit, async () => {
        const outcome = new FormData(form).get('outcome') as string;
        const words = outcome === 'done' ? 'took effect' : outcome === 'not_done' ? 'did not take effect, and shall not' : 'did not take effect, and is to be sent again';
        const yes = await question({
          title: 'Resolve it like this?', yes: 'Resolve', danger: true,
          body: [h('p', {}, `You say that ${what} ${words}. It cannot be taken back.`)],
        });
        if (!yes) return;
        await result<Order>(path + '/resolve', {
          method: 'POST', signal,
          body: { operation: call.operation, outcome, ...(creates && outcome === 'done' ? { orderID: orderID.value.trim() } : {}), ...(note.value.trim() ? { note: note.value.trim() } : {}) },
        });
        showMessage('Resolved.');
        await then();
        document.querySelector<HTMLElement>('h1')?.focus();
      });
    },
  },
    h('h2', {}, `What became of ${what}?`),
    h('p', {}, `Call ${one.restaurantName ?? 'the restaurant'}`, one.restaurantPhone && [' on ', telephone(one.restaurantPhone)], ` and ask whether they have ${creates ? 'this order' : `${what} of order ${one.orderID ?? ''}`}: the ordering service did not say.`),
    h('fieldset', {}, h('legend', {}, 'They say'),
      choice('done', 'They have it', 'It took effect.'),
      choice('not_done', 'They do not have it', 'It did not take effect, and shall not: the guest is told so.'),
      choice('send_again', 'They do not have it: send it again', 'Larder sends it again, once, while what was sent is kept.')),
    number, h('label', {}, 'Note: with whom you spoke', note), h('p', {}, submit));
  return form;
}
