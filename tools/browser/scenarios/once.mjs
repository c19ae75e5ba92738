// One intent, one order: whatever is clicked twice, reloaded or lost, the
// kitchen gets exactly one. And what a guest sees when a dish sells out.
import { axe } from '../axe.mjs';
import { addFries, answers, bistro, ends, fillPickup, fries, openShop, parts } from '../guest.mjs';
import { use } from '../keyboard.mjs';
import { eventually, same, scenario, step } from '../scenario.mjs';
import { everyLook } from '../shot.mjs';
import { kitchen, larder as operator } from '../world.mjs';

const order = { method: 'POST', path: '/orders/api/v1/orders' };
const count = async () => (await kitchen.orders()).length;

await scenario({ size: 'phone', expected: [...answers, /net::ERR_ABORTED/] }, async ({ page, larder }) => {
  const { choose, dialog, line, submit, outcome } = parts(page);
  const anew = page.getByRole('button', { name: 'New order' });
  try {
    step('a dish sells out while it is being put together');
    await openShop(page, larder);
    await use(page, choose);
    await dialog.waitFor();
    await kitchen.stop(bistro, { [fries.id]: true });
    await operator.resync(bistro);
    await eventually(async () => (await dialog.getByRole('alert').innerText()).includes('sold out while you were choosing'), 'the guest is told');
    same(await dialog.getByRole('button', { name: 'Sold out' }).isDisabled(), true, 'it cannot be added');
    await axe(page, 'a dish that sold out');
    await everyLook(page, 'sold-out', { full: false, only: ['phone-light', 'desktop-dark'] });
    await page.keyboard.press('Escape');
    await kitchen.stop(bistro, { [fries.id]: false });
    await operator.resync(bistro);
    await eventually(() => choose.isEnabled(), 'the dish is back');

    step('the basket outlives a reload');
    await addFries(page);
    await page.reload();
    await line.waitFor();

    step('a double click makes one order');
    let before = await count();
    await fillPickup(page);
    await submit.dblclick(); // the second click must find nothing to do
    await ends(page, 'placed');
    same(await count(), before + 1, 'orders after a double click');

    step('a reload while the order is on its way makes one order');
    await anew.click();
    await addFries(page);
    before = await count();
    await kitchen.faults([{ match: order, times: 1, do: 'latency', delay: '2s' }]);
    await submit.click();
    await eventually(async () => (await kitchen.faults()).length === 0, 'the order is on its way');
    await page.reload();
    await ends(page, 'placed');
    same(await count(), before + 1, 'orders after a reload');

    step('a lost answer: told honestly, one order, and no button for another');
    await anew.click();
    await addFries(page);
    before = await count();
    await kitchen.faults([{ match: order, times: 1, do: 'execute_then_reset' }]);
    await submit.click();
    await ends(page, 'unknown');
    same([await count(), await submit.isVisible()], [before + 1, false], 'orders, and whether another can be placed');
    await axe(page, 'an order of unknown outcome');
    await everyLook(page, 'unknown', { full: false, only: ['phone-light', 'phone-rtl', 'desktop-dark'] });
    await page.reload();
    await ends(page, 'unknown');
    await outcome.getByText(/hasn't confirmed your order yet/).waitFor();
    same(await count(), before + 1, 'orders after the lost answer and a reload');
  } finally {
    await kitchen.faults([]);
    await kitchen.stop(bistro, { [fries.id]: false });
    await operator.resync(bistro);
  }
});
