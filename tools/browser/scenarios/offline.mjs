// Findings G2 and G3: while the browser is offline, the form says so and sends nothing. It
// continues by itself when the network is back, and there is always one order.
import { axe } from '../axe.mjs';
import { addFries, expectedErrors, fillPickup, fries, near, openShop, parts, waitForState } from '../guest.mjs';
import { use } from '../keyboard.mjs';
import { repeated } from '../matrix.mjs';
import { equal, eventually, must, scenario, step } from '../scenario.mjs';
import { sandbox } from '../services.mjs';
import { everyVariant } from '../shot.mjs';

const count = async () => (await sandbox.orders()).length;
// Photos are loaded when they are scrolled into view.
const expected = [...expectedErrors, /^request failed: no response (GET|POST) \S+\/v1\//, /^request failed: no response GET \S+\/photos\//];

await scenario({ size: 'phone', expected }, async ({ open, larder }) => {
  for (const size of repeated(['phone', 'desktop'])) {
    const { page, context } = await open({ size });
    const { submit, outcome, line } = parts(page);
    const sent = [];
    page.on('request', (request) => { if (request.method() === 'POST' && request.url().endsWith('/orders')) sent.push(request.url()); });
    step(`${size}: G2: offline, nothing is sent, and the form says so`);
    await page.clock.install();
    await openShop(page, larder);
    await addFries(page);
    await fillPickup(page);
    const before = await count();
    await context.setOffline(true);
    await page.getByText("You're offline. You can still fill in the form.").waitFor();
    await axe(page, 'the form while offline');
    await use(page, submit);
    await waitForState(page, 'offline');
    must((await outcome.innerText()).includes('Nothing has been sent yet'), 'it says that nothing was sent');
    must(!/may have been placed|Sending/.test(await outcome.innerText()), 'it makes no false statement');
    await axe(page, 'an order that waits for the network');
    await everyVariant(page, `waiting-${size}`, { full: false, only: ['phone-light', 'phone-rtl', 'desktop-dark'] });
    await page.clock.fastForward(35_000);
    equal([sent.length, await count()], [0, before], 'requests and orders while offline');
    equal(await page.locator('larder-menu [part=basket-bar]').evaluate((bar) => bar.hidden), false, 'the basket bar is hidden while nothing was sent');

    step(`${size}: the basket can be changed before anything was sent`);
    await use(page, line.getByRole('button', { name: `More: ${fries.name}` }));
    await submit.waitFor();
    equal(await outcome.isVisible(), false, 'the order no longer waits');
    await page.locator('larder-order-form [part=notice]').getByText('it no longer waits to be sent').waitFor(); // where the order was shown
    await axe(page, 'a changed order that no longer waits');
    await use(page, submit);
    await waitForState(page, 'offline');

    step(`${size}: G3: the network is back, and the order is sent by itself, once`);
    await outcome.evaluate((element) => {
      globalThis.said = [];
      new MutationObserver(() => globalThis.said.push(element.innerText)).observe(element, { childList: true, subtree: true, characterData: true });
    });
    await context.setOffline(false);
    await waitForState(page, 'placed');
    must(!(await page.evaluate(() => globalThis.said)).some((text) => text.includes('was not sent')), 'no wrong text at the reconnect');
    const orders = await sandbox.orders();
    equal([orders.length, orders.at(-1).body.dishList[0].quantity], [before + 1, 2], 'orders, and the changed quantity');
    await axe(page, 'an order that was sent after the network returned');

    step(`${size}: G3: the network is lost while an order is being sent`);
    await use(page, page.getByRole('button', { name: 'New order' }));
    await addFries(page);
    await near(submit);
    await page.route('**/orders', async (route) => { // the order arrives, and its response does not
      await route.fetch();
      await context.setOffline(true);
      await route.abort('internetdisconnected');
    }, { times: 1 });
    await use(page, submit);
    await waitForState(page, 'lost');
    must((await outcome.innerText()).includes('may have been placed'), 'it says that the order may have been placed');
    equal(await submit.isVisible(), false, 'a button for another order');
    await axe(page, 'an order that may have been placed, offline');
    await everyVariant(page, `lost-${size}`, { full: false, only: ['phone-light', 'phone-rtl', 'desktop-dark'] });
    await page.clock.fastForward(35_000);
    await waitForState(page, 'lost');
    await context.setOffline(false);
    await eventually(async () => {
      await page.clock.fastForward(1_000);
      return (await outcome.getAttribute('data-state')) === 'placed';
    }, 'the order continues by itself');
    equal(await count(), before + 2, 'orders after the network was lost');

    step(`${size}: an order that waited for more than ten minutes is not sent by itself`);
    await use(page, page.getByRole('button', { name: 'New order' }));
    await addFries(page);
    await near(submit);
    await context.setOffline(true);
    await use(page, submit);
    await waitForState(page, 'offline');
    await page.clock.fastForward('11:00');
    await context.setOffline(false);
    await outcome.getByText(/was not sent. Nothing was ordered/).waitFor();
    equal(await count(), before + 2, 'orders after a long time offline');
    await axe(page, 'an order that was not sent');
    await use(page, page.getByRole('button', { name: 'Send the order again' }));
    await waitForState(page, 'placed');
    equal(await outcome.evaluate((element) => element.getRootNode().activeElement === element), true, 'the outcome has the focus');
    equal(await count(), before + 3, 'orders after the guest has sent it');
    await page.close();
  }
});
