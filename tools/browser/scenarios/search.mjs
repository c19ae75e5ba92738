// A guest who searches in the middle of the menu sees what is found, or that nothing is found.
import { axe } from '../axe.mjs';
import { openShop, parts } from '../guest.mjs';
import { fill } from '../keyboard.mjs';
import { equal, eventually, must, scenario, step } from '../scenario.mjs';

await scenario({ size: 'phone' }, async ({ page, larder }) => {
  await openShop(page, larder);
  const menu = page.locator('larder-menu');
  const search = menu.locator('[part=search]');
  const status = menu.locator('[part=status]');
  const inView = (locator) => locator.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    const { host } = element.getRootNode();
    return top >= host.shadowRoot.querySelector('.head').getBoundingClientRect().bottom - 1 && bottom <= innerHeight;
  });

  const names = () => menu.locator('[part=category-name], [part=name]').allTextContents();
  await eventually(async () => (await names()).length > 60, 'all cards are built');
  const before = await names();
  for (const [query, found] of [['capuccino', true], ['roast beef', true], ['zzzz', false]]) {
    step(`${query}: from the middle of the menu`);
    await page.evaluate(() => scrollTo({ top: 6 * innerHeight, behavior: 'instant' }));
    await eventually(() => menu.evaluate((element) => element.getBoundingClientRect().top < -innerHeight), 'the page is scrolled');
    await fill(page, search, query);
    const name = menu.locator('[part=card]:visible [part=name]').first();
    await status.getByText(found ? /^\d+ dish/ : 'No dishes found').waitFor();
    await eventually(() => inView(status), 'the number of dishes is in view');
    if (found) await eventually(() => inView(name), 'the first dish is in view');
    if (found) must((await name.innerText()).toLowerCase().startsWith(query.replace('capuccino', 'cappuccino')), `the dish with this name comes first: ${await name.innerText()}`);
    equal(await search.evaluate((element) => element.getRootNode().activeElement === element), true, 'the focus stays in the search');
    await axe(page, `the search for ${query}`);
    await fill(page, search, '');
    await page.keyboard.press('Delete');
    await parts(page).choose.waitFor();
  }
  equal(await names(), before, 'the order of the menu after the searches');
  must(await menu.locator('[part=categories]').isVisible(), 'the categories come back after the search');
});
