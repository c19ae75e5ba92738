// The sandbox's board: an order arrives and is handed on, a dish sells out, a
// fault is injected and strikes, a setting is changed, all by the keyboard.
import { env } from 'node:process';
import { axe } from '../axe.mjs';
import { fill, focused, use, walkTo } from '../keyboard.mjs';
import { eventually, must, same, scenario, step } from '../scenario.mjs';
import { everyLook } from '../shot.mjs';
import { kitchen } from '../world.mjs';

const bistro = '76439fb3-c0c4-42ca-a269-64f031a6a33b';

/** A token of the ordering service, as larder gets one. */
async function token() {
  const answer = await fetch(`${env.LARDER_KITCHEN}/connect/token`, {
    method: 'POST', signal: AbortSignal.timeout(10_000),
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id: 'demo', client_secret: 'demo-secret' }),
  });
  return (await answer.json()).access_token;
}

async function post(order) {
  return fetch(`${env.LARDER_KITCHEN}/orders/api/v1/orders`, {
    method: 'POST', signal: AbortSignal.timeout(10_000),
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${await token()}` },
    body: JSON.stringify(order),
  });
}

/** A dish without groups, so that an order of it is right by itself. */
async function plainOrder() {
  const { products } = await kitchen.menu(bistro);
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
 * Opens a view by its link, with the keyboard. The board moves the focus into
 * the view when the address has changed, which is after the key was handled: a
 * Tab before that would start at the link, and lose its place on the way.
 */
async function open(page, link, title, options) {
  await use(page, page.getByRole('link', { name: link }), 'Enter', options);
  await eventually(async () => (await focused(page)).name === `main ${title}`, `the focus in the view ${title}`);
}

await scenario({ images: [] }, async ({ page, heard }) => {
  await kitchen.settings({ autoAccept: false });
  try {
    step('the board opens, without orders or with those of others');
    await page.goto(`${env.LARDER_KITCHEN}/`);
    await page.getByText(/^Live at/).waitFor();
    await axe(page, 'the board');

    step('an order arrives by itself');
    const { dish, order } = await plainOrder();
    const answer = await post(order);
    const text = await answer.text();
    same(answer.status, 201, `the order is placed: ${text}`);
    const id = JSON.parse(text).result.orderID;
    const card = page.getByRole('listitem', { name: `Order ${id}` });
    await card.waitFor();
    must((await card.innerText()).includes('No onions, please'), 'the comment is not shown');
    must((await card.innerText()).includes(dish.name), 'the dish is not shown');
    same(await page.locator('[data-state=new]').getByRole('listitem', { name: `Order ${id}` }).count(), 1, 'cards in New');

    step('it is handed on by the keyboard, and the focus goes with it');
    await use(page, page.getByRole('button', { name: `Accept, order ${id}` }));
    for (const [name, state] of [['Send to kitchen', 'accepted'], ['Send to cash station', 'kitchen']]) {
      await eventually(async () => (await focused(page)).name.includes(name), `the focus on ${name}`);
      same((await kitchen.orders()).find((one) => one.orderID === id).state, state, 'the state');
      await page.keyboard.press('Enter');
    }
    await page.locator('[data-state=cash_station]').getByRole('listitem', { name: `Order ${id}` }).waitFor();
    await eventually(async () => (await focused(page)).name.includes(`Order ${id}`), 'the focus on the card');
    await use(page, card.getByText('Request as sent'));
    await eventually(async () => (await card.innerText()).includes('"paymentTypeID":"cash"'), 'the bytes that were sent');
    await axe(page, 'orders, one opened');
    await everyLook(page, 'orders', { each: (look) => look.dark && axe(page, `orders, ${look.name}`) });

    step('an order that is refused is told with its reasons');
    same((await post({ ...order, dishList: [{ ...order.dishList[0], price: '1' }] })).status, 400, 'the wrong order');
    await page.getByRole('heading', { name: /Refused orders/ }).waitFor();
    await axe(page, 'a refused order');

    step('a dish sells out, and comes back');
    await open(page, 'Menu', 'Menu and stop list');
    const box = page.getByRole('checkbox', { name: dish.name, exact: false }).first();
    await box.waitFor();
    await fill(page, page.getByLabel('Search dishes and ingredients'), dish.name);
    await use(page, box, 'Space');
    await eventually(async () => (await kitchen.menu(bistro)).products.find((one) => one.id === dish.id).isContainInStopList?.includes(bistro), 'the dish is stopped');
    await page.getByText('· out of stock').first().waitFor();
    must((await focused(page)).name.includes(dish.name), 'the focus left the dish');
    await axe(page, 'the menu');
    await everyLook(page, 'menu', { each: (look) => look.dark && axe(page, `the menu, ${look.name}`) });
    await page.keyboard.press('Space');
    await eventually(async () => !(await kitchen.menu(bistro)).products.find((one) => one.id === dish.id).isContainInStopList?.includes(bistro), 'the dish is sold again');

    step('a fault is injected, strikes and is gone');
    await open(page, 'Faults', 'Faults', { back: true });
    await use(page, page.getByRole('button', { name: 'Lost response' }));
    await page.getByText('execute_then_reset; 1 more time').waitFor();
    await axe(page, 'faults');
    const before = (await kitchen.orders()).length;
    const lost = await post(order).then(() => false, () => true);
    same([lost, (await kitchen.orders()).length], [true, before + 1], 'the answer is lost, and the order is there');
    await page.getByText('No active faults.').waitFor();

    step('a fault of one\'s own, and its end');
    await walkTo(page, page.getByLabel(/^Effect/));
    await page.keyboard.type('wait, then');
    await fill(page, page.getByLabel('Wait', { exact: true }), '5ms');
    await fill(page, page.getByLabel(/Number of times/), '');
    await page.keyboard.press('Backspace');
    await use(page, page.getByRole('button', { name: 'Inject', exact: true }));
    await page.getByText('every call: latency, delay 5ms; until removed').waitFor();
    await everyLook(page, 'faults', { each: (look) => look.dark && axe(page, `faults, ${look.name}`) });
    await use(page, page.getByRole('button', { name: 'Remove every call: latency' }));
    await eventually(async () => (await kitchen.faults()).length === 0, 'no fault in force');

    step('a setting, and one that makes no sense');
    await open(page, 'Settings', 'Settings', { back: true });
    await fill(page, page.getByLabel('Lifetime of new tokens'), '10m');
    await page.keyboard.press('Tab');
    await eventually(async () => (await kitchen.settings()).tokenLifetime === '10m0s', 'the tokens hold ten minutes');
    heard.expected.push(/status of 400/); // Chromium's word for the refusal that follows
    await fill(page, page.getByLabel('Lifetime of new tokens'), 'soon', { back: true });
    await page.keyboard.press('Tab');
    await page.getByRole('alert').filter({ hasText: 'not a duration' }).waitFor();
    await axe(page, 'settings');
    await everyLook(page, 'settings', { each: (look) => look.dark && axe(page, `settings, ${look.name}`) });

    step('the calls are counted');
    await open(page, 'Calls', 'Calls', { back: true });
    await page.getByRole('rowheader', { name: 'POST /orders/api/v1/orders', exact: true }).waitFor();
    await axe(page, 'calls');
    await everyLook(page, 'calls', { each: (look) => look.dark && axe(page, `calls, ${look.name}`) });
  } finally {
    await kitchen.faults([]);
    await kitchen.settings({ autoAccept: true, tokenLifetime: '1h' });
  }
});
