// Larder cannot be reached for a while, but the browser is online. The form asks again by itself.
import { expectedErrors, addFries, fillPickup, openShop, parts } from '../guest.mjs';
import { use } from '../keyboard.mjs';
import { equal, eventually, scenario, step } from '../scenario.mjs';

const expected = [...expectedErrors, /^request failed: no response (GET|POST) \S+\/orders /, /^request failed: 404 GET \S+\/v1\/orders /];

await scenario({ size: 'phone', matrix: false, expected }, async ({ page, larder }) => {
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
});
