// The ordering service gets exactly one order after a double click, a reload or a lost
// response. Another step shows a dish that sells out.
import { axe } from '../axe.mjs';
import { addFries, toMenu, expectedErrors, bistro, waitForState, fillPickup, fries, openShop, parts } from '../guest.mjs';
import { pressBar } from '../input.mjs';
import { use } from '../keyboard.mjs';
import { eventually, equal, must, scenario, step } from '../scenario.mjs';
import { everyVariant, shot } from '../shot.mjs';
import { sandbox, larder as operator } from '../services.mjs';

const order = { method: 'POST', path: '/orders/api/v1/orders' };
const count = async () => (await sandbox.orders()).length;

const expected = [...expectedErrors, /^request failed: no response POST \S+\/v1\/restaurants\/[^/]+\/orders /, /^request failed: 404 GET \S+\/v1\/orders(\/events)? /];

await scenario({ size: 'phone', expected }, async ({ page, open, larder }) => {
  const { choose, dialog, line, submit, outcome } = parts(page);
  const bar = page.locator('larder-menu [part=basket-bar]');
  const newOrder = page.getByRole('button', { name: 'New order' });
  try {
    step('a dish sells out while the guest chooses its options');
    await openShop(page, larder);
    await use(page, choose);
    await dialog.waitFor();
    await sandbox.stop(bistro, { [fries.id]: true });
    await operator.resync(bistro);
    await eventually(async () => (await dialog.getByRole('alert').innerText()).includes('sold out while you were choosing'), 'the guest is informed');
    equal(await dialog.getByRole('button', { name: 'Sold out' }).isDisabled(), true, 'it cannot be added');
    await axe(page, 'a dish that sold out');
    await everyVariant(page, 'sold-out', { full: false, only: ['phone-light', 'desktop-dark'] });
    await page.keyboard.press('Escape');
    await sandbox.stop(bistro, { [fries.id]: false });
    await operator.resync(bistro);
    await eventually(() => choose.isEnabled(), 'the dish is available again');

    step('the basket survives a reload');
    await addFries(page);
    await page.reload();
    await line.waitFor();

    step('a double click places one order');
    let before = await count();
    await fillPickup(page);
    await submit.dblclick(); // the second click must have no effect
    await waitForState(page, 'placed');
    equal(await count(), before + 1, 'orders after a double click');

    step('after a reload the bar shows the order, until the guest begins a new one');
    await page.reload();
    await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }));
    await waitForState(page, 'placed');
    const { height } = page.viewportSize();
    const below = async () => (await outcome.boundingBox()).y > height; // otherwise the form is beside the menu, and the bar is away
    const shown = async () => outcome.evaluate((one) => one.getBoundingClientRect().top >= 0 && one.getBoundingClientRect().bottom <= Math.max(innerHeight, one.clientHeight + 400));
    if (await below()) {
      await bar.getByText(/^Order .+ is confirmed$/).waitFor();
      must((await bar.getByRole('button').boundingBox()).height < 60, 'the bar has one line');
      await axe(page, 'the bar of a placed order');
      await everyVariant(page, 'bar-placed', { full: false, only: ['phone-light', 'narrow-dark'] });
      await pressBar(bar.getByRole('button'));
      await eventually(shown, 'a tap on the bar goes to the outcome');
    }
    await newOrder.click();
    await toMenu(page);
    await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }));
    equal(await bar.isVisible(), false, 'the bar without an order is visible');

    step('a reload during the request places one order');
    await addFries(page);
    before = await count();
    await sandbox.faults([{ match: order, times: 1, do: 'latency', delay: '2s' }]);
    await submit.click();
    await eventually(async () => (await sandbox.faults()).length === 0, 'the request is in progress');
    await page.reload();
    await waitForState(page, 'placed');
    equal(await count(), before + 1, 'orders after a reload');

    step('a lost response: a message, one order, and no button for another');
    await newOrder.click();
    await addFries(page);
    before = await count();
    await sandbox.faults([{ match: order, times: 1, do: 'execute_then_reset' }]);
    await submit.click();
    await waitForState(page, 'unknown');
    equal([await count(), await submit.isVisible()], [before + 1, false], 'orders, and whether another can be placed');
    await axe(page, 'an order of unknown outcome');
    await everyVariant(page, 'unknown', { full: false, only: ['phone-light', 'phone-rtl', 'desktop-dark'] });
    await page.reload();
    await waitForState(page, 'unknown');
    await outcome.getByText(/hasn't confirmed your order yet/).waitFor();
    await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }));
    if (await below()) {
      await bar.getByText('Check my order').waitFor();
      await axe(page, 'the bar of an order of unknown outcome');
      await shot(page, 'bar-unknown', { full: false });
      await pressBar(bar.getByRole('button'));
      await eventually(shown, 'a tap on the bar goes to the outcome');
      equal(await outcome.evaluate((one) => one.getRootNode().activeElement === one), true, 'the outcome has the focus');
    }
    equal(await count(), before + 1, 'orders after the lost response and a reload');

    step('a request that a proxy holds is placed after a later one was refused: one order, and no button for another meanwhile');
    await sandbox.faults([]);
    const { page: held } = await open({ size: 'phone' });
    const there = parts(held);
    await held.clock.install();
    await openShop(held, larder);
    await addFries(held);
    await fillPickup(held);
    before = await count();
    let deliver, attempts = 0;
    await held.route('**/orders', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      attempts++;
      if (attempts > 1) return route.fulfill({ status: 422, json: { code: 'validation_failed', errors: [{ path: '', code: 'sold_out', msg: 'It is sold out.' }] } });
      deliver = () => fetch(route.request().url(), { method: 'POST', body: route.request().postData(), headers: { ...route.request().headers(), origin: larder } });
      return route.abort();
    });
    await there.submit.click();
    await eventually(async () => {
      await held.clock.fastForward(1_000);
      return (await there.outcome.getAttribute('data-state')) === 'checking';
    }, 'the order is checked');
    await there.outcome.getByText("We're checking whether your order was placed.").waitFor();
    equal([await there.submit.isVisible(), attempts], [false, 2], 'a button for another order, and attempts');
    await axe(held, 'an order that is checked');
    await everyVariant(held, 'checking', { full: false, only: ['phone-light', 'phone-rtl', 'desktop-dark'] });
    const late = await deliver();
    equal(late.status, 201, 'the response to the request that was held');
    await eventually(async () => {
      await held.clock.fastForward(1_000);
      return (await there.outcome.getAttribute('data-state')) === 'placed';
    }, 'the order is found');
    equal([await count(), attempts], [before + 1, 2], 'orders and attempts');
    await held.close();

    step('an earlier order that appears while the next one is validated stops it');
    const { page: both } = await open({ size: 'phone' });
    const here = parts(both);
    await openShop(both, larder);
    await addFries(both);
    await fillPickup(both);
    let ordered = false;
    await both.route('**/orders/validate', async (route) => {
      if (ordered) await both.evaluate(() => { // not when the form validates while the guest fills it in
        const placing = document.querySelector('larder-order-form').shop.placing;
        localStorage.setItem(placing.name, JSON.stringify({ format: 1, key: 'an-earlier-order-00000001', body: '{}', lines: [], state: 'placed', at: Date.now(), orderID: '4711', total: '1' }));
        placing.read();
      });
      return route.continue();
    });
    before = await count();
    ordered = true;
    await here.submit.evaluate((button) => button.click());
    await here.outcome.getByText(/4711/).waitFor();
    await both.unrouteAll({ behavior: 'wait' });
    await both.waitForTimeout(500); //testwaits:allow a wrong order would follow the validation
    equal([await here.outcome.getAttribute('data-state'), await count()], ['placed', before], 'the state, and orders');
    await both.close();
  } finally {
    await sandbox.faults([]);
    await sandbox.stop(bistro, { [fries.id]: false });
    await operator.resync(bistro);
  }
});
