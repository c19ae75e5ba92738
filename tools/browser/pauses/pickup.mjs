// An operator pauses pickup only: the form says so at the type, and the guest chooses delivery.
import { axe } from '../axe.mjs';
import { addFries, bistro, fillPickup, openShop, parts } from '../guest.mjs';
import { use } from '../keyboard.mjs';
import { equal, eventually, scenario, step } from '../scenario.mjs';
import { operator } from '../services.mjs';
import { everyVariant } from '../shot.mjs';

await scenario({ size: 'phone' }, async ({ page, open, larder }) => {
  const { pause, resume, inMinutes, shown } = operator(bistro);
  const form = page.locator('larder-order-form');
  const type = form.locator('[data-field=expeditionType] [part=closed]');
  const soonest = form.getByRole('radio', { name: /As soon as possible/ });
  const choose = (value) => form.locator(`input[name=expeditionType][value=${value}]`).check();
  await openShop(page, larder);
  await addFries(page);
  await soonest.waitFor();

  step('pickup is paused: delivery is not affected');
  await pause({ expeditionTypes: ['pickup'] });
  await eventually(async () => (await type.allInnerTexts()).join() === 'No pickup at the moment', 'the form says it at the type');
  equal([await page.locator('#hours').innerText(), await form.locator('[part=closed]').count(), await soonest.count()], ['', 1, 1], 'delivery');
  await everyVariant(page, 'no-pickup', { full: false });
  await axe(page, 'pickup is paused, delivery is chosen');

  step('who chooses pickup gets no times, and can choose delivery again');
  await choose('pickup');
  await form.getByText('No times available').waitFor();
  equal(await soonest.count(), 0, 'as soon as possible');
  await axe(page, 'pickup is paused and chosen');
  await fillPickup(page);
  await use(page, parts(page).submit);
  await form.locator('[part=violations]', { hasText: 'No pickup at the moment' }).waitFor();
  await axe(page, 'an order without a time');
  await choose('delivery');
  await soonest.waitFor();

  step('a pause with an end');
  const until = inMinutes(180);
  await pause({ expeditionTypes: ['pickup'], until });
  await eventually(async () => (await type.allInnerTexts()).join() === `No pickup before ${shown(until)}`, 'the form says until when');
  await choose('pickup');
  const times = form.locator('#f-expectedAt');
  equal(await times.evaluate((select) => Date.parse([...select.options].map((option) => option.value).find(Boolean))), Math.ceil(Date.parse(until) / 900_000) * 900_000, 'the first time');
  await axe(page, 'pickup is paused until a time');
  await resume();
  await type.waitFor({ state: 'detached' });
  await soonest.waitFor();

  step('delivery is paused: the form of the next guest begins with pickup, and the guest can choose delivery');
  await pause({ expeditionTypes: ['delivery'], until });
  const { page: other } = await open({ size: 'phone' });
  const own = other.locator('larder-order-form');
  await openShop(other, larder);
  await addFries(other);
  await own.getByText(`No delivery before ${shown(until)}`).waitFor();
  equal(await own.locator('input[name=expeditionType][value=pickup]').isChecked(), true, 'pickup is chosen');
  equal(await own.getByRole('radio', { name: /As soon as possible/ }).isChecked(), true, 'as soon as possible is chosen');
  await axe(other, 'delivery is paused');
  await own.locator('input[name=expeditionType][value=delivery]').check();
  await own.locator('#f-expectedAt').waitFor();
  equal(await own.locator('input[name=expeditionType][value=delivery]').isChecked(), true, 'delivery is chosen');
  await resume();
});
