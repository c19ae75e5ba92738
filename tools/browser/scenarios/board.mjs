// The sandbox's board with the keyboard: an order arrives and is handed on, a dish
// sells out, a fault takes effect, and a setting is changed.
import { env } from 'node:process';
import { axe } from '../axe.mjs';
import { fill, focused, use, tabTo } from '../keyboard.mjs';
import { eventually, must, equal, scenario, step } from '../scenario.mjs';
import { everyVariant } from '../shot.mjs';
import { sandbox } from '../services.mjs';

const bistro = '76439fb3-c0c4-42ca-a269-64f031a6a33b';

/** Returns a token of the ordering service. */
async function token() {
  const answer = await fetch(`${env.LARDER_SANDBOX}/connect/token`, {
    method: 'POST', signal: AbortSignal.timeout(10_000),
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id: 'demo', client_secret: 'demo-secret' }),
  });
  return (await answer.json()).access_token;
}

async function post(order) {
  return fetch(`${env.LARDER_SANDBOX}/orders/api/v1/orders`, {
    method: 'POST', signal: AbortSignal.timeout(10_000),
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${await token()}` },
    body: JSON.stringify(order),
  });
}

/** Returns a dish without groups, and a valid order of it. */
async function plainOrder() {
  const { products } = await sandbox.menu(bistro);
  const dish = products.find((one) => !one.schemeId && one.externalId && !one.measure?.unit?.match(/kg|l/i) && !one.isContainInStopList?.length && one.price > 0);
  return {
    dish,
    order: {
      restaurantID: bistro, comment: 'No onions, please', persons: 2, expeditionType: 'pickup', paymentTypeID: 'cash',
      expectedAt: new Date(Date.now() + 3_600_000).toISOString(),
      dishList: [{ ID: dish.externalId, name: dish.name, price: dish.price, quantity: 2, ingredients: [] }],
    },
  };
}

/**
 * Opens a view by its link, with the keyboard. The board moves the focus into the
 * view when the address has changed, after it has handled the key. An earlier Tab
 * would start at the link and then lose its position.
 */
async function open(page, link, title, options) {
  await use(page, page.getByRole('link', { name: link }), 'Enter', options);
  await eventually(async () => (await focused(page)).name === `main ${title}`, `the focus in the view ${title}`);
}

await scenario({ images: [], matrix: false }, async ({ page, problems }) => {
  await sandbox.settings({ autoAccept: false });
  try {
    step('the board opens');
    await page.goto(`${env.LARDER_SANDBOX}/`);
    await page.getByText(/^Live at/).waitFor();
    await axe(page, 'the board');

    step('an order arrives without a reload');
    const { dish, order } = await plainOrder();
    const answer = await post(order);
    const text = await answer.text();
    equal(answer.status, 201, `the order is placed: ${text}`);
    const id = JSON.parse(text).result.orderID;
    const card = page.getByRole('listitem', { name: `Order ${id}` });
    await card.waitFor();
    must((await card.innerText()).includes('No onions, please'), 'the comment is not shown');
    must((await card.innerText()).includes(dish.name), 'the dish is not shown');
    equal(await page.locator('[data-state=new]').getByRole('listitem', { name: `Order ${id}` }).count(), 1, 'cards in New');

    step('it is handed on with the keyboard, and the focus moves with it');
    await use(page, page.getByRole('button', { name: `Accept, order ${id}` }));
    for (const [name, state] of [['Send to kitchen', 'accepted'], ['Send to cash station', 'kitchen']]) {
      await eventually(async () => (await focused(page)).name.includes(name), `the focus on ${name}`);
      equal((await sandbox.orders()).find((one) => one.orderID === id).state, state, 'the state');
      await page.keyboard.press('Enter');
    }
    await page.locator('[data-state=cash_station]').getByRole('listitem', { name: `Order ${id}` }).waitFor();
    await eventually(async () => (await focused(page)).name.includes(`Order ${id}`), 'the focus on the card');
    await use(page, card.getByText('Request as sent'));
    await eventually(async () => (await card.innerText()).includes('"paymentTypeID":"cash"'), 'the bytes that were sent');
    await everyVariant(page, 'orders', { each: (variant) => axe(page, `orders, one opened, ${variant.name}`) });

    step('a refused order is shown with its reasons');
    equal((await post({ ...order, dishList: [{ ...order.dishList[0], price: '1' }] })).status, 400, 'the wrong order');
    await page.getByRole('heading', { name: /Refused orders/ }).waitFor();
    await axe(page, 'a refused order');

    step('a dish sells out and is available again');
    await open(page, 'Menu', 'Menu and stop list');
    const box = page.getByRole('checkbox', { name: dish.name, exact: false }).first();
    await box.waitFor();
    await fill(page, page.getByLabel('Search dishes and ingredients'), dish.name);
    await use(page, box, 'Space');
    await eventually(async () => (await sandbox.menu(bistro)).products.find((one) => one.id === dish.id).isContainInStopList?.includes(bistro), 'the dish is stopped');
    await page.getByText('· out of stock').first().waitFor();
    must((await focused(page)).name.includes(dish.name), 'the focus left the dish');
    await everyVariant(page, 'menu', { each: (variant) => axe(page, `the menu, ${variant.name}`) });
    await page.keyboard.press('Space');
    await eventually(async () => !(await sandbox.menu(bistro)).products.find((one) => one.id === dish.id).isContainInStopList?.includes(bistro), 'the dish is available again');

    step('the menu has its name; it is emptied, halved, restored and made stale');
    await page.getByRole('status').filter({ hasText: `Larder Bistro (${bistro}): ` }).waitFor();
    const full = await sandbox.menu(bistro);
    for (const [name, left] of [['Halve this menu', Math.floor(full.products.length / 2)], ['Empty this menu', 0], ['Restore this menu', full.products.length]]) {
      await use(page, page.getByRole('button', { name }), 'Enter', { back: true });
      await eventually(async () => (await sandbox.menu(bistro)).products.length === left, `${left} dishes after ${name}`);
    }
    equal(await sandbox.menu(bistro), full, 'the restored menu');
    equal(await page.getByLabel('Restaurant', { exact: true }).inputValue(), `Larder Bistro (${bistro})`, 'the restaurant in the field');
    await eventually(async () => !(await page.getByRole('button', { name: 'Restore this menu' }).isVisible()), 'there is nothing to restore');
    await use(page, page.getByRole('button', { name: 'Make it stale' }), 'Enter', { back: true });
    await eventually(async () => (await sandbox.faults()).length === 1, 'the menu becomes stale');
    await open(page, 'Faults', 'Faults', { back: true });
    await use(page, page.getByRole('button', { name: `Remove GET /orders/api/v1/menu/view of Larder Bistro (${bistro}): status, status 503` }));
    await eventually(async () => (await sandbox.faults()).length === 0, 'the fault is removed');

    step('a fault is injected, takes effect and is removed');
    await use(page, page.getByRole('button', { name: 'Lost response' }));
    await page.getByText('execute_then_reset; 1 more time').waitFor();
    await axe(page, 'faults');
    const before = (await sandbox.orders()).length;
    const lost = await post(order).then(() => false, () => true);
    equal([lost, (await sandbox.orders()).length], [true, before + 1], 'the response is lost, and the order exists');
    await page.getByText('No active faults.').waitFor();

    step('a custom fault, and its removal');
    await tabTo(page, page.getByLabel(/^Effect/));
    await page.keyboard.type('wait, then');
    await fill(page, page.getByLabel('Wait', { exact: true }), '5ms');
    await fill(page, page.getByLabel(/Number of times/), '');
    await page.keyboard.press('Backspace');
    await use(page, page.getByRole('button', { name: 'Inject', exact: true }));
    await page.getByText('every call: latency, delay 5ms; until removed').waitFor();
    await everyVariant(page, 'faults', { each: (variant) => axe(page, `faults, ${variant.name}`) });
    await use(page, page.getByRole('button', { name: 'Remove every call: latency' }));
    await eventually(async () => (await sandbox.faults()).length === 0, 'no active fault');

    step('a setting, and an invalid one');
    await open(page, 'Settings', 'Settings', { back: true });
    await fill(page, page.getByLabel('Lifetime of new tokens'), '10m');
    await page.keyboard.press('Tab');
    await eventually(async () => (await sandbox.settings()).tokenLifetime === '10m0s', 'tokens are valid for ten minutes');
    problems.expected.push(/^request failed: 400 PUT \S+\/sandbox\/settings /); // the rejected setting
    await fill(page, page.getByLabel('Lifetime of new tokens'), 'soon', { back: true });
    await page.keyboard.press('Tab');
    await page.getByRole('alert').filter({ hasText: 'not a duration' }).waitFor();
    await everyVariant(page, 'settings', { each: (variant) => axe(page, `settings, ${variant.name}`) });

    step('the calls are counted');
    await open(page, 'Calls', 'Calls', { back: true });
    await page.getByRole('rowheader', { name: 'POST /orders/api/v1/orders', exact: true }).waitFor();
    await everyVariant(page, 'calls', { each: (variant) => axe(page, `calls, ${variant.name}`) });
  } finally {
    await sandbox.faults([]);
    await sandbox.settings({ autoAccept: true, tokenLifetime: '1h' });
  }
});
