// An order whose answer is lost: the guest is told so, cannot order again, and
// is told as soon as an operator has found out, whichever way it went.
import { axe } from '../axe.mjs';
import { addFries, answers, ends, fillPickup, openShop, parts } from '../guest.mjs';
import { eventually, must, same, scenario, step } from '../scenario.mjs';
import { everyLook } from '../shot.mjs';
import { kitchen, larder as operator } from '../world.mjs';

const order = { method: 'POST', path: '/orders/api/v1/orders' };
const unknown = async () => (await operator.ops('/v1/ops/orders?state=unknown')).result;

await scenario({ size: 'phone', expected: answers }, async ({ open, larder }) => {
  for (const [how, resolve, state, words] of [
    ['it was placed', (sent) => ({ operation: 'create', outcome: 'done', orderID: String(sent.orderID ?? sent.id) }), 'placed', /Thank you! Order \S+ is confirmed/],
    ['nothing came of it', () => ({ operation: 'create', outcome: 'not_done' }), 'refused', /Nothing was ordered/],
  ]) {
    step(`lost, and found out: ${how}`);
    const { page } = await open({ size: 'phone' });
    const { submit, outcome } = parts(page);
    const others = new Set((await unknown()).map((o) => o.ref));
    try {
      await page.clock.install();
      await openShop(page, larder);
      await addFries(page);
      await fillPickup(page);
      const before = (await kitchen.orders()).length;
      await kitchen.faults([{ match: order, times: 1, do: state === 'placed' ? 'execute_then_reset' : 'reset_before' }]);
      await submit.click();
      await ends(page, 'unknown');
      await outcome.getByText(/Please don't order again/).waitFor();
      same(await submit.isVisible(), false, 'a button for another order');
      await axe(page, 'an unknown outcome');
      await everyLook(page, `unknown-${state}`, { full: false, each: (look) => axe(page, `an unknown outcome, ${look.name}`) });

      const [found] = (await unknown()).filter((o) => !others.has(o.ref));
      must(found, 'operators see the order among the unknown ones');
      const sent = (await kitchen.orders()).at(-1);
      await operator.ops(`/v1/ops/orders/${found.ref}/resolve`, { method: 'POST', body: { ...resolve(sent), note: 'the restaurant was called' } });
      await eventually(async () => {
        await page.clock.fastForward(1000); // the page asks again after up to 15 s
        return (await outcome.getAttribute('data-state')) === state;
      }, `the order to be ${state}`, 30_000);
      await eventually(async () => words.test(await outcome.innerText()), `the guest is told: ${words}`);
      same((await kitchen.orders()).length, before + (state === 'placed' ? 1 : 0), 'orders in the kitchen');
      await axe(page, `resolved: ${how}`);
      await everyLook(page, `resolved-${state}`, { full: false, only: ['phone-light', 'phone-rtl', 'desktop-dark'] });
      await page.reload();
      await ends(page, state);
    } finally {
      await kitchen.faults([]);
    }
    await page.close();
  }
});
