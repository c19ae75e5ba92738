// An operator finds and resolves an order with an unknown outcome, and syncs all
// restaurants. axe checks each page, and each variant has a screenshot.
import { randomUUID } from 'node:crypto';
import { env } from 'node:process';
import { axe } from '../axe.mjs';
import { use } from '../keyboard.mjs';
import { equal, scenario, step } from '../scenario.mjs';
import { everyVariant } from '../shot.mjs';
import { sandbox, larder as api } from '../services.mjs';

const bistro = '76439fb3-c0c4-42ca-a269-64f031a6a33b';

const lost = { do: 'execute_then_reset' };

/** Sends a request of the storefront. Returns the status and the body of the response. */
async function storefront(method, path, content) {
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'storefront', client_secret: 'storefront-secret' });
  const { access_token: token } = await (await fetch(`${env.LARDER_URL}/connect/token`, { method: 'POST', body: form })).json();
  const response = await fetch(env.LARDER_URL + path, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Idempotency-Key': randomUUID(), 'Content-Type': 'application/json' },
    body: JSON.stringify(content),
  });
  return { status: response.status, body: await response.json() };
}

const placeOrder = () => storefront('POST', `/v1/restaurants/${bistro}/orders`, {
  expeditionType: 'pickup', soonest: true, paymentTypeID: 'card', guest: { firstName: 'Ada', phone: '+7 900 000-00-00' },
  dishList: [{ ID: 'dish-roast-beef', quantity: 0.5 }],
});

/** Places an order whose response is lost, or another fault. */
async function placeOrderWithLostResponse(fault = lost) {
  await sandbox.faults([{ match: { method: 'POST', path: '/orders/api/v1/orders' }, times: 1, ...fault }]);
  const { status, body } = await placeOrder();
  equal(status, 504, `the lost order: ${JSON.stringify(body)}`);
  return body.ref;
}

/** Replaces the reference on the page by the widest possible one, because the width of its random letters varies. */
async function widen(page, ref) {
  const changed = await page.evaluate((text) => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    let count = 0;
    while (walker.nextNode()) {
      if (!walker.currentNode.data.includes(text)) continue;
      walker.currentNode.data = walker.currentNode.data.replaceAll(text, `0${'W'.repeat(text.length - 1)}`);
      count++;
    }
    return count;
  }, ref);
  if (!changed) throw new Error(`the reference ${ref} is not on the page`);
}

await scenario({ matrix: false }, async ({ page, larder }) => {
  const checkVariants = async (name) => {
    await everyVariant(page, name, { each: (variant) => axe(page, `${name}, ${variant.name}`) });
  };
  await page.goto(`${larder}/ops`);
  await page.getByLabel('Client ID', { exact: true }).fill(env.LARDER_OPS_ID);
  await page.getByLabel('Secret', { exact: true }).fill(env.LARDER_OPS_SECRET);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Restaurants' }).waitFor();
  const dialog = page.getByRole('dialog');

  step('an order that needs resolving');
  const ref = await placeOrderWithLostResponse();
  await page.getByRole('link', { name: /^Orders/ }).click();
  const order = page.locator(`tr[data-ref="${ref}"]`);
  await order.waitFor();
  await checkVariants('orders');
  await order.getByRole('link', { name: 'Order without a number' }).click();
  await page.getByRole('link', { name: '+7 900 000-00-00' }).waitFor();

  step('the facts for a call to the restaurant');
  const resolve = page.getByRole('form', { name: 'Resolve' });
  equal(await resolve.getByRole('link', { name: '+351 22 000 00 00, ext. 4' }).getAttribute('href'), 'tel:+351220000000', 'the link of the phone number');
  for (const fact of ['Larder Bistro', 'Rua das Flores 1, Porto', 'not known', 'Ada', 'pickup', 'card']) {
    await page.locator('.card').getByText(fact, { exact: true }).waitFor();
  }
  await page.locator('.dishes').getByText(/0\.5 ×/).waitFor();
  await widen(page, ref);
  await checkVariants('order');
  await page.reload();
  await page.locator('.dishes').waitFor();
  const [sent] = (await sandbox.orders()).slice(-1);
  await use(page, page.getByRole('radio', { name: /The restaurant has the order/ }), 'Space');
  await page.getByLabel('Order number at the restaurant').fill(sent.orderID);
  await page.getByLabel(/Note/).fill('spoke with the kitchen');
  await page.getByRole('button', { name: 'Resolve…' }).click();
  await dialog.getByText("The restaurant has the order. You can't undo this.").waitFor();
  await dialog.getByRole('button', { name: 'Resolve' }).click();
  await page.getByRole('heading', { level: 1, name: `Order ${sent.orderID}` }).waitFor();
  await page.getByText('spoke with the kitchen').waitFor();
  equal((await api.ops(`/v1/ops/orders/${ref}`)).result.state, 'placed', 'the order after resolving');

  step('several orders that need resolving');
  const down = { do: 'status', status: 500, body: '{"code":"POS_DOWN","msg":"no till","requestId":"r","errors":null}' };
  const other = await placeOrderWithLostResponse();
  const refs = [await placeOrderWithLostResponse(down), await placeOrderWithLostResponse(down)];
  await page.getByRole('link', { name: /^Orders/ }).click();
  const wrong = page.locator(`tr[data-ref="${refs[0]}"]`);
  await wrong.getByText('500 POS_DOWN').waitFor();
  await wrong.getByRole('link', { name: 'Order without a number' }).click();
  await page.getByText('The service answered 500 POS_DOWN: no till').waitFor();
  await page.getByText('refusal_codes: ["POS_DOWN"]').waitFor();
  await checkVariants('code of an unknown order');
  await page.getByRole('link', { name: /^Orders/ }).click();
  const row = page.locator(`tr[data-ref="${other}"]`);
  await row.getByRole('link', { name: '+7 900 000-00-00' }).waitFor();
  await use(page, row.getByRole('checkbox'), 'Space');
  await use(page, page.getByRole('button', { name: 'Select code POS_DOWN (2)' }), 'Enter');
  await page.getByText('3 orders selected').waitFor();
  await use(page, row.getByRole('checkbox'), 'Space');
  await page.getByText('2 orders selected').waitFor();
  await checkVariants('selected orders');
  await page.getByRole('button', { name: 'Resolve 2 selected orders…' }).click();
  await dialog.getByRole('radio', { name: /don't have them/ }).check();
  equal(await dialog.getByRole('radio', { name: /took effect/ }).isDisabled(), true, 'new orders cannot all be done');
  await dialog.getByLabel(/Reason/).fill('asked all restaurants');
  await dialog.getByRole('checkbox').check();
  await checkVariants('resolve several');
  await dialog.getByRole('button', { name: 'Resolve' }).click();
  await page.getByText('2 orders resolved.').waitFor();
  equal((await api.ops(`/v1/ops/orders/${other}`)).result.state, 'unknown', 'the order that was not selected');
  await api.ops(`/v1/ops/orders/${other}/resolve`, { method: 'POST', body: { operation: 'create', outcome: 'not_done' } });
  for (const ref of refs) equal((await api.ops(`/v1/ops/orders/${ref}`)).result.state, 'refused', 'an order after resolving');

  step('calls that are sent again');
  const resend = async () => {
    await page.getByRole('radio', { name: /^Resend/ }).check();
    await page.getByRole('button', { name: 'Resolve…' }).click();
    await dialog.getByText("You can't undo this.").waitFor();
  };
  const again = await placeOrderWithLostResponse();
  await sandbox.faults([{ match: { method: 'POST', path: '/orders/api/v1/orders' }, times: 1, do: 'status', status: 400, body: '{"code":"late","msg":"too late"}' }]);
  await page.route((url) => url.pathname === `/v1/ops/orders/${again}`, async (route) => {
    const response = await route.fetch();
    const { result } = await response.json();
    await route.fulfill({ response, json: { result: { ...result, expectedAt: '2026-01-02T03:04:05.000Z' } } });
  }, { times: 1 });
  await page.goto(`${larder}/ops#/orders/${again}`);
  await resend();
  await dialog.getByText(/^The order's expected time, .* has passed\. larder sends it with this time\.$/).waitFor();
  await dialog.getByRole('button', { name: 'Resolve' }).click();
  await page.getByText('Sent again, and the ordering service refused it.').waitFor();
  const { body: { result: paid } } = await placeOrder();
  await sandbox.faults([{ match: { method: 'PUT', path: '/orders/api/v1/orders/*/pay' }, times: 1, ...lost }]);
  const payment = [{ code: '5e1ae0c4-2f4b-4b0e-9d3a-6a1c1b6f0c11', amount: paid.total, paidAt: new Date().toISOString() }];
  equal((await storefront('PUT', `/v1/orders/${paid.orderID}/pay`, payment)).status, 504, 'the lost payment');
  await page.goto(`${larder}/ops#/orders/${paid.ref}`);
  await resend();
  await dialog.getByRole('button', { name: 'Resolve' }).click();
  await page.getByText("Sent again, and again it isn't known whether it took effect.").waitFor();
  await page.getByText('The service answered the second copy with 409 order_already_paid: the order is paid already. Look whether the first one took effect.').waitFor();
  await checkVariants('payment sent again');
  await api.ops(`/v1/ops/orders/${paid.ref}/resolve`, { method: 'POST', body: { operation: 'pay', outcome: 'done' } });
  await page.getByRole('link', { name: /^Orders/ }).click();

  step('orders that another version of larder wrote');
  const list = (url) => url.pathname === '/v1/ops/orders';
  await page.route(list, async (route) => {
    const response = await route.fetch();
    const unreadable = [{ connection: 'east', ref: null }, { connection: 'main', ref: '01M8JRGQ6Z5FEW4DQG8P9NGDDX' }];
    await route.fulfill({ response, json: { ...await response.json(), unreadable } });
  });
  await page.getByRole('link', { name: 'All', exact: true }).click();
  await page.getByText('Not listed, because another version of larder wrote the records: all orders of connection east, order 01M8JRGQ6Z5FEW4DQG8P9NGDDX of connection main.').waitFor();
  await checkVariants('unreadable orders');
  await page.unroute(list);
  await page.getByRole('link', { name: 'Placed', exact: true }).click();
  await page.getByText('Not listed').waitFor({ state: 'detached' });
  await page.locator('tr[data-ref]').first().waitFor();

  step('a sync of all restaurants, with its progress');
  await page.getByRole('link', { name: 'Sync all' }).click();
  await page.getByRole('button', { name: 'Sync all…' }).click();
  await dialog.getByRole('button', { name: 'Sync all' }).click();
  await page.getByText('1 of 1 restaurant done').waitFor();
  await checkVariants('sync');

  step('the audit log');
  await page.getByRole('link', { name: 'Audit log' }).click();
  const entries = page.getByTestId('entry');
  for (const what of ['resolved', 'synced all']) await entries.filter({ hasText: what }).first().waitFor();
});
