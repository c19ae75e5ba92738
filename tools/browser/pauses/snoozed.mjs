// An operator snoozes a dish that is in the basket, and an option: the card, the dialog and the basket say when they return.
import { axe } from '../axe.mjs';
import { addFries, bistro, fries, openShop, parts } from '../guest.mjs';
import { equal, eventually, must, scenario, step } from '../scenario.mjs';
import { larder as api, operator } from '../services.mjs';
import { everyVariant } from '../shot.mjs';

await scenario({}, async ({ page, open, larder }) => {
  const { snooze, wake, inMinutes, shown } = operator(bistro);
  const { line, choose } = parts(page);
  const card = (on) => on.locator(`larder-menu [data-dish=${fries.id}] [part=add]`);
  const says = (locator, text) => eventually(async () => (await locator.allInnerTexts()).join().includes(text), text);
  const until = inMinutes(180);
  const text = `Sold out until ${shown(until)}`;
  await openShop(page, larder);
  await addFries(page);

  step('a dish in the basket is snoozed: the card and the line say until when');
  await snooze([fries.id], { until });
  await says(card(page), text);
  await says(line, `${text}. Remove it to order the rest.`);
  equal(await parts(page).submit.count(), 0, 'buttons to order');
  await everyVariant(page, 'snoozed', { full: false });
  await axe(page, 'a snoozed dish in the basket');
  await page.locator(`larder-menu [data-dish=${fries.id}] [part=dish-link]`).click();
  const dialog = page.getByRole('dialog');
  await says(dialog.locator('[part=dish-add]'), text);
  await says(dialog.locator('[part=dish-alert]'), text);
  await axe(page, 'the dialog of a snoozed dish');
  await dialog.locator('[part=dish-close]').click();

  step('a page that is opened later says so too, in Russian with the words of Russian');
  const russian = await open({ locale: 'ru' });
  await russian.page.goto(`${larder}/?lang=ru`);
  await says(card(russian.page), 'Нет в наличии до ');
  await axe(russian.page, 'a snoozed dish in Russian');

  step('it returns in a week: with the date; without an end: sold out');
  const later = inMinutes(8 * 24 * 60);
  await snooze([fries.id], { until: later });
  await says(card(page), `Sold out until ${shown(later)}`);
  await snooze([fries.id]);
  await eventually(async () => (await card(page).innerText()) === 'Sold out', 'the card without a time');

  step('it is sold again');
  await wake(fries.id);
  await choose.waitFor();
  await parts(page).submit.waitFor();
  must(!(await line.innerText()).includes('Sold out'), 'the line still says that it is sold out');

  step('an option in the basket is snoozed, and returns');
  const { result: menu } = await api.get(`/v1/restaurants/${bistro}/menu`);
  const { schemeId } = menu.products.find(({ id }) => id === fries.id);
  const [option] = menu.schemes.find(({ id }) => id === schemeId).groups[0].options;
  const { name } = menu.ingredients.find(({ id }) => id === option);
  await snooze([option], { until });
  await says(line, `${name}: ${text}. This dish's options changed.`);
  await axe(page, 'a snoozed option in the basket');
  await line.getByRole('button', { name: `Change ${fries.name}` }).click();
  await says(dialog.locator('[part=option]', { hasText: name }), text);
  await axe(page, 'the dialog of a dish with a snoozed option');
  await dialog.locator('[part=dish-close]').click();
  await wake(option);
  await eventually(async () => !(await line.innerText()).includes('Sold out'), 'the line is valid again');
  must(!(await line.innerText()).includes('options changed'), 'the line still says that its options changed');
});
