// An operator pauses orders between a guest's tap on "Order" and the response: nothing is ordered, the form says why at the
// time, and the guest orders for later.
import { axe } from '../axe.mjs';
import { addFries, bistro, expectedErrors, fillPickup, openShop, parts, waitForState } from '../guest.mjs';
import { use } from '../keyboard.mjs';
import { equal, eventually, must, scenario, step } from '../scenario.mjs';
import { operator, sandbox } from '../services.mjs';
import { everyVariant } from '../shot.mjs';

await scenario({ size: 'phone', expected: [...expectedErrors] }, async ({ page, larder }) => {
  const { pause, resume, inMinutes, shown } = operator(bistro);
  const form = page.locator('larder-order-form');
  const orders = (await sandbox.orders()).length;
  const until = inMinutes(180);
  const text = `No pickup before ${shown(until)}`;
  let [arrive, proceed] = [];
  const tapped = new Promise((resolve) => { arrive = resolve; });
  const paused = new Promise((resolve) => { proceed = resolve; });
  await page.route(`**/v1/restaurants/${bistro}/orders`, async (route) => {
    arrive();
    await paused;
    await route.continue();
  });
  await openShop(page, larder);
  await addFries(page);
  await fillPickup(page);
  await form.getByRole('radio', { name: /As soon as possible/ }).waitFor();

  step('the pause begins while the order is on its way');
  await use(page, parts(page).submit);
  await tapped;
  await pause({ until });
  proceed();
  await form.locator('[part=violations]', { hasText: text }).waitFor();
  await eventually(async () => (await form.locator('[id^="n-expectedAt"]').allInnerTexts()).includes(text), 'the time field says so');
  equal((await sandbox.orders()).length, orders, 'orders during the pause');
  equal(await form.getByRole('radio', { name: /As soon as possible/ }).count(), 0, 'as soon as possible');
  await everyVariant(page, 'refused', { full: false });
  await axe(page, 'an order that a pause has refused');

  step('the guest orders for the first time after the pause');
  await use(page, parts(page).submit);
  await waitForState(page, 'placed');
  equal((await sandbox.orders()).length, orders + 1, 'orders');
  must(Date.parse((await sandbox.orders()).at(-1).body.expectedAt) >= Date.parse(until), 'the order is for a time in the pause');
  await resume();
});
