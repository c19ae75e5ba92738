// The response to an order is lost. The guest gets a message and cannot order again. As soon
// as an operator records the outcome, the guest sees it.
import { axe } from '../axe.mjs';
import { addFries, expectedErrors, waitForState, fillPickup, openShop, parts } from '../guest.mjs';
import { eventually, must, equal, scenario, step } from '../scenario.mjs';
import { everyVariant } from '../shot.mjs';
import { sandbox, larder as operator } from '../services.mjs';

const order = { method: 'POST', path: '/orders/api/v1/orders' };
const unknown = async () => (await operator.ops('/v1/ops/orders?state=unknown')).result;

await scenario({ size: 'phone', expected: expectedErrors }, async ({ open, larder }) => {
  for (const [how, resolve, state, words] of [
    ['it was placed', (sent) => ({ operation: 'create', outcome: 'done', orderID: String(sent.orderID ?? sent.id) }), 'placed', /Thank you! Order \S+ is confirmed/],
    ['it was not placed', () => ({ operation: 'create', outcome: 'not_done' }), 'refused', /Nothing was ordered/],
  ]) {
    step(`a lost response, resolved: ${how}`);
    const { page } = await open();
    const { submit, outcome } = parts(page);
    const others = new Set((await unknown()).map((o) => o.ref));
    try {
      await page.clock.install();
      await openShop(page, larder);
      await addFries(page);
      await fillPickup(page);
      const before = (await sandbox.orders()).length;
      await sandbox.faults([{ match: order, times: 1, do: state === 'placed' ? 'execute_then_reset' : 'reset_before' }]);
      await submit.click();
      await waitForState(page, 'unknown');
      await outcome.getByText(/Please don't order again/).waitFor();
      equal(await submit.isVisible(), false, 'a button for another order');
      await everyVariant(page, `unknown-${state}`, { full: false, each: (variant) => axe(page, `an unknown outcome, ${variant.name}`) });

      const [found] = (await unknown()).filter((o) => !others.has(o.ref));
      must(found, 'operators see the order among the unknown ones');
      const sent = (await sandbox.orders()).at(-1);
      await operator.ops(`/v1/ops/orders/${found.ref}/resolve`, { method: 'POST', body: { ...resolve(sent), note: 'the restaurant was called' } });
      await eventually(async () => {
        await page.clock.fastForward(1000); // the page asks again after up to 15 s
        return (await outcome.getAttribute('data-state')) === state;
      }, `the order to be ${state}`);
      await eventually(async () => words.test(await outcome.innerText()), `the guest sees: ${words}`);
      equal((await sandbox.orders()).length, before + (state === 'placed' ? 1 : 0), 'orders of the ordering service');
      await axe(page, `resolved: ${how}`);
      await everyVariant(page, `resolved-${state}`, { full: false, only: ['phone-light', 'phone-rtl', 'desktop-dark'] });
      await page.reload();
      await waitForState(page, state);
    } finally {
      await sandbox.faults([]);
    }
    await page.close();
  }
});
