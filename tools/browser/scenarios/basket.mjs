// The basket: sold-out dishes are not in the total and leave with one tap, and an order whose outcome is not
// known is a receipt above the next one. The guest sees when an order is expected, and how past orders ended.
import { axe } from '../axe.mjs';
import { addFries, bistro, expectedErrors, fillPickup, fries, openShop, parts, waitForState } from '../guest.mjs';
import { use } from '../keyboard.mjs';
import { equal, eventually, must, scenario, step } from '../scenario.mjs';
import { larder as operator, sandbox } from '../services.mjs';
import { everyVariant } from '../shot.mjs';

const beef = 'dish-roast-beef';
const create = { method: 'POST', path: '/orders/api/v1/orders' };

await scenario({ size: 'phone', locale: 'en-GB', expected: expectedErrors }, async ({ page, larder }) => {
  const { submit, outcome, line } = parts(page);
  const form = page.locator('larder-order-form');
  const lines = form.locator('[part=line]');
  const heavy = form.locator(`[data-line=${beef}]`);
  const add = async (id) => {
    await page.locator(`larder-menu [data-dish=${id}] [part=add]`).first().tap();
    const dialog = page.locator('larder-menu dialog[part=dish]');
    await dialog.locator('[part=dish-add]').tap();
    await dialog.waitFor({ state: 'hidden' });
    await eventually(() => page.evaluate(() => history.state?.larder !== true), 'the entry of the dialog is left');
  };
  const stop = async (away) => {
    await sandbox.stop(bistro, { [fries.id]: away });
    await operator.resync(bistro);
  };
  const oneRow = async (what, elements) => {
    const middles = await elements.evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).map(({ top, height }) => Math.round((top + height / 2) / 4)));
    must(middles.length > 1 && Math.max(...middles) - Math.min(...middles) < 2, `${what} in one row: ${middles}`);
  };
  try {
    step('a weighed dish has its unit; the time has the form of the guest\'s region');
    await openShop(page, larder);
    await addFries(page);
    await add(beef);
    equal(await heavy.locator('output').innerText(), '500 g', 'the weight in the basket');
    await oneRow('the buttons of a line', heavy.locator('.actions button'));
    const soon = form.locator('label', { has: page.locator('[value=soonest]') });
    must(/^As soon as possible, about \d?\d:\d[05]$/.test((await soon.innerText()).trim()), `when an order is expected: ${await soon.innerText()}`);

    step('a sold-out dish is not in the total, and leaves with one tap');
    const both = await submit.innerText();
    await stop(true);
    await line.getByText('Sold out. Remove it').waitFor();
    await oneRow('price and note of a sold-out card', page.locator(`larder-menu [data-dish=${fries.id}] .foot`).first().locator('[part=price], [part=add]'));
    await eventually(async () => (await submit.innerText()) !== both, 'the total without the sold-out dish');
    equal(await submit.innerText(), `Order for ${await heavy.locator('[part=line-price]').innerText()}`, 'the button');
    await use(page, submit);
    const problem = form.locator('[part=violations] a', { hasText: fries.name }).first();
    await problem.waitFor();
    equal((await problem.innerText()).split(fries.name).length, 2, `the name of the dish, once: ${await problem.innerText()}`);
    await everyVariant(page, 'sold-out', { full: false, each: (variant) => axe(page, `a sold-out dish in the basket, ${variant.name}`) });
    await heavy.getByRole('button', { name: /^Remove/ }).tap();
    await heavy.waitFor({ state: 'detached' });
    equal(await submit.isVisible(), false, 'a button to order nothing');
    await use(page, form.locator('[part=remove-gone]'));
    await form.getByText('Your basket is empty.').waitFor();
    equal(await lines.count(), 0, 'lines of the basket');
    await stop(false);

    step('an order whose outcome is not known is a receipt, apart from the next order');
    await eventually(async () => (await page.locator(`larder-menu [data-dish=${fries.id}] [part=add]`).first().innerText()) === 'Choose', 'the dish is back');
    await addFries(page);
    await fillPickup(page);
    await sandbox.faults([{ match: create, times: 1, do: 'execute_then_reset' }]);
    await use(page, submit);
    await waitForState(page, 'unknown');
    must((await outcome.locator('[part=receipt]').innerText()).includes(`1 × ${fries.name}`), 'what was ordered');
    equal([await lines.count(), await form.getByText('Your basket is empty.').count()], [0, 0], 'dishes beside the order');
    await add(beef);
    await form.locator('[part=next-order]').waitFor();
    equal(await lines.evaluateAll((all) => all.map(({ dataset }) => dataset.line)), [beef], 'the dishes of the next order');
    await heavy.getByRole('button', { name: /^More/ }).tap();
    await eventually(async () => (await heavy.locator('output').innerText()) === '600 g', 'the next order can be changed');
    await axe(page, 'a pending order and the next one');
    await everyVariant(page, 'pending', { full: false, only: ['phone-light', 'phone-rtl', 'desktop-dark'] });
    const { orderID } = (await sandbox.orders()).at(-1);
    const [pending] = (await operator.ops('/v1/ops/orders?state=unknown')).result;
    await operator.ops(`/v1/ops/orders/${pending.ref}/resolve`, { method: 'POST', body: { operation: 'create', outcome: 'done', orderID: String(orderID), note: 'the restaurant was called' } });
    await waitForState(page, 'placed');
    equal(await lines.count(), 1, 'the basket has the next order only');

    step('the confirmation has the expected time, name and phone; the list of past orders says how they ended');
    must((await form.locator('[part=receipt]').innerText()).includes('Ada, +10005550100'), 'name and phone in the confirmation');
    await use(page, form.locator('[data-does=orderMore]'));
    await use(page, submit);
    await waitForState(page, 'placed');
    await eventually(async () => (await lines.count()) === 0, 'the next order is placed too');
    await oneRow('the buttons of the confirmation', form.locator('.buttons button'));
    const next = (await sandbox.orders()).at(-1).orderID;
    const receipt = await form.locator('[part=receipt]').innerText();
    for (const words of [/As soon as possible, about \w+ \d+ \w+, \d?\d:\d\d GMT\+3/, /600 g Roast beef/]) must(words.test(receipt), `the confirmation has ${words}: ${receipt}`);
    const [reason] = (await operator.get('/v1/rejection-reasons')).result.filter((one) => one.type === 'text');
    await sandbox.faults([{ match: { method: 'PUT', path: `/orders/api/v1/orders/${next}/reject` }, times: 1, do: 'execute_then_reset' }]);
    const lost = await operator.changeOrder(next, 'reject', { rejectionReasonID: reason.ID, rejectionReasonText: 'The oven is broken' }).catch(String);
    must(/504/.test(lost), `the rejection without a response: ${lost}`);
    await outcome.getByText(`The restaurant may have cancelled order ${next}.`).waitFor();
    await axe(page, 'a rejection with an unknown outcome');
    const { result: unknown } = await operator.ops('/v1/ops/orders?state=unknown');
    const { ref } = unknown.find((one) => one.orderID === next);
    await operator.ops(`/v1/ops/orders/${ref}/resolve`, { method: 'POST', body: { operation: 'reject', outcome: 'done', note: 'the restaurant was called' } });
    await outcome.getByText(`The restaurant cancelled order ${next}.`).waitFor();
    await outcome.getByText('Reason: The oven is broken').waitFor();
    await use(page, form.locator('[part=history] summary'));
    const past = form.locator('[part=past-order]', { hasText: `Order ${next},` });
    await past.getByText('Cancelled by the restaurant').waitFor();
    await past.getByText('Reason: The oven is broken').waitFor();
    await axe(page, 'past orders with a cancelled one');
  } finally {
    await sandbox.faults([]);
    await stop(false);
  }
});
