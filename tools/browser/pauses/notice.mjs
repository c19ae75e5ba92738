// An operator pauses all orders, and ends the pause, while the page is open: the page and the form say so at once, also
// after the stream of events was lost. The form offers no time that cannot be ordered.
import { axe } from '../axe.mjs';
import { addFries, bistro, fillPickup, openShop, parts, waitForState } from '../guest.mjs';
import { use } from '../keyboard.mjs';
import { equal, eventually, must, scenario, step } from '../scenario.mjs';
import { operator, sandbox } from '../services.mjs';
import { everyVariant } from '../shot.mjs';

await scenario({ size: 'phone' }, async ({ page, open, larder }) => {
  const { pause, resume, busy, free, inMinutes, shown, shownInHeader } = operator(bistro);
  const header = (on = page) => on.locator('#hours');
  const form = page.locator('larder-order-form');
  const notice = form.locator('[part=closed]');
  const soonest = form.getByRole('radio', { name: /As soon as possible/ });
  const says = (locator, text) => eventually(async () => (await locator.innerText()) === text, text || 'no notice');
  const firstTime = () => form.locator('#f-expectedAt').evaluate((select) => Date.parse([...select.options].map((option) => option.value).find(Boolean)));
  await openShop(page, larder);
  await addFries(page);
  await soonest.waitFor();

  step('a pause without an end: there is no time to order for');
  await pause();
  await says(header(), 'No orders at the moment');
  await says(notice, 'No orders at the moment');
  equal([await soonest.count(), await form.locator('#f-expectedAt').count()], [0, 0], 'times');
  await form.getByText('No times available').waitFor();
  await everyVariant(page, 'paused', { full: false });
  await axe(page, 'all orders are paused');
  const plain = await open({ scripts: false });
  await plain.page.goto(larder);
  equal(await header(plain.page).innerText(), 'No orders at the moment', 'the page without scripts');

  step('the operator ends it');
  await resume();
  await says(header(), '');
  await notice.waitFor({ state: 'detached' });
  await soonest.waitFor();
  await axe(page, 'orders are accepted again');

  step('a pause until a time: the form offers the times from then');
  const until = inMinutes(180);
  await pause({ until });
  await says(header(), `No orders before ${shownInHeader(until)}`);
  await says(notice, `No orders before ${shown(until)}`);
  equal([await soonest.count(), await firstTime()], [0, Math.ceil(Date.parse(until) / 900_000) * 900_000], 'times from the end of the pause');
  await axe(page, 'all orders are paused until a time');
  await plain.page.reload();
  equal(await header(plain.page).innerText(), `No orders before ${shownInHeader(until)}`, 'the page without scripts');
  await fillPickup(page);
  await form.locator('#f-expectedAt').selectOption({ index: 1 }); // the time that the form had chosen is gone
  await use(page, parts(page).submit);
  await waitForState(page, 'placed');
  must(Date.parse((await sandbox.orders()).at(-1).body.expectedAt) >= Date.parse(until), 'the order is for a time in the pause');
  await resume();
  await says(header(), '');

  step('a pause while the stream is lost is shown after the reconnect');
  const lost = await open();
  let connected = false;
  await lost.page.route('**/v1/events?*', (route) => (connected ? route.continue() : route.fulfill({ contentType: 'text/event-stream', body: 'retry: 200\n\n' })));
  const { body } = await lost.page.request.get(`${larder}/v1/restaurants/${bistro}`).then(async (response) => ({ body: await response.json() }));
  await lost.page.route(`**/v1/restaurants/${bistro}`, (route) => route.fulfill({ json: body })); // so that only an event can tell the form
  await openShop(lost.page, larder);
  await addFries(lost.page);
  const own = lost.page.locator('larder-order-form');
  await own.getByRole('radio', { name: /As soon as possible/ }).waitFor();
  await pause();
  connected = true;
  await says(own.locator('[part=closed]'), 'No orders at the moment');
  await resume();
  await own.locator('[part=closed]').waitFor({ state: 'detached' });

  step('a longer lead time counts at once');
  const next = await open();
  await openShop(next.page, larder);
  await addFries(next.page);
  const times = next.page.locator('larder-order-form');
  await times.getByText('Schedule for later').click();
  await times.locator('#f-expectedAt').waitFor();
  const earliest = () => times.locator('#f-expectedAt').evaluate((select) => Date.parse([...select.options].map((option) => option.value).find(Boolean)));
  await busy('240m');
  const soon = Date.now() + 239 * 60_000;
  await eventually(async () => await earliest() > soon, 'the first time is four hours from now');
  await free();
  await eventually(async () => await earliest() < soon, 'the first time is an hour from now');
});
