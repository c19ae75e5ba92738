// A restaurant that is closed: the page and the form say when it opens, offer only times that can be
// ordered, and notice it when the restaurant closes while the form is filled in.
import { axe } from '../axe.mjs';
import { addFries, bistro, expectedErrors, fillPickup, openShop, parts, waitForState } from '../guest.mjs';
import { fill, use } from '../keyboard.mjs';
import { equal, must, scenario, step } from '../scenario.mjs';
import { larder as api, sandbox } from '../services.mjs';
import { everyVariant } from '../shot.mjs';

await scenario({ size: 'phone', expected: [...expectedErrors] }, async ({ page, open, larder }) => {
  const form = page.locator('larder-order-form');
  const notice = form.locator('[part=closed]');
  const soonest = form.getByRole('radio', { name: /As soon as possible/ });
  const options = (select) => select.evaluate((element) => [...element.options].map((option) => option.value).filter(Boolean));
  const { result } = await api.get(`/v1/restaurants/${bistro}`);
  equal([result.accepts.pickup.now, result.accepts.pickup.reason], [false, 'closed'], 'what the restaurant accepts');
  const [today] = result.hours.pickup;

  step('the page says when it opens, also without scripts; nothing moves');
  const plain = await open({ scripts: false });
  await plain.page.goto(larder);
  const text = await plain.page.locator('#hours').innerText();
  must(/^Closed, opens \w{3} 11:00$/.test(text), `the page says ${text}`);
  await openShop(page, larder);
  equal(await page.locator('#hours').innerText(), text, 'the text of the script');
  await axe(page, 'the page of a closed restaurant');

  step('the form offers only times within the hours');
  await addFries(page);
  await notice.waitFor();
  must(/^Closed, opens .*11:00/.test(await notice.innerText()), `the form says ${await notice.innerText()}`);
  equal(await soonest.count(), 0, 'as soon as possible');
  const times = await options(form.locator('#f-expectedAt'));
  equal([Date.parse(times[0]), times.length], [Date.parse(today.from), 4], 'the times of the first day: four quarters of an hour from the opening');
  await everyVariant(page, 'closed', { full: false });
  await axe(page, 'the form of a closed restaurant');
  await fillPickup(page);
  await use(page, parts(page).submit);
  await waitForState(page, 'placed');
  equal(Date.parse((await sandbox.orders()).at(-1).body.expectedAt), Date.parse(today.from), 'the time of the order');

  step('it closes while the form is filled in: nothing is ordered, and the form says when it opens');
  const later = await open();
  const ordered = (await sandbox.orders()).length;
  let closed = false; // what the page knows
  await later.page.route(`**/v1/restaurants/${bistro}`, async (route) => {
    if (closed) return route.continue();
    const response = await route.fetch();
    const body = await response.json();
    for (const kind of ['delivery', 'pickup']) {
      body.result.accepts[kind] = { ...body.result.accepts[kind], now: true, reason: null, next: null };
      body.result.hours[kind] = null;
    }
    return route.fulfill({ response, json: body });
  });
  await openShop(later.page, larder);
  await addFries(later.page);
  await fillPickup(later.page);
  const own = later.page.locator('larder-order-form');
  await own.getByRole('radio', { name: /As soon as possible/ }).waitFor();
  equal(await own.locator('[part=closed]').count(), 0, 'notices of an open restaurant');
  await use(later.page, parts(later.page).submit);
  await own.locator('[part=violations]', { hasText: 'Closed, opens' }).waitFor();
  equal((await sandbox.orders()).length, ordered, 'orders of a closed restaurant');
  await axe(later.page, 'a restaurant that has closed');
  closed = true;
  await later.page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await own.locator('[part=closed]').waitFor();
  equal(await own.getByRole('radio', { name: /As soon as possible/ }).count(), 0, 'as soon as possible, after it closed');
  await fill(later.page, parts(later.page).name, 'Ana', { back: true });
  await use(later.page, parts(later.page).submit);
  await waitForState(later.page, 'placed');

  step('it opens while the page is open, earlier for pickup: the notice disappears');
  const early = await open();
  await early.page.clock.install();
  await openShop(early.page, larder);
  await addFries(early.page);
  const waiting = early.page.locator('larder-order-form');
  const now = async (minutes) => {
    await early.page.clock.setFixedTime(new Date(Date.parse(today.from) + minutes * 60_000));
    await early.page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  };
  await waiting.locator('[part=closed]').waitFor();
  await now(-30); // delivery takes an hour
  await waiting.locator('[part=closed]').waitFor({ state: 'detached' });
  await waiting.getByRole('radio', { name: /As soon as possible/ }).waitFor();
  await now(30); // pickup takes 20 minutes
  await waiting.getByRole('radio', { name: /As soon as possible/ }).waitFor({ state: 'detached' });
  await fillPickup(early.page);
  await waiting.getByRole('radio', { name: /As soon as possible/ }).waitFor();
});
