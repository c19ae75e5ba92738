// On a phone, an operator pauses orders with two taps, sets a longer lead time, and takes dishes off the menu.
import { env } from 'node:process';
import { axe } from '../axe.mjs';
import { bistro } from '../guest.mjs';
import { equal, eventually, must, scenario, step } from '../scenario.mjs';
import { larder as api } from '../services.mjs';
import { everyVariant } from '../shot.mjs';

const expected = [/^request failed: 422 POST \S+\/snooze\b/];

await scenario({ size: 'phone', matrix: false, expected }, async ({ page, larder }) => {
  const orders = page.getByRole('region', { name: 'Orders' });
  const held = orders.locator('.held');
  const dialog = page.getByRole('dialog');
  const tap = (scope, name) => scope.getByRole('button', { name, exact: true }).tap();
  const guests = async () => (await api.get(`/v1/restaurants/${bistro}`)).result;
  const nothing = () => orders.getByText('No operator restricts orders.').waitFor();

  await page.goto(`${larder}/ops#/restaurants/${bistro}`);
  await page.getByLabel('Client ID', { exact: true }).fill(env.LARDER_OPS_ID);
  await page.getByLabel('Secret', { exact: true }).fill(env.LARDER_OPS_SECRET);
  await page.keyboard.press('Enter');
  await nothing();
  await axe(page, 'a restaurant without restrictions');

  step('two taps pause all orders, one opens the restaurant again');
  await tap(orders, 'Pause orders…');
  await dialog.getByText('Orders for later are still accepted.').waitFor();
  await axe(page, 'the dialog of a pause');
  await everyVariant(page, 'pause-dialog', { full: false, only: ['phone-light', 'phone-dark'] });
  await tap(dialog, '2 hours');
  await held.getByText('No orders').waitFor();
  await orders.getByText('Orders for the end of a pause or later are still accepted.').waitFor();
  equal(Object.values((await guests()).accepts).map(({ reason }) => reason), ['paused', 'paused'], 'what guests read');
  await axe(page, 'a paused restaurant');
  await everyVariant(page, 'paused', { full: false, only: ['phone-light', 'phone-dark', 'phone-rtl'] });
  await held.getByRole('button', { name: 'Open' }).tap();
  await nothing();
  equal((await guests()).accepts.pickup.reason, null, 'pickup after the end of the pause');

  step('pickup alone, with a reason, until the operator ends it');
  await tap(orders, 'Pause orders…');
  await dialog.getByLabel('only pickup').tap();
  await dialog.getByLabel(/^Why/).fill('the counter is closed');
  await tap(dialog, 'Until I end it');
  await held.getByText('No pickup until somebody ends it').waitFor();
  await held.getByText(`the counter is closed · by ${env.LARDER_OPS_ID}`).waitFor();
  equal(Object.values((await guests()).accepts).map(({ reason }) => reason), [null, 'paused'], 'delivery and pickup');

  step('another operator ends it: the page shows that by itself');
  await api.ops(`/v1/ops/restaurants/${bistro}/pause`, { method: 'DELETE' });
  await nothing();

  step('cancelling changes nothing');
  await tap(orders, 'Pause orders…');
  await tap(dialog, 'Cancel');
  await tap(orders, 'Longer lead time…');
  await page.keyboard.press('Escape');
  await nothing();

  step('a longer lead time');
  await tap(orders, 'Longer lead time…');
  await axe(page, 'the dialog of a lead time');
  await dialog.getByLabel('At least').selectOption('120');
  await tap(dialog, '1 hour');
  await held.getByText('Orders take at least 120m').waitFor();
  equal((await guests()).accepts.delivery.leadTime, '120m', 'the lead time for guests');
  await tap(orders, 'End the longer lead time');
  await nothing();

  step('the fryer is broken until seven: several dishes until a time');
  await tap(orders, 'Dishes sold out…');
  const search = dialog.getByLabel('Search dishes and options');
  await search.fill('fri');
  await dialog.getByLabel('French fries', { exact: true }).first().tap();
  await search.fill('beef');
  await dialog.getByLabel(/Roast beef/).first().tap();
  await dialog.getByText('2 selected').waitFor();
  await dialog.getByLabel(/^Why/).fill('the fryer is broken');
  await axe(page, 'the dialog of dishes');
  await everyVariant(page, 'snooze-dialog', { full: false, only: ['phone-light', 'phone-dark'] });
  await tap(dialog, 'Until this time');
  equal(await dialog.isVisible(), true, 'a time is needed');
  await dialog.getByLabel(/^Until a time/).fill('19:00');
  await tap(dialog, 'Until this time');
  await held.getByText('French fries is not sold').waitFor();
  const { snoozed } = await guests();
  equal(snoozed.length, 2, 'snoozed dishes');
  const zone = (await api.ops(`/v1/ops/restaurants/${bistro}`)).result.freshness.timeZone;
  for (const { until } of snoozed) {
    equal(new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: zone }).format(Date.parse(until)), '19:00', 'the end in the time zone of the restaurant');
    must(Date.parse(until) - Date.now() < 25 * 3_600_000, `the next seven o'clock: ${until}`);
  }
  await axe(page, 'dishes that are not sold');
  await everyVariant(page, 'snoozed', { full: false, only: ['phone-light', 'phone-dark'] });
  await tap(orders, 'Sell again: French fries');
  await eventually(async () => (await held.locator('li').count()) === 1, 'one dish is left');
  await held.getByRole('button', { name: /^Sell again: Roast beef/ }).tap();
  await nothing();
  equal((await guests()).snoozed, [], 'all dishes are sold');

  step('errors of larder are shown: the next opening of a restaurant without hours');
  await tap(orders, 'Dishes sold out…');
  await dialog.getByLabel('Search dishes and options').fill('fries');
  await dialog.getByLabel('French fries', { exact: true }).first().tap();
  await tap(dialog, 'Until the next opening');
  await page.getByTestId('said').getByText(/not known when the restaurant opens next/).waitFor();
  await nothing();

  step('the audit log and the list');
  await api.ops(`/v1/ops/restaurants/${bistro}/pause`, { method: 'POST', body: {} });
  await page.getByRole('link', { name: '← Restaurants' }).tap();
  const row = page.locator(`tr[data-id="${bistro}"]`);
  await row.getByText('paused').waitFor();
  await page.goto(`${larder}/ops#/audit`);
  await page.getByRole('cell').getByText('took off the menu').first().waitFor();
  await api.ops(`/v1/ops/restaurants/${bistro}/pause`, { method: 'DELETE' });
});
