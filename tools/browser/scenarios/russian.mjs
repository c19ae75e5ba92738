// A guest who reads Russian orders a lunch of parts within parts, by the
// keyboard alone, on the narrowest phone: every word is Russian, larder's too.
import { axe } from '../axe.mjs';
import { answers } from '../guest.mjs';
import { use, walkTo } from '../keyboard.mjs';
import { eventually, must, same, scenario, step } from '../scenario.mjs';
import { everyLook } from '../shot.mjs';
import { kitchen } from '../world.mjs';

const lunch = 'dish-lunch';

/** Words of larder's own that are not Russian; names of the menu are in whatever language they are. */
const english = /\b(Add|Choose|Order|Sold out|Search|Total|Close|Name|Phone|Street|Pickup|Delivery|Cash|needs?|still)\b/i;

/** What the elements themselves say, without what the menu says. */
const spoken = (page) => page.evaluate(() => {
  const words = [];
  for (const host of document.querySelectorAll('larder-menu, larder-order-form')) {
    const own = '[part=add], [part=status], [part=group-state], [part=dish-add], [part=place], [part=dish-alert], legend .muted, label[for], [part=fields] legend, .choices label, .note, [part=violations], [part=outcome], [part=total] span, [part=order-name]';
    for (const element of host.shadowRoot.querySelectorAll(own)) if (element.offsetParent) words.push(element.innerText);
    for (const element of host.shadowRoot.querySelectorAll('input[type=search]')) words.push(element.placeholder, element.getAttribute('aria-label'));
  }
  return words.join('\n');
});

await scenario({ size: 'narrow', locale: 'ru-RU', expected: answers }, async ({ page, larder }) => {
  step('the page speaks as the browser asks');
  await page.goto(`${larder}/`);
  const dish = page.locator(`larder-menu [data-dish=${lunch}] [part=add]`);
  await dish.waitFor();
  same(await page.evaluate(() => [document.documentElement.lang, document.querySelector('#language select').value]), ['ru', 'ru'], 'the language of the page');
  await axe(page, 'the menu in Russian');

  step('parts within parts, each told what it still needs');
  await use(page, dish);
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  await use(page, dialog.locator('[part=dish-add]'));
  await eventually(async () => (await dialog.getByRole('alert').innerText()).includes('Осталось выбрать'), 'what is missing is told');
  for (const group of await dialog.locator('.body > .groups > [part=group]').all()) {
    const top = group.locator(':scope > ul > li > .row input').first();
    await walkTo(page, top);
    await page.keyboard.press('Space');
    must(await top.isChecked(), 'an option is chosen by the keyboard');
  }
  const nested = dialog.locator('[part=nested]');
  await eventually(async () => (await nested.count()) > 0, 'the parts of the burger are shown');
  const bun = nested.first().locator('input').first();
  await use(page, dialog.locator('[part=dish-add]'));
  await eventually(async () => (await dialog.locator('[part=nested] .state.wrong').count()) > 0, 'the missing bun is marked at its group');
  await axe(page, 'a dish with parts within parts, one missing, in Russian');
  await everyLook(page, 'nested', { full: false, each: (look) => axe(page, `parts within parts, ${look.name}`) });
  must(!english.test(await spoken(page)), `English words in the dialog: ${english.exec(await spoken(page))?.[0]}\n${await spoken(page)}`);
  await walkTo(page, bun, { back: true });
  await page.keyboard.press('Space');
  await use(page, dialog.locator('[part=dish-add]'));
  await page.locator(`larder-order-form [data-line=${lunch}]`).waitFor();

  step('what is wrong is told in Russian');
  const form = page.locator('larder-order-form');
  await use(page, form.locator('[part=place]'));
  await eventually(async () => (await form.locator('[aria-invalid=true]').count()) > 0, 'fields are marked');
  same(await form.locator('[id="n-guest.phone"]').innerText(), 'Заполните это поле', 'what is said at the field');
  must((await form.locator('[part=violations]').innerText()).startsWith('Пожалуйста, исправьте'), 'the sum of it is told in Russian');
  await axe(page, 'a delivery with violations, in Russian');
  await everyLook(page, 'violations', { full: false, each: (look) => axe(page, `violations in Russian, ${look.name}`) });
  must(!english.test(await spoken(page)), `English words in the form: ${english.exec(await spoken(page))?.[0]}\n${await spoken(page)}`);

  step('mended, and placed');
  const before = (await kitchen.orders()).length;
  for (const [field, text] of [['guest.firstName', 'Ада'], ['guest.phone', '+79005550100'], ['address.street', 'Лесная'], ['address.houseNumber', '7'], ['address.cityName', 'Москва']]) {
    await walkTo(page, form.locator(`[id="f-${field}"]`), { back: field === 'guest.firstName' });
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type(text);
  }
  await use(page, form.locator('[part=place]'));
  await eventually(async () => (await form.locator('[data-state]').getAttribute('data-state')) === 'placed', 'the order is placed', 30_000);
  must((await form.locator('[part=order-id]').innerText()).startsWith('Спасибо! Заказ'), 'the number is told in Russian');
  const orders = await kitchen.orders();
  same(orders.length, before + 1, 'orders in the kitchen');
  const ordered = orders.at(-1).body.dishList[0].ingredients.map((i) => i.name);
  same([ordered.length, ordered[0], ordered[1]], [4, 'Classic burger', 'Brioche bun'], `the burger and its bun are in the order, ${ordered}`);
  await everyLook(page, 'placed', { full: false, only: ['narrow-dark', 'phone-rtl'] });
});
