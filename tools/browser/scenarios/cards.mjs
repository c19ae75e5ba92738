// The cards and the dialog of a dish: the whole card opens it, sold-out dishes can be read,
// weighed dishes have a unit, and prices include what must be chosen.
import { axe } from '../axe.mjs';
import { bistro, fries } from '../guest.mjs';
import { combination } from '../matrix.mjs';
import { eventually, must, equal, scenario, step } from '../scenario.mjs';
import { everyVariant, shot } from '../shot.mjs';
import { sandbox, larder as operator } from '../services.mjs';

const beef = 'dish-roast-beef';

await scenario({ size: 'phone' }, async ({ page, open, larder }) => {
  const menu = page.locator('larder-menu');
  const card = (id) => menu.locator(`[data-dish=${id}]`).first();
  const dialog = menu.locator('dialog[part=dish]');
  const close = async () => {
    await page.keyboard.press('Escape');
    await left();
  };
  // A closed dish leaves the history with Back, which would abort a navigation that follows.
  const left = async () => {
    await dialog.waitFor({ state: 'hidden' });
    await eventually(() => !page.url().includes('#dish='), 'the address without a dish');
  };
  await page.goto(`${larder}/`);
  await card(fries.id).waitFor();

  step('G4: name, description, photo and free space open the dish');
  for (const part of ['name', 'description', 'photo', 'price']) {
    await card(fries.id).locator(`[part=${part}]`).tap();
    await dialog.waitFor();
    equal(await dialog.locator('[part=dish-name]').innerText(), fries.name, `the dish opened by its ${part}`);
    await close();
  }
  await card(fries.id).locator('[part=dish-link]').focus();
  await page.keyboard.press('Enter');
  await dialog.waitFor();
  await close();
  equal(await card(fries.id).locator('[part=dish-link]').evaluate((one) => one.getRootNode().activeElement === one), true, 'the focus is back at the dish');

  step('prices include what must be chosen; nutrition; the progress of a group is said once');
  must((await card(fries.id).locator('[part=price]').textContent()).startsWith('from '), 'the price of the card is the lowest possible one');
  await card(fries.id).locator('[part=name]').tap();
  must((await dialog.locator('[part=dish-add]').innerText()).startsWith('Add, from '), 'the button has the lowest possible price');
  equal((await dialog.locator('[part=nutrition]').innerText()).split(/\s+/).filter((word) => /kcal|Protein|Fat|Carbs/.test(word)).length, 4, 'values of the nutrition');
  must((await dialog.locator('[part=dish-price]').innerText()).startsWith('from '), 'so does the price in the dialog');
  const group = dialog.locator('[part=group]').first();
  const heightOf = async () => (await card(fries.id).boundingBox()).height;
  const height = await heightOf();
  equal((await group.innerText()).match(/choose 1/gi)?.length, 1, 'the group says what it needs');
  await everyVariant(page, 'options', { full: false, each: (variant) => axe(page, `a dish with options, ${variant.name}`) });
  await group.locator('input').first().check();
  must((await dialog.locator('[part=dish-add]').innerText()).startsWith('Add for '), 'the price of the choice is exact');
  await dialog.locator('[part=dish-add]').tap();
  await eventually(async () => (await card(fries.id).locator('[part=count]').innerText()) === '1', 'the card shows what is in the basket');
  must((await card(fries.id).locator('[part=add]').getAttribute('aria-label')).endsWith('1 in your basket'), 'the button says what is in the basket');
  equal(await heightOf(), height, 'the height of the card with a count');

  step('G12: a weighed dish has a unit, steps of 100 g and a price per kg');
  must((await card(beef).locator('[part=price]').textContent()).endsWith('per kg'), 'the price is per kg');
  await card(beef).locator('[part=add]').tap();
  await dialog.waitFor();
  must((await dialog.locator('[part=dish-price]').innerText()).endsWith('per kg'), 'the price in the dialog is per kg');
  equal(await dialog.locator('[part=quantity-unit]').innerText(), 'kg', 'the unit');
  equal(await dialog.locator('[part=quantity]').inputValue(), '0.5', 'the first quantity');
  must((await dialog.locator('[part=nutrition] caption').innerText()).endsWith('per kg'), 'the nutrition is per kg');
  await dialog.getByRole('button', { name: /^Fewer/ }).tap();
  equal(await dialog.locator('[part=quantity]').inputValue(), '0.4', 'one step less');
  const priceOf = async () => Number((await dialog.locator('[part=dish-add]').innerText()).replace(/[^\d.]/g, ''));
  const perKilogram = Number((await dialog.locator('[part=dish-price]').innerText()).replace(/[^\d.]/g, ''));
  for (const [typed, price] of [['0.', 0], ['0.2', 0.2], ['0.25', 0.25], ['', 0]]) { // while the guest types
    await dialog.locator('[part=quantity]').fill(typed);
    equal(await priceOf(), Math.round(perKilogram * price * 100) / 100, `the price on the button after "${typed}"`);
    equal(await dialog.locator('.limits').innerText(), '', `errors after "${typed}"`);
  }
  await axe(page, 'a weighed dish');
  await shot(page, 'weighed', { full: false });
  await dialog.locator('[part=quantity]').fill('1000');
  await dialog.locator('[part=dish-add]').tap();
  await dialog.getByText('Enter a quantity from 1 g to 999 kg').waitFor();
  must(!/\d/.test(await dialog.locator('[part=dish-add]').innerText()), 'no price for a wrong quantity');
  await axe(page, 'a wrong quantity');
  await shot(page, 'wrong-quantity', { full: false });
  await dialog.locator('[part=quantity]').fill('0.9');
  await dialog.locator('[part=quantity]').blur();
  await dialog.getByText('Enter a quantity').waitFor({ state: 'hidden' });
  await dialog.locator('[part=dish-add]').tap();
  await eventually(async () => (await card(beef).locator('[part=count]').textContent()) === '900 g', 'the card shows the weight');
  await left();

  step('photos: several, and each can be enlarged');
  await page.route('**/menu', async (route) => {
    const answer = await route.fetch();
    const body = await answer.json();
    for (const dish of body.result.products) {
      if (dish.id === fries.id) dish.imageUrls.push(...body.result.products.flatMap((one) => one.imageUrls).slice(20, 22));
      if (dish.id === beef) dish.imageUrls = [];
    }
    await route.fulfill({ response: answer, json: body });
  });
  await page.goto(`${larder}/`);
  await card(fries.id).locator('[part=photo]').tap();
  equal(await dialog.locator('[part=photo-button]').count(), 3, 'photos');
  await shot(page, 'photos', { full: false });
  await dialog.locator('[part=photo-button]').first().tap();
  const zoom = menu.locator('dialog[part=zoom]');
  await zoom.waitFor();
  await axe(page, 'an enlarged photo');
  await zoom.locator('img').tap();
  await eventually(() => zoom.locator('.pan').evaluate((pan) => pan.scrollWidth > pan.clientWidth * 1.9), 'the photo is twice as large');
  await axe(page, 'a photo that is twice as large');
  await shot(page, 'zoom', { full: false });
  await page.keyboard.press('Escape');
  await eventually(async () => (await zoom.count()) === 0, 'the photo is closed');
  must(await dialog.isVisible(), 'the dish is open');
  await dialog.locator('[part=photo-button]').first().tap();
  await zoom.waitFor();
  await page.goBack();
  await eventually(async () => (await zoom.count()) === 0, 'Back closes the photo');
  must(await dialog.isVisible(), 'the dish stays open after Back');
  await close();

  step('G5: a dish without a photo has no empty space');
  equal(await card(beef).locator('.frame, [part=photo]').count(), 0, 'frames without a photo');
  await card(beef).evaluate((one) => one.scrollIntoView({ block: 'center', behavior: 'instant' }));
  const [a, b] = [await card(beef).boundingBox(), await card(beef).locator('[part=name]').boundingBox()];
  must(Math.min(b.x - a.x, a.x + a.width - b.x - b.width) < 24, 'the name begins at the edge of the card');
  await shot(page, 'no-photo', { full: false });

  step('slots in a card');
  await page.evaluate((id) => {
    const badge = Object.assign(document.createElement('span'), { slot: `card-${id}`, textContent: 'New' });
    document.querySelector('larder-menu').append(badge);
  }, beef);
  await eventually(async () => (await page.locator('larder-menu > span').boundingBox())?.height > 0, 'the badge is shown');
  const badge = await page.locator('larder-menu > span').boundingBox();
  must(badge.y > a.y && badge.y < a.y + a.height + badge.height, 'the badge is in the card');
  await page.locator('larder-menu > span').tap();
  await dialog.waitFor();
  await close();
  await page.evaluate(() => { document.querySelector('larder-menu > span').replaceChildren(Object.assign(document.createElement('button'), { type: 'button', textContent: 'More' })); });
  await page.locator('larder-menu > span > button').tap();
  equal(await dialog.isVisible(), false, 'the button of a badge is the site\'s');

  step('another restaurant closes the dish');
  await page.unrouteAll({ behavior: 'wait' }); // a menu may be on its way
  await page.route(/restaurants?[/=]other/, (route) => route.continue({ url: route.request().url().replace('other', bistro) }));
  await page.goto(`${larder}/`);
  await card(beef).locator('[part=name]').tap();
  await dialog.waitFor();
  await menu.evaluate((element) => { element.restaurant = 'other'; });
  await dialog.waitFor({ state: 'hidden' });
  await menu.evaluate((element, id) => { element.restaurant = id; }, bistro);
  await card(beef).waitFor();

  step('a line with a removed group and too many options says what to do, and can be saved');
  await page.evaluate(async ([restaurant, id]) => {
    const { result } = await (await fetch(`/v1/restaurants/${restaurant}/menu`)).json();
    const dish = result.products.find((one) => one.id === id);
    const { id: group, options } = result.schemes.find((one) => one.id === dish.schemeId).groups[0];
    const pick = (of, option) => ({ id: option, group: of, quantity: 1, picks: [] });
    const line = { id, name: `${dish.name} (One, Two, Truffle)`, price: '1', quantity: '1', picks: [pick(group, options[0]), pick(group, options[1]), pick('removed', 'gone')] };
    const key = `${id}:broken`;
    localStorage.setItem(`larder:basket:${location.origin}|${restaurant}`, JSON.stringify({ format: 1, lines: [{ key, ...line }] }));
  }, [bistro, fries.id]);
  await page.goto(`${larder}/`);
  const line = page.locator(`larder-order-form [data-line=${fries.id}]`);
  await line.getByText('choose 1 fewer').waitFor(); // the notes of the menu and of the validation move the button
  await page.getByRole('button', { name: /^Order for/ }).tap();
  await eventually(() => line.evaluate((one) => one.contains(one.getRootNode().activeElement)), 'the focus is at the wrong line');
  await line.getByRole('button', { name: /^Change/ }).tap();
  const changed = page.locator('larder-order-form dialog[part=dish]');
  await changed.locator('[part=dish-add]').waitFor();
  equal(await changed.locator('[part=dish-alert]').innerText(), 'No longer available: Truffle', 'what is gone');
  equal(await changed.locator('[part=group-state]').first().innerText(), 'Too many chosen: keep at most 1.', 'what to do');
  await axe(page, 'too many options');
  await shot(page, 'too-many', { full: false });
  await changed.locator('[part=dish-add]').tap();
  equal(await changed.evaluate((one) => one.getRootNode().activeElement?.closest('[part=group]') === one.querySelector('.over')), true, 'the focus is at the group');
  if (combination?.input === 'keyboard') await page.keyboard.press('ArrowDown'); // Tab reaches the chosen radio button only
  else await changed.locator('[part=option-input]').nth(1).check();
  await changed.locator('[part=dish-add]').tap();
  await changed.waitFor({ state: 'hidden' });
  equal(await line.locator('.wrong').count(), 0, 'complaints about the line');
  await line.getByRole('button', { name: /^Remove/ }).tap();

  step('a dish that is sold out can be read');
  try {
    await sandbox.stop(bistro, { [fries.id]: true });
    await operator.resync(bistro);
    await eventually(async () => (await card(fries.id).locator('[part=add]').innerText()) === 'Sold out', 'the card says so');
    await card(fries.id).locator('[part=description]').tap();
    await dialog.waitFor();
    equal([await dialog.locator('[part=dish-add]').innerText(), await dialog.locator('[part=dish-add]').isDisabled(), await dialog.locator('[part=quantity]').isVisible()], ['Sold out', true, false], 'the dialog says so');
    await axe(page, 'a dish that is sold out');
    await everyVariant(page, 'sold-out', { full: false, only: ['phone-light', 'desktop-dark'] });
    await close();
  } finally {
    await sandbox.stop(bistro, { [fries.id]: false });
    await operator.resync(bistro);
  }

  step('G13: the search finds categories and forgives one letter');
  const search = menu.locator('[part=search]');
  const found = async (text) => {
    await search.fill(text);
    return menu.locator('[part=card]:not([hidden])').count();
  };
  for (const text of ['combo', 'dessert', 'kids', 'capuccino', 'fries']) must((await found(text)) > 0, `nothing is found for ${text}`);
  equal(await found('xyzzyx'), 0, 'dishes for nonsense');
  const everything = await found('');
  equal(await found(' ?! '), everything, 'dishes for marks without a word');
  equal(await menu.locator('[part=status]').innerText(), '', 'the status without a search');
  await search.fill('xyzzyx');
  await axe(page, 'a search without a result');

  step('the categories: one Tab stop, arrow keys, the mouse wheel, and the current one');
  const desk = await open({ size: 'desktop' });
  await desk.page.goto(`${larder}/`);
  const strip = desk.page.locator('larder-menu nav');
  await strip.locator('button').nth(5).waitFor();
  await eventually(async () => (await strip.locator('button[tabindex="0"]').count()) === 1, 'one Tab stop');
  await desk.page.locator('larder-menu [part=search]').focus();
  await desk.page.keyboard.press('Tab');
  await desk.page.keyboard.press(combination?.dir === 'rtl' ? 'ArrowLeft' : 'ArrowRight');
  equal(await strip.locator('button').nth(1).evaluate((one) => one.getRootNode().activeElement === one), true, 'the second category has the focus');
  await desk.page.keyboard.press('Enter');
  await eventually(async () => (await strip.locator('[aria-current=true]').innerText()) === (await strip.locator('button').nth(1).innerText()), 'the second category is the current one');
  await strip.hover();
  const zooms = await strip.evaluate((nav) => !nav.dispatchEvent(new WheelEvent('wheel', { deltaY: 300, ctrlKey: true, cancelable: true })));
  equal([zooms, await strip.evaluate((nav) => nav.scrollLeft < 100)], [false, true], 'Ctrl and the wheel zoom');
  await desk.page.mouse.wheel(0, 300);
  await eventually(() => strip.evaluate((nav) => Math.abs(nav.scrollLeft) > 100), 'the wheel moves the categories');
  const before = await strip.evaluate((nav) => Math.abs(nav.scrollLeft));
  if (combination?.input !== 'touch') { // the arrows are for the mouse
    await desk.page.locator('larder-menu .arrow').last().click();
    await eventually(() => strip.evaluate((nav, left) => Math.abs(nav.scrollLeft) > left + 100, before), 'the arrow moves the categories');
  }
  await desk.page.waitForTimeout(1100); //testwaits:allow after a jump the page may still scroll
  await desk.page.mouse.move(300, 600);
  await desk.page.mouse.wheel(0, 2500);
  await eventually(async () => (await strip.locator('[aria-current=true]').innerText()) !== (await strip.locator('button').nth(1).innerText()), 'the current category follows the page');
  await axe(desk.page, 'the categories');
  await shot(desk.page, 'categories', { full: false });
});
