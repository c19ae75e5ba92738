// On a phone, an operator pauses orders with two taps, sets a longer lead time, and takes dishes off the menu.
import { env } from 'node:process';
import { axe } from '../axe.mjs';
import { bistro } from '../guest.mjs';
import { equal, eventually, must, scenario, step } from '../scenario.mjs';
import { larder as api } from '../services.mjs';
import { everyVariant } from '../shot.mjs';

const expected = [/^request failed: .*POST \S+\/pause\b/, /ERR_CONNECTION_FAILED/];

await scenario({ size: 'phone', matrix: false, expected }, async ({ page, larder }) => {
  const orders = page.getByRole('region', { name: 'Orders' });
  const held = orders.locator('.held');
  const dialog = page.getByRole('dialog');
  const tap = (scope, name) => scope.getByRole('button', { name, exact: true }).tap();
  const guests = async () => (await api.get(`/v1/restaurants/${bistro}`)).result;
  const nothing = () => orders.getByText('Taking orders normally').waitFor();
  const effect = dialog.locator('.effect');
  const said = (text) => page.getByTestId('said').getByText(text).waitFor();
  /** Taps a button that ends something. Larder's page ignores taps directly after an action. */
  const again = async (name) => {
    await page.waitForTimeout(800); //testwaits:allow the time in which taps are ignored
    await held.getByRole('button', { name }).tap();
  };
  const restaurant = async () => (await api.ops(`/v1/ops/restaurants/${bistro}`)).result;

  await page.goto(`${larder}/ops#/restaurants/${bistro}`);
  await page.getByLabel('Client ID', { exact: true }).fill(env.LARDER_OPS_ID);
  await page.getByLabel('Secret', { exact: true }).fill(env.LARDER_OPS_SECRET);
  await page.keyboard.press('Enter');
  await nothing();
  await axe(page, 'a restaurant without restrictions');
  for (const name of ['Restaurants', 'Orders', 'Menu changes', 'Sync all', 'Audit log']) {
    const tab = await page.getByRole('navigation').getByRole('link', { name }).boundingBox();
    must(tab.x >= 0 && tab.x + tab.width <= 390, `the tab ${name} is visible: ${JSON.stringify(tab)}`);
  }

  step('two taps pause all orders for half an hour, one takes orders again');
  await tap(orders, 'Pause orders…');
  await effect.getByText(/^No orders for a time before the end, (today|tomorrow) .*\. Guests can order for later\.$/).waitFor();
  equal(await dialog.evaluate((element) => element.scrollTop), 0, 'the dialog begins at its title');
  await axe(page, 'the dialog of a pause');
  await everyVariant(page, 'pause-dialog', { full: false, only: ['phone-light', 'phone-dark'] });
  await tap(dialog, 'Pause all orders for 30 min');
  await held.getByText(/^No orders until /).waitFor();
  await said(/^Paused all orders of .* for times before (today|tomorrow) /);
  await page.locator('.facts').getByText('paused').waitFor();
  const { accepts } = await guests();
  equal(Object.values(accepts).map(({ reason }) => reason), ['paused', 'paused'], 'what guests read');
  const minutes = (Date.parse(accepts.pickup.next) - Date.now()) / 60_000;
  must(minutes > 85 && minutes < 91, `the first order is for half an hour after the lead time of an hour, in ${minutes} min`);
  await axe(page, 'a paused restaurant');
  await everyVariant(page, 'paused', { full: false, only: ['phone-light', 'phone-dark', 'phone-rtl'] });
  await again('Take orders again');
  await nothing();
  equal((await guests()).accepts.pickup.reason, null, 'pickup after the end of the pause');

  step('a pause until a time that is sooner than the lead time would change nothing');
  const { timeZone } = (await restaurant()).freshness;
  const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone });
  await tap(orders, 'Pause orders…');
  await dialog.getByLabel(/^Time/).fill(clock.format(Date.now() + 20 * 60_000));
  await effect.getByText(/^This would change nothing: delivery takes at least 1 h, pickup takes at least 1 h\. Choose a time after (today|tomorrow) /).waitFor();
  equal(await dialog.getByRole('button', { name: /^Pause all orders/ }).isDisabled(), true, 'the button of a pause without an effect');
  await axe(page, 'a pause that changes nothing');
  await everyVariant(page, 'pause-unchanged', { full: false, only: ['phone-light'] });
  await tap(dialog, 'Cancel');

  step('pickup alone, with a reason, until the operator ends it');
  await tap(orders, 'Pause orders…');
  await dialog.getByLabel('only pickup').tap();
  await dialog.getByLabel('until I end it').tap();
  await dialog.getByLabel(/^Why/).fill('the counter is closed');
  await effect.getByText("Guests can't order pickup until somebody ends the pause.").waitFor();
  await tap(dialog, 'Pause pickup until I end it');
  await held.getByText('No pickup until somebody ends it').waitFor();
  await held.getByText(`the counter is closed · by ${env.LARDER_OPS_ID}`).waitFor();
  equal(Object.values((await guests()).accepts).map(({ reason }) => reason), [null, 'paused'], 'delivery and pickup');

  step('a shorter pause says that it replaces a longer one');
  await tap(orders, 'Pause orders…');
  await effect.getByText('This replaces the pause that lasts until somebody ends it.').waitFor();
  await tap(dialog, 'Cancel');

  step('another operator ends it: the page shows that by itself');
  await api.ops(`/v1/ops/restaurants/${bistro}/pause`, { method: 'DELETE' });
  await nothing();

  step('cancelling changes nothing');
  await tap(orders, 'Pause orders…');
  await tap(dialog, 'Cancel');
  await tap(orders, 'Orders take longer…');
  await page.keyboard.press('Escape');
  await nothing();

  step('orders take longer, for today');
  await tap(orders, 'Orders take longer…');
  await axe(page, 'the dialog of a lead time');
  await everyVariant(page, 'busy-dialog', { full: false, only: ['phone-light'] });
  const lead = dialog.getByLabel('An order takes at least');
  equal(await lead.locator('option').first().innerText(), '75 min', 'the shortest lead time that changes something');
  equal(await lead.inputValue(), '90', 'the preset');
  await lead.selectOption('120');
  await effect.getByText(/^An order that comes now is ready .* at the earliest\. This holds until (today|tomorrow) 06:00, in /).waitFor();
  await dialog.getByLabel('for 1 hour').tap();
  await tap(dialog, 'Set 120 min for 1 hour');
  await held.getByText('Orders take at least 120 min').waitFor();
  equal((await guests()).accepts.delivery.leadTime, '120m', 'the lead time for guests');
  await again('End the longer lead time');
  await nothing();

  step('the fryer is broken until seven: several dishes until a time');
  await tap(orders, 'Sold out…');
  equal(await dialog.getByRole('button', { name: 'Mark as sold out' }).isDisabled(), true, 'the button without a selection');
  const search = dialog.getByLabel('Search dishes and options');
  await search.fill('no such dish');
  await dialog.getByText('Nothing found for “no such dish”.').waitFor();
  await search.fill('twice-fried');
  await dialog.getByLabel('French fries', { exact: true }).first().tap();
  await dialog.getByText(/^1 selected; \d+ other items? with the same name (is|are) not selected$/).waitFor();
  await search.fill('beef');
  await dialog.getByLabel(/Roast beef/).first().tap();
  await dialog.getByText(/^2 selected;/).waitFor();
  await dialog.getByLabel(/^Why/).fill('the fryer is broken');
  await axe(page, 'the dialog of dishes');
  await dialog.getByLabel(/^until a time/).tap();
  await effect.getByText('Type the time of the end.').waitFor();
  equal(await dialog.getByRole('button', { name: /^Mark 2 as sold out/ }).isDisabled(), true, 'the button without a time');
  await dialog.getByLabel(/^Time/).fill(clock.format(Date.now() - 600_000)); // ten minutes ago: that is tomorrow, unless it was yesterday
  await effect.getByText(/until tomorrow|until today 23:5\d/).waitFor();
  await everyVariant(page, 'snooze-dialog', { full: false, only: ['phone-light', 'phone-dark'] });
  await dialog.getByLabel(/^Time/).fill('19:00');
  await effect.getByText(/^Guests see 2 items sold out until (today|tomorrow) 19:00, in /).waitFor();
  await dialog.getByRole('button', { name: /^Mark 2 as sold out until (today|tomorrow) 19:00$/ }).tap();
  await held.getByText('2 are sold out').waitFor();
  const { snoozed } = await guests();
  equal(snoozed.length, 2, 'snoozed dishes');
  for (const { until } of snoozed) {
    equal(clock.format(Date.parse(until)), '19:00', 'the end in the time zone of the restaurant');
    must(Date.parse(until) - Date.now() < 25 * 3_600_000, `the next seven o'clock: ${until}`);
  }
  await axe(page, 'dishes that are not sold');
  await everyVariant(page, 'snoozed', { full: false, only: ['phone-light', 'phone-dark'] });

  step('a second tap soon after the first one is ignored');
  const first = held.getByRole('button', { name: /^Sell again: / }).first();
  await page.waitForTimeout(800); //testwaits:allow the time in which taps are ignored
  const box = await first.boundingBox();
  await page.touchscreen.tap(box.x + box.width / 2, box.y + box.height / 2);
  await page.touchscreen.tap(box.x + box.width / 2, box.y + box.height / 2);
  await eventually(async () => (await guests()).snoozed.length === 1, 'one dish is left');
  equal((await guests()).snoozed.length, 1, 'dishes after a double tap');
  await again(/^Sell again: /);
  await nothing();

  step('what was marked at once is sold again at once, and a later end is not lost silently');
  await tap(orders, 'Sold out…');
  await dialog.getByLabel('Search dishes and options').fill('beef');
  await dialog.getByLabel(/Roast beef/).first().tap();
  await dialog.getByLabel('Search dishes and options').fill('fri');
  await dialog.getByLabel('French fries', { exact: true }).first().tap();
  await dialog.getByRole('button', { name: /^Mark 2 as sold out/ }).tap();
  await held.getByText('2 are sold out').waitFor();
  await tap(orders, 'Sold out…');
  await dialog.getByLabel('Search dishes and options').fill('beef');
  await dialog.getByLabel(/Roast beef.*sold out/).first().tap();
  await dialog.getByLabel('for 30 min').tap();
  await effect.getByText(/This replaces a later end: Roast beef/).waitFor();
  await tap(dialog, 'Cancel');
  await again(/^Sell all again: /);
  await nothing();
  equal((await guests()).snoozed, [], 'all dishes are sold again');

  step('an error of larder leaves the dialog as it was filled in');
  await tap(orders, 'Pause orders…');
  await dialog.getByLabel(/^Why/).fill('the oven');
  await page.route('**/pause', (route) => route.abort('connectionfailed'), { times: 1 });
  await tap(dialog, 'Pause all orders for 30 min');
  await dialog.getByRole('alert').getByText(/\w/).waitFor();
  equal(await dialog.getByLabel(/^Why/).inputValue(), 'the oven', 'the reason after an error');
  await axe(page, 'a dialog with an error');
  await tap(dialog, 'Pause all orders for 30 min');
  await held.getByText('the oven').waitFor();
  await again('Take orders again');
  await nothing();

  step('the audit log and the list');
  await api.ops(`/v1/ops/restaurants/${bistro}/pause`, { method: 'POST', body: {} });
  await page.getByRole('link', { name: '← Restaurants' }).tap();
  const row = page.locator(`tr[data-id="${bistro}"]`);
  await row.getByText('paused').waitFor();
  await page.goto(`${larder}/ops#/audit`);
  const taken = page.getByTestId('entry').filter({ hasText: 'took off the menu' }).last();
  await taken.getByText(/French fries.* until \w{3} \d+ \w{3} \d{4} 19:00 \S+: the fryer is broken/).waitFor();
  await page.getByLabel('Action').selectOption('snooze');
  await taken.waitFor();
  await page.getByLabel('Action').selectOption('');
  await page.getByTestId('entry').filter({ hasText: 'sold again' }).getByText('French fries').first().waitFor();
  await api.ops(`/v1/ops/restaurants/${bistro}/pause`, { method: 'DELETE' });
});
