// The form of docs/order-form.md on another origin than larder: options of options, validation while the guest
// types, and exactly one order after a lost response, also across a reload and in two tabs.
import { env } from 'node:process';
import { bistro } from '../guest.mjs';
import { equal, eventually, must, scenario, step } from '../scenario.mjs';
import { larder as operator, sandbox } from '../services.mjs';

const { LARDER_SITE: site, LARDER_URL: larder } = env;
const expected = [/^request failed: (no response|409|422|502|504) POST \S+\/orders /, /^request failed: 404 GET \S+\/v1\/orders /];

/** The kitchen's view of a dish: names and quantities. */
const dishes = ({ body }) => body.dishList.map(({ name, quantity, ingredients }) => [name, quantity, ingredients.map((part) => [part.name, part.quantity])]);

await scenario({ matrix: false, origins: [new URL(larder).origin], expected }, async ({ page, context }) => {
  const orders = []; // [key, body] of each request with an order
  const observe = (one) => one.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/orders')) orders.push([request.headers()['idempotency-key'], request.postData()]);
  });
  observe(page);
  const number = (name, on = page) => on.locator(`label:has-text("${name}") > input:enabled`);
  const set = (name, value, on = page) => number(name, on).first().fill(String(value));
  const total = (value) => eventually(async () => (await page.locator('output').innerText()) === value, `the total is ${value}`);
  const outcome = page.locator('#outcome');
  const button = page.getByRole('button', { name: 'Order' });

  step('one request for the menu, with photos of larder');
  const reads = [];
  page.on('request', (request) => {
    if (request.url().includes('/products')) reads.push(request.url());
  });
  await page.goto(`${site}/form`);
  await number('Business lunch').waitFor();
  await eventually(() => page.evaluate(() => [...document.images].every(({ complete, naturalWidth }) => complete && naturalWidth > 0)), 'the photos are loaded');
  equal(reads.length, 1, `requests for the menu: ${reads}`);

  step('messages at the lines, and the total of larder');
  await set('Business lunch', 1);
  await set('Classic burger', 1);
  await set('Roast beef', 0.5);
  const note = (name) => page.locator('#dishes div', { has: page.locator(`> label:has-text("${name}")`) }).last().locator('> .note');
  await note('Classic burger').getByText('Classic burger, Bun: choose 1 more (exactly 1; 0 chosen)').waitFor();
  await note('Business lunch').getByText('Side: choose 1 more (exactly 1; 0 chosen)').waitFor();
  await page.locator('#problems').getByText('Enter your phone number').waitFor();
  await total('1544');

  step('a message at the right line after another one has moved up');
  await set('Roast beef', 0);
  await set('Cappuccino', 2, page.locator('#dishes > div').last());
  const last = page.locator('#dishes > div').last();
  await last.getByText('Milk: choose 1 more (exactly 1; 0 chosen)').waitFor();
  await last.locator('label:has-text("Oat drink") > input').fill('1');

  step('the browser does not submit more of a group than its maximum, or a dish in parts');
  await set('Brioche bun', 2);
  await page.getByLabel('Phone number').fill('+90 212 555 01 02');
  await button.click();
  await set('Brioche bun', 1.5);
  await button.click();
  equal(orders.length, 0, 'orders with a wrong number');
  await set('Brioche bun', 1);

  step('an invalid order is not placed, and the guest can correct it');
  const before = (await sandbox.orders()).length;
  await button.click();
  await outcome.getByText('You have not ordered anything.').waitFor();
  await note('Business lunch').getByText('Drink: choose 1 more').waitFor();
  await set('French fries', 1);
  await set('Cola', 1);
  await total('1127');
  await eventually(async () => (await page.locator('.note').allInnerTexts()).join('') === '', 'a valid order has no messages');
  equal((await sandbox.orders()).length, before, 'orders of the ordering service');

  step('the response is lost: the same key and body again, and one order');
  let lost = 0;
  const lose = async (route) => {
    if (lost++ > 0) return route.fallback();
    await route.fetch(); // larder places the order
    return route.abort('connectionreset');
  };
  await page.route('**/orders', lose);
  await button.dblclick();
  await outcome.getByText('Thank you!').waitFor();
  const placed = (await sandbox.orders()).slice(before);
  equal(placed.length, 1, 'orders of the ordering service');
  const [first, second, third] = orders.slice(1);
  equal(JSON.stringify(second), JSON.stringify(first), 'the request after the lost response');
  equal(third, undefined, 'further requests with an order');
  must(orders[0][0] !== first[0] && first[0].length === 24, `keys ${orders.map(([key]) => key)}`);
  const received = placed[0];
  equal(JSON.stringify(dishes(received)), JSON.stringify([
    ['Business lunch 🍱', 1, [['Classic burger', 1], ['Brioche bun', 1], ['French fries', 1], ['Cola', 1]]],
    ['Cappuccino', 2, [['Oat drink 🌾', 1]]],
  ]), 'the order of the ordering service');
  equal(received.body.expeditionType, 'pickup', 'the type of the order');
  equal(received.body.guest.phone, '+90 212 555 01 02', 'the phone number');
  must((await outcome.innerText()).includes(received.orderID), `the page says ${await outcome.innerText()}, the order is ${received.orderID}`);
  equal(await page.evaluate(() => localStorage.length), 0, 'stored orders');

  step('a second tab, and a reload before the response: one order');
  await page.unroute('**/orders', lose);
  await page.reload();
  await set('Roast beef', 0.5);
  await page.getByLabel('Phone number').fill('+90 212 555 01 02');
  await total('945');
  let release;
  const left = new Promise((resolve) => { release = resolve; });
  const hold = async (route) => {
    await route.fetch(); // larder places the order
    await left;
    await route.abort().catch(() => {}); // the page has left
  };
  await page.route('**/orders', hold);
  await button.click();
  await eventually(async () => (await sandbox.orders()).length === before + 2, 'the order is placed');
  const other = await context.newPage();
  observe(other);
  await other.goto(`${site}/form`);
  await other.locator('form > fieldset:disabled').waitFor(); // it waits for the first tab
  equal(orders.length, 4, 'requests with an order');
  await page.reload();
  release();
  await page.unroute('**/orders', hold);
  await other.locator('#outcome').getByText('Thank you!').waitFor();
  await eventually(() => page.evaluate(() => localStorage.length === 0 && !document.querySelector('fieldset').disabled), 'the first tab can order again');
  equal((await sandbox.orders()).length, before + 2, 'orders of the ordering service');
  await other.close();

  step('the ordering service refuses: a new key');
  await page.reload();
  await set('Roast beef', 0.5);
  await page.getByLabel('Phone number').fill('+90 212 555 01 02');
  await total('945');
  await sandbox.faults([{ match: { method: 'POST', path: '/orders/api/v1/orders' }, times: 1, do: 'status', status: 400 }]);
  await button.click();
  await outcome.getByText('The restaurant did not accept your order.').waitFor();
  const refused = orders.at(-1)[0];
  await button.click();
  await outcome.getByText('Thank you!').waitFor();
  must(orders.at(-1)[0] !== refused, 'the key of a refused order was used again');
  equal((await sandbox.orders()).length, before + 3, 'orders of the ordering service');

  step('the outcome is unknown: one order, until an operator resolves it');
  await page.reload();
  await set('Roast beef', 0.5);
  await page.getByLabel('Phone number').fill('+90 212 555 01 02');
  await sandbox.faults([{ match: { method: 'POST', path: '/orders/api/v1/orders' }, times: 1, do: 'execute_then_reset' }]);
  await button.click();
  await outcome.getByText('The restaurant has not confirmed your order yet.').waitFor();
  equal(await button.isDisabled(), true, 'the button for another order');
  const { result: [unknown, ...others] } = await operator.ops('/v1/ops/orders?state=unknown');
  equal(others.length, 0, 'other orders with an unknown outcome');
  const kitchen = (await sandbox.orders()).at(-1);
  await operator.ops(`/v1/ops/orders/${unknown.ref}/resolve`, { method: 'POST', body: { operation: 'create', outcome: 'done', orderID: kitchen.orderID, note: 'called' } });
  await outcome.getByText(`Thank you! Your order has the number ${kitchen.orderID}.`).waitFor();
  equal((await sandbox.orders()).length, before + 4, 'orders of the ordering service');

  step('a rejection does not count while an earlier request may still arrive');
  await page.route(`${site}/empty`, (route) => route.fulfill({ body: '' }));
  const reopen = async (order) => { // the form finds this order
    await page.goto(`${site}/empty`);
    await page.evaluate(([key, text]) => localStorage.setItem(key, text), [`order:${larder}/v1/restaurants/${bistro}`, JSON.stringify(order)]);
    await page.goto(`${site}/form`);
  };
  const body = JSON.stringify({ ...JSON.parse(first[1]), dishList: [{ ID: 'none', quantity: 1 }] });
  await reopen({ key: 'the-key-of-an-order-that-is-not-valid', body, since: Date.now(), lost: Date.now() });
  await eventually(async () => orders.filter((sent) => sent[1] === body).length > 1, 'the form repeats the order');
  equal(await outcome.innerText(), 'Sending …', 'the outcome after a rejection');
  await reopen({ key: 'the-key-of-an-order-that-is-not-valid', body, since: Date.now(), lost: Date.now() - 76_000 });
  await outcome.getByText('You have not ordered anything.').waitFor();
  await page.locator('#problems').getByText('The menu has no dish none').waitFor();

  step('after ten minutes the form only asks for the state of the order');
  const sent = orders.length;
  const old = Date.now() - 11 * 60_000;
  await reopen({ key: first[0], body: first[1], since: old, lost: old });
  await outcome.getByText(`Thank you! Your order has the number ${received.orderID}.`).waitFor();
  await reopen({ key: 'a-key-that-larder-does-not-know', body: first[1], since: old, lost: old });
  await outcome.getByText('You have not ordered anything.').waitFor();
  await reopen({ key: first[0], body: first[1], since: Date.now() - 13 * 3_600_000, lost: 0 });
  await outcome.getByText('Please call.').waitFor();
  equal(orders.length, sent, 'requests with an order');
  equal((await sandbox.orders()).length, before + 4, 'orders of the ordering service');
});
