// A guest orders with the keyboard only, on a phone and on a desktop. Missing values are
// reported at their fields and then filled in.
import { axe } from '../axe.mjs';
import { addFries, expectedErrors, waitForState, fillPickup, openShop, parts } from '../guest.mjs';
import { use, tabTo } from '../keyboard.mjs';
import { eventually, must, equal, scenario, step } from '../scenario.mjs';
import { everyVariant } from '../shot.mjs';
import { sandbox } from '../services.mjs';

await scenario({ size: 'phone', expected: expectedErrors }, async ({ page, open, larder }) => {
  step('phone: the menu');
  await openShop(page, larder);
  await everyVariant(page, 'menu', { full: false, each: (variant) => axe(page, `the menu, ${variant.name}`, { whole: true }) });
  const { choose, dialog, add, line, submit } = parts(page);

  step('a missing choice is reported, and chosen');
  await use(page, choose);
  await dialog.waitFor();
  await use(page, add);
  await eventually(async () => (await dialog.getByRole('alert').innerText()).includes('Still needed'), 'the missing choice is reported');
  equal([await dialog.locator('.lacking [part=group-state]').first().innerText(), await dialog.locator('.lacking .badge.wrong').count()], ['', 1], 'the group without a choice is marked, and says it once');
  await axe(page, 'a dish with a choice missing');
  await everyVariant(page, 'dish', { full: false });
  await tabTo(page, dialog.locator('input[type=radio], input[type=checkbox]').first());
  await page.keyboard.press('Space');
  await use(page, add);
  await line.waitFor();

  step('a missing field is reported at the field, and gets the focus');
  await use(page, submit);
  await eventually(async () => (await page.locator('larder-order-form [aria-invalid=true]').count()) > 0, 'a field is marked');
  const wrong = await page.locator('larder-order-form [aria-invalid=true]').count();
  const summary = page.locator('larder-order-form [part=violations]');
  equal((await summary.innerText()).trim().split('\n')[0], `Please fix ${wrong} problems`, 'the summary of the form');
  equal(await summary.getByRole('link').count(), wrong, 'links to the fields');
  const [listed, fields] = [await summary.getByRole('link').allInnerTexts(), await page.locator('larder-order-form [part=field]:has([aria-invalid=true]) label').allInnerTexts()];
  equal(listed.map((text) => text.split(':')[0]), fields, 'the problems have the order of the fields');
  await axe(page, 'a form with violations');
  await everyVariant(page, 'violations', { full: false, only: ['phone-light', 'desktop-dark', 'phone-rtl'] });

  step('the fields are filled in, and the order is placed');
  const before = (await sandbox.orders()).length;
  await tabTo(page, parts(page).way, { back: true });
  await fillPickup(page);
  await use(page, submit);
  await waitForState(page, 'placed');
  const orders = await sandbox.orders();
  equal(orders.length, before + 1, 'orders of the ordering service');
  equal(orders.at(-1).body.dishList.length, 1, 'dishes of the order');
  must(orders.at(-1).body.dishList[0].ingredients.length > 0, 'the chosen sauce is in the order');
  await axe(page, 'an order that is placed');
  await everyVariant(page, 'placed', { full: false, only: ['phone-light', 'phone-rtl', 'narrow-dark'] });

  step('desktop: the same order without mistakes');
  const desk = await open({ size: 'desktop', dark: true });
  await openShop(desk.page, larder);
  await addFries(desk.page);
  await fillPickup(desk.page);
  await use(desk.page, parts(desk.page).submit);
  await waitForState(desk.page, 'placed');
  equal((await sandbox.orders()).length, before + 2, 'orders of the ordering service');
  await axe(desk.page, 'an order that is placed, desktop');
});
