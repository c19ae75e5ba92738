// A guest orders a lunch with nested options in Russian, with the keyboard only, on the
// narrowest phone. All texts are Russian.
import { axe } from '../axe.mjs';
import { expectedErrors } from '../guest.mjs';
import { use, tabTo } from '../keyboard.mjs';
import { eventually, must, equal, scenario, step } from '../scenario.mjs';
import { everyVariant } from '../shot.mjs';
import { sandbox } from '../services.mjs';

const lunch = 'dish-lunch';

/** English words of larder's own texts. Names of the menu may be in any language. */
const englishWords = /\b(Add|Choose|Order|Sold out|Search|Total|Close|Name|Phone|Street|Pickup|Delivery|Cash|needs?|still)\b/i;

/** Returns the texts of the elements, without the texts of the menu. */
const elementTexts = (page) => page.evaluate(() => {
  const words = [];
  for (const host of document.querySelectorAll('larder-menu, larder-order-form')) {
    const own = '[part=add], [part=status], [part=group-state], [part=dish-add], [part=place], [part=dish-alert], legend .muted, label[for], [part=fields] legend, .choices label, .note, [part=violations], [part=outcome], [part=total] span, [part=order-name]';
    for (const element of host.shadowRoot.querySelectorAll(own)) if (element.offsetParent) words.push(element.innerText);
    for (const element of host.shadowRoot.querySelectorAll('input[type=search]')) words.push(element.placeholder, element.getAttribute('aria-label'));
  }
  return words.join('\n');
});

await scenario({ size: 'narrow', locale: 'ru-RU', expected: expectedErrors }, async ({ page, larder }) => {
  step('the page uses the language of the browser');
  await page.goto(`${larder}/`);
  const dish = page.locator(`larder-menu [data-dish=${lunch}] [part=add]`);
  await dish.waitFor();
  equal(await page.evaluate(() => [document.documentElement.lang, document.querySelector('#language [aria-current]').lang]), ['ru', 'ru'], 'the language of the page');
  await axe(page, 'the menu in Russian', { whole: true });

  step('nested options, each with what is still needed');
  await use(page, dish);
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  await use(page, dialog.locator('[part=dish-add]'));
  await eventually(async () => (await dialog.getByRole('alert').innerText()).includes('Осталось выбрать'), 'the missing choices are reported');
  for (const group of await dialog.locator('.body > .groups > [part=group]').all()) {
    const top = group.locator(':scope > ul > li > .row input').first();
    await tabTo(page, top);
    await page.keyboard.press('Space');
    must(await top.isChecked(), 'an option is chosen with the keyboard');
  }
  const nested = dialog.locator('[part=nested]');
  await eventually(async () => (await nested.count()) > 0, 'the options of the burger are shown');
  const bun = nested.first().locator('input').first();
  await use(page, dialog.locator('[part=dish-add]'));
  await eventually(async () => (await dialog.locator('[part=nested] .state.wrong').count()) > 0, 'the missing bun is marked at its group');
  await everyVariant(page, 'nested', { full: false, each: (variant) => axe(page, `a dish with nested options, one missing, in Russian, ${variant.name}`) });
  must(!englishWords.test(await elementTexts(page)), `English words in the dialog: ${englishWords.exec(await elementTexts(page))?.[0]}\n${await elementTexts(page)}`);
  await tabTo(page, bun, { back: true });
  await page.keyboard.press('Space');
  await use(page, dialog.locator('[part=dish-add]'));
  await page.locator(`larder-order-form [data-line=${lunch}]`).waitFor();

  step('violations are reported in Russian');
  const form = page.locator('larder-order-form');
  await use(page, form.locator('[part=place]'));
  await eventually(async () => (await form.locator('[aria-invalid=true]').count()) > 0, 'fields are marked');
  equal(await form.locator('[id="n-guest.phone"]').innerText(), 'Заполните это поле', 'the message at the field');
  must((await form.locator('[part=violations]').innerText()).startsWith('Пожалуйста, исправьте'), 'the summary is in Russian');
  await everyVariant(page, 'violations', { full: false, each: (variant) => axe(page, `a delivery with violations, in Russian, ${variant.name}`) });
  must(!englishWords.test(await elementTexts(page)), `English words in the form: ${englishWords.exec(await elementTexts(page))?.[0]}\n${await elementTexts(page)}`);

  step('the fields are filled in, and the order is placed');
  const before = (await sandbox.orders()).length;
  for (const [field, text] of [['guest.firstName', 'Ада'], ['guest.phone', '+79005550100'], ['address.cityName', 'Москва'], ['address.street', 'Лесная'], ['address.houseNumber', '7']]) {
    await tabTo(page, form.locator(`[id="f-${field}"]`), { back: field === 'guest.firstName' });
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type(text);
  }
  await use(page, form.locator('[part=place]'));
  await eventually(async () => (await form.locator('[data-state]').getAttribute('data-state')) === 'placed', 'the order is placed');
  must((await form.locator('[part=order-id]').innerText()).startsWith('Спасибо! Заказ'), 'the confirmation is in Russian');
  const orders = await sandbox.orders();
  equal(orders.length, before + 1, 'orders of the ordering service');
  const ordered = orders.at(-1).body.dishList[0].ingredients.map((i) => i.name);
  equal([ordered.length, ordered[0], ordered[1]], [4, 'Classic burger', 'Brioche bun'], `the burger and its bun are in the order, ${ordered}`);
  await everyVariant(page, 'placed', { full: false, only: ['narrow-dark', 'phone-rtl'], each: (variant) => axe(page, `an order that is placed, in Russian, ${variant.name}`) });
});
