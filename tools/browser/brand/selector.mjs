// The page at / of a chain: brand colour, and a restaurant selector with search for 200 restaurants
// that leaves room for the name at 390 px (issue 19, parts 1 and 7).
import { axe } from '../axe.mjs';
import { fill, focused, tabTo, use } from '../keyboard.mjs';
import { equal, eventually, must, scenario, step } from '../scenario.mjs';
import { everyVariant } from '../shot.mjs';

await scenario({ size: 'phone' }, async ({ page, open, larder }) => {
  const button = page.locator('#which');
  const dialog = page.getByRole('dialog');
  const links = dialog.locator('li a');

  step('guests choose a restaurant first; the one that they opened last is at the top');
  const choices = page.locator('#restaurants li');
  await page.goto(`${larder}/`);
  await eventually(async () => (await choices.count()) === 50, 'the first restaurants');
  equal((await choices.locator('b').allInnerTexts()).slice(0, 3), ['Restaurant 1', 'Restaurant 2', 'Restaurant 3'], 'sorted as people count');
  equal(await page.locator('larder-menu, #which').count(), 0, 'menus before the choice');
  await everyVariant(page, 'choose', { full: false, each: (variant) => axe(page, `the choice of a restaurant, ${variant.name}`) });
  await fill(page, page.getByRole('searchbox'), '15');
  await eventually(async () => (await choices.count()) < 50, 'the search');
  const found = await choices.locator('b').allInnerTexts();
  equal([found[0], found.filter((name) => !name.includes('15'))], ['Restaurant 15', []], 'what the search for 15 finds');
  await use(page, choices.locator('a').first());
  await page.locator('larder-menu [part=card]').first().waitFor();
  equal(await page.locator('h1').innerText(), 'Restaurant 15', 'the restaurant');
  await page.goto(`${larder}/`);
  await choices.getByText('Your last restaurant').waitFor();
  equal((await choices.first().innerText()).split('\n').slice(0, 2), ['Your last restaurant', 'Restaurant 15'], 'the first choice');
  await axe(page, 'the choice of a restaurant, again');

  step('the name is on one line beside the selector');
  await use(page, choices.locator('a').first());
  await page.locator('larder-menu [part=card]').first().waitFor();
  must(/^Restaurant \d+$/.test(await page.locator('h1').innerText()), 'the name of the restaurant');
  const lines = await page.locator('h1').evaluate((h1) => h1.getBoundingClientRect().height / parseFloat(getComputedStyle(h1).lineHeight));
  must(lines < 1.5, `the name has ${lines} lines`);
  equal(await page.evaluate(() => getComputedStyle(document.querySelector('body > header')).backgroundColor), 'rgb(255, 204, 0)', 'the brand colour');
  equal(await page.evaluate(() => getComputedStyle(document.querySelector('h1')).color), 'rgb(0, 0, 0)', 'text on the brand colour');
  await everyVariant(page, 'brand', { full: false, each: (variant) => axe(page, `a page with a brand, ${variant.name}`) });

  step('a restaurant is searched and opened with the keyboard');
  await use(page, button);
  await dialog.waitFor();
  await eventually(async () => (await links.count()) === 50, 'the first restaurants');
  await everyVariant(page, 'selector', { full: false, each: (variant) => axe(page, `the selector, ${variant.name}`) });
  await page.keyboard.type('Restaurant 123');
  await eventually(async () => (await links.count()) === 1, 'one restaurant is found');
  await page.keyboard.press('Enter');
  equal((await focused(page)).seen, true, 'the focus is visible');
  await page.keyboard.press('Enter');
  await eventually(async () => (await page.locator('h1').innerText()) === 'Restaurant 123', 'the restaurant is open');
  await page.locator('larder-menu [part=card]').first().waitFor();

  step('Enter before the result: the restaurant that was searched, not the first one of the list');
  await use(page, button);
  await eventually(async () => (await links.count()) === 50, 'the first restaurants');
  let answer;
  const entered = new Promise((resolve) => { answer = resolve; });
  await page.route('**/v1/restaurants?*', async (route) => {
    await entered;
    await route.continue();
  });
  await page.keyboard.type('Restaurant 123');
  await page.keyboard.press('Enter');
  answer();
  await eventually(() => page.evaluate(() => document.activeElement?.textContent?.startsWith('Restaurant 123')), 'the focus is on the result');
  await dialog.getByRole('searchbox').fill('');
  await page.keyboard.press('Escape');
  await page.unrouteAll({ behavior: 'wait' }); // unroute continues a request that its handler continues too

  step('more restaurants, none, and back');
  await use(page, button);
  await eventually(async () => (await links.count()) === 50, 'the first restaurants');
  await use(page, dialog.locator('.more'));
  await eventually(async () => (await links.count()) === 100, 'the next restaurants');
  equal(await page.evaluate(() => document.activeElement.closest('li') === document.querySelectorAll('#restaurants li')[50]), true, 'the focus is on the first new restaurant');
  await tabTo(page, dialog.getByRole('searchbox'), { back: true });
  await page.keyboard.type('nothing like this');
  await eventually(async () => (await dialog.getByRole('status').innerText()).startsWith('No restaurant found'), 'nothing is found');
  await axe(page, 'a search without result');
  await page.keyboard.press('Escape'); // deletes the search
  await page.keyboard.press('Escape');
  equal(await button.evaluate((element) => document.activeElement === element), true, 'the focus is on the button again');

  step('a search that waits for the end of typing takes no restaurants away');
  await use(page, button);
  await eventually(async () => (await links.count()) === 50, 'the first restaurants');
  await dialog.evaluate((shown) => {
    shown.querySelector('input').dispatchEvent(new Event('input'));
    shown.querySelector('.more').click();
  });
  await eventually(async () => (await links.count()) === 100, 'the next restaurants');
  await page.waitForTimeout(400); //testwaits:allow the search must not come
  equal(await links.count(), 100, 'the next restaurants are still there');
  await page.keyboard.press('Escape');

  step('desktop, dark, right to left');
  const wide = await open({ size: 'wide', dark: true });
  await wide.page.goto(`${larder}/?dir=rtl`);
  await wide.page.locator('#restaurants li a').first().click();
  await wide.page.locator('larder-menu [part=card]').first().waitFor();
  await wide.page.locator('#which').click();
  await wide.page.locator('#restaurants li a').first().waitFor();
  await axe(wide.page, 'the selector, desktop');
});
