// The confirmation: what was ordered, when, where, whom to call, and the state of the order as
// larder knows it. Past orders can be ordered again.
import { axe } from '../axe.mjs';
import { addFries, bistro, expectedErrors, fillPickup, fries, near, openShop, parts, waitForState } from '../guest.mjs';
import { fill, use } from '../keyboard.mjs';
import { repeated } from '../matrix.mjs';
import { equal, eventually, must, scenario, step } from '../scenario.mjs';
import { larder as operator, sandbox } from '../services.mjs';
import { everyVariant, shot } from '../shot.mjs';

await scenario({ size: 'phone', expected: [...expectedErrors] }, async ({ open, larder }) => {
  for (const size of repeated(['phone', 'desktop'])) {
    const { page } = await open({ size });
    const { submit, outcome, line } = parts(page);
    const form = page.locator('larder-order-form');
    const urls = [];
    page.on('request', (request) => urls.push(request.url()));
    try {
      step(`${size}: an order is placed, and everything about it is shown`);
      const blocked = size === 'desktop'; // the address has too many streams
      if (blocked) await page.route('**/v1/orders/events', (route) => route.fulfill({ status: 429, headers: { 'Retry-After': '1' }, json: {} }));
      await openShop(page, larder);
      await form.evaluate((element) => {
        element.setAttribute('phone', '+351 22 000 00 00, ext. 4');
        element.setAttribute('address', 'Rua das Flores 1, Porto');
        element.setAttribute('time-zone', 'Asia/Tokyo');
      });
      await addFries(page);
      await fillPickup(page);
      await fill(page, form.locator('#f-comment'), 'Napkins, please');
      await use(page, submit);
      await waitForState(page, 'placed');
      await eventually(() => form.locator('[part=order-name]').evaluate((heading) => {
        const { top } = heading.getBoundingClientRect();
        return top >= 0 && top <= innerHeight / 3;
      }), 'the confirmation is in the upper part of the window');
      const id = (await sandbox.orders()).at(-1).orderID;
      const receipt = await form.locator('[part=receipt]').innerText();
      for (const words of ['1 × French fries (', 'Total', 'As soon as possible', 'GMT+9', 'Rua das Flores 1, Porto', 'Cash', 'Napkins, please', '+351 22 000 00 00, ext. 4']) {
        must(receipt.includes(words), `the confirmation has “${words}”: ${receipt}`);
      }
      equal(await form.locator('[part=receipt] a').getAttribute('href'), 'tel:+351220000000', 'the link to the phone');
      for (const [phone, link] of [['Tel. (+351) 22 000', 'tel:+35122000'], ['8-800-FLOWERS', null], ['ask at the bar +', null], ['+351 22 000 00 00, ext. 4', 'tel:+351220000000']]) {
        await form.evaluate((element, value) => element.setAttribute('phone', value), phone);
        await form.locator('[part=call]').getByText(phone, { exact: true }).waitFor();
        equal(await form.locator('[part=call]').getAttribute('href'), link, `the link of “${phone}”`);
      }
      must((await outcome.innerText()).includes(`Thank you! Order ${id} is confirmed.`), 'the number of the order');
      await everyVariant(page, `confirmation-${size}`, { full: false, each: (variant) => axe(page, `a confirmation, ${variant.name}`) });

      step(`${size}: a payment and the end of the order arrive by themselves${blocked ? ', without a stream' : ''}`);
      await operator.changeOrder(id, 'pay', [{ code: 'cash', amount: 10_000, paidAt: new Date().toISOString() }]);
      await outcome.getByText('Paid', { exact: true }).waitFor();
      await axe(page, 'a paid order');
      await operator.changeOrder(id, 'complete');
      await outcome.getByText(`Order ${id} is completed.`).waitFor();
      await axe(page, 'a completed order');
      await everyVariant(page, `completed-${size}`, { full: false, only: ['phone-light', 'desktop-dark'] });
      await page.reload();
      await outcome.getByText(`Order ${id} is completed.`).waitFor();
      const key = await page.evaluate(() => Object.entries(localStorage).find(([name]) => name.startsWith('larder:order:'))[1]).then((text) => JSON.parse(text).key);
      equal(urls.filter((url) => url.includes(key)), [], 'URLs with the key');

      step(`${size}: the confirmation can be printed`);
      await page.emulateMedia({ media: 'print' });
      equal(await form.locator('[part=basket]').isVisible(), false, 'the basket is printed');
      await shot(page, `print-${size}`, { full: false });
      await page.emulateMedia({ media: null });

      step(`${size}: order again, as far as the dishes are available`);
      await near(form.getByRole('button', { name: 'Order again', exact: true })); // after a reload
      await use(page, form.getByRole('button', { name: 'Order again', exact: true }));
      await line.waitFor();
      await submit.waitFor();
      await axe(page, 'an order again');

      step(`${size}: past orders are listed, without address and phone`);
      await use(page, form.locator('[part=history] summary'));
      await form.getByText(`Order ${id},`).waitFor();
      await axe(page, 'past orders');
      await everyVariant(page, `past-${size}`, { full: false, only: ['phone-light', 'phone-rtl', 'desktop-dark'] });
      const kept = await page.evaluate(() => Object.entries(localStorage).find(([name]) => name.startsWith('larder:history:'))[1]);
      must(!kept.includes('10005550100') && !kept.includes('Napkins'), 'no details in the history');
      await use(page, form.getByRole('button', { name: 'Clear the list' }));
      equal(await form.locator('[part=history]').isVisible(), false, 'past orders after clearing');

      step(`${size}: the restaurant rejects an order`);
      await use(page, submit);
      await waitForState(page, 'placed');
      const next = (await sandbox.orders()).at(-1).orderID;
      const [reason] = (await operator.get('/v1/rejection-reasons')).result.filter((one) => one.type !== 'text');
      await operator.changeOrder(next, 'reject', { rejectionReasonID: reason.ID, rejectionReasonText: '' });
      await outcome.getByText(`The restaurant cancelled order ${next}.`).waitFor();
      await axe(page, 'a cancelled order');

      step(`${size}: a dish that sold out is not ordered again`);
      await sandbox.stop(bistro, { [fries.id]: true });
      await operator.resync(bistro);
      await eventually(() => page.locator(`larder-menu [data-dish=${fries.id}]`).getByText('Sold out').first().isVisible(), 'the dish is sold out');
      await use(page, form.getByRole('button', { name: 'Order again', exact: true }));
      await form.getByText(/No longer available: French fries/).waitFor();
      equal(await line.count(), 0, 'lines of the basket');
      await axe(page, 'a dish that is not available again');
    } finally {
      await sandbox.stop(bistro, { [fries.id]: false });
      await operator.resync(bistro);
    }
    await page.close();
  }
});
