// A guest orders by the keyboard alone, on a phone's width and on a desktop's:
// what is forgotten is told where it belongs, and mended.
import { axe } from '../axe.mjs';
import { addFries, answers, ends, fillPickup, openShop, parts } from '../guest.mjs';
import { use, walkTo } from '../keyboard.mjs';
import { eventually, must, same, scenario, step } from '../scenario.mjs';
import { everyLook } from '../shot.mjs';
import { kitchen } from '../world.mjs';

await scenario({ size: 'phone', expected: answers }, async ({ page, open, larder }) => {
  step('phone: the menu');
  await openShop(page, larder);
  await axe(page, 'the menu');
  await everyLook(page, 'menu', { full: false, each: (look) => look.name === 'desktop-dark' && axe(page, `the menu, ${look.name}`) });
  const { choose, dialog, add, line, submit } = parts(page);

  step('a choice that is missing is told, and chosen');
  await use(page, choose);
  await dialog.waitFor();
  await use(page, add);
  await eventually(async () => (await dialog.getByRole('alert').innerText()).includes('Still needed'), 'the missing choice is told');
  await axe(page, 'a dish with a choice missing');
  await everyLook(page, 'dish', { full: false });
  await walkTo(page, dialog.locator('input[type=radio], input[type=checkbox]').first());
  await page.keyboard.press('Space');
  await use(page, add);
  await line.waitFor();

  step('a field that is missing is told at its place, and the focus goes there');
  await use(page, submit);
  await eventually(async () => (await page.locator('larder-order-form [aria-invalid=true]').count()) > 0, 'a field is marked');
  const wrong = await page.locator('larder-order-form [aria-invalid=true]').count();
  same((await page.locator('larder-order-form [part=violations]').innerText()).trim(), `Please fix ${wrong} problems`, 'what is told of the form as a whole');
  await axe(page, 'a form with violations');
  await everyLook(page, 'violations', { full: false, only: ['phone-light', 'desktop-dark', 'phone-rtl'] });

  step('mended, and placed');
  const before = (await kitchen.orders()).length;
  await walkTo(page, parts(page).way, { back: true });
  await fillPickup(page);
  await use(page, submit);
  await ends(page, 'placed');
  const orders = await kitchen.orders();
  same(orders.length, before + 1, 'orders in the kitchen');
  same(orders.at(-1).body.dishList.length, 1, 'dishes of the order');
  must(orders.at(-1).body.dishList[0].ingredients.length > 0, 'the chosen sauce is in the order');
  await axe(page, 'an order that is placed');
  await everyLook(page, 'placed', { full: false, only: ['phone-light', 'phone-rtl', 'narrow-dark'] });

  step('desktop: the same, without a stop');
  const desk = await open({ size: 'desktop', dark: true });
  await openShop(desk.page, larder);
  await addFries(desk.page);
  await fillPickup(desk.page);
  await use(desk.page, parts(desk.page).submit);
  await ends(desk.page, 'placed');
  same((await kitchen.orders()).length, before + 2, 'orders in the kitchen');
  await axe(desk.page, 'an order that is placed, desktop');
});
