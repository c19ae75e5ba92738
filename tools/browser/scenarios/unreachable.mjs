// Larder cannot be reached for a while, but the browser is online. The form asks again by itself.
import { expectedErrors, addFries, fillPickup, openShop, parts } from '../guest.mjs';
import { use } from '../keyboard.mjs';
import { equal, eventually, scenario, step } from '../scenario.mjs';

const expected = [...expectedErrors, /^request failed: no response (GET|POST) \S+\/orders /, /^request failed: 404 GET \S+\/v1\/orders /];

await scenario({ size: 'phone', matrix: false, expected }, async ({ page, open, larder }) => {
  step('an order without a response');
  let away = true;
  const keys = new Set();
  await page.route('**/orders', (route) => {
    keys.add(route.request().headers()['idempotency-key']);
    return away ? route.abort() : route.continue();
  });
  await page.clock.install();
  await openShop(page, larder);
  await addFries(page);
  await fillPickup(page);
  await use(page, parts(page).submit);
  const later = async () => {
    await page.clock.fastForward(1_000);
    return parts(page).outcome.getAttribute('data-state');
  };
  await eventually(async () => (await later()) === 'lost', 'the order is lost');

  step('larder is back: the order is placed, once, without a tap');
  away = false;
  await eventually(async () => (await later()) === 'placed', 'the form asks again');
  equal(keys.size, 1, 'keys');

  step('a 404 of a proxy does not say that nothing was ordered');
  const { page: other } = await open({ size: 'phone' });
  await other.route('**/orders', (route) =>
    route.request().method() === 'POST' ? route.abort() : route.fulfill({ status: 404, contentType: 'text/html', body: '<h1>Not Found</h1>' }));
  await other.clock.install();
  await openShop(other, larder);
  await addFries(other);
  await fillPickup(other);
  await use(other, parts(other).submit);
  const state = async (pass) => {
    await other.clock.fastForward(pass);
    return parts(other).outcome.getAttribute('data-state');
  };
  await eventually(async () => (await state(1_000)) === 'lost', 'the order is lost');
  await state('11:00'); // it is not sent any more, only looked for
  for (let i = 0; i < 60; i++) equal((await state(2_000)) === 'unsent', false, 'nothing was ordered');
  await other.close();
});
