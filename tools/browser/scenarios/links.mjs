// A dish and a category have an address, and Back closes the dialog without leaving the page.
import { axe } from '../axe.mjs';
import { fries } from '../guest.mjs';
import { eventually, must, equal, scenario, step } from '../scenario.mjs';
import { shot } from '../shot.mjs';

await scenario({ size: 'phone' }, async ({ page, open, larder }) => {
  const menu = page.locator('larder-menu').first();
  const dialog = page.locator('larder-menu dialog[part=dish][open]');
  const name = menu.locator(`[data-dish=${fries.id}] [part=name]`).first();
  const state = () => page.evaluate(() => [location.hash, history.length]);
  const settled = (hash) => eventually(() => page.evaluate((want) => location.hash === want, hash), `the address is ${hash || 'without a dish'}`);
  // Another page of the site. A request that is canceled when the page is left too early may be reported as failed.
  await page.goto(`${larder}/docs`, { waitUntil: 'networkidle' });
  await page.goto(`${larder}/`);
  await name.waitFor();

  step('G6: Back closes the dish, and stays on the page');
  const [, entries] = await state();
  await name.tap();
  await dialog.waitFor();
  equal(await state(), [`#dish=${fries.id}`, entries + 1], 'the address and the history');
  await page.goBack();
  await dialog.waitFor({ state: 'hidden' });
  equal(new URL(page.url()).pathname, '/', 'the page');

  step('G6: Forward opens it again; Escape, × and a click outside leave no entry');
  await page.goForward();
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await settled('');
  for (const leave of [() => dialog.locator('[part=dish-close]').tap(), () => page.keyboard.press('Escape')]) {
    await name.tap();
    await dialog.waitFor();
    await leave();
    await dialog.waitFor({ state: 'hidden' });
    await settled('');
  }
  equal((await state())[1], entries + 1, 'entries after four dishes');
  await page.goBack({ waitUntil: 'networkidle' });
  equal(new URL(page.url()).pathname, '/docs', 'one Back leaves the page without a dialog');

  step('a dish that is opened at once after another one');
  await page.goto(`${larder}/`);
  await name.waitFor();
  await page.evaluate((id) => {
    const element = document.querySelector('larder-menu');
    element.open(id);
    element.shadowRoot.querySelector('dialog').close();
    setTimeout(() => element.open('dish-roast-beef'));
  }, fries.id);
  await settled('#dish=dish-roast-beef');
  await dialog.waitFor();
  await page.goBack();
  await dialog.waitFor({ state: 'hidden' });
  equal(new URL(page.url()).pathname, '/', 'the page');

  step('a link opens the dish, and Back closes it');
  const guest = await open();
  await guest.page.goto(`${larder}/#dish=${fries.id}`);
  const opened = guest.page.locator('larder-menu dialog[part=dish][open]');
  await opened.waitFor();
  await axe(guest.page, 'a dish opened by a link');
  await guest.page.goBack();
  await opened.waitFor({ state: 'hidden' });
  equal(guest.page.url(), `${larder}/`, 'the address after Back');
  await guest.page.goForward();
  await opened.waitFor();
  await guest.page.reload();
  await opened.waitFor();
  await guest.page.keyboard.press('Escape');
  await opened.waitFor({ state: 'hidden' });
  await eventually(() => guest.page.url() === `${larder}/`, 'the address after a reload and Escape');

  step('a link of the page itself');
  await guest.page.evaluate((id) => { location.hash = `#dish=${id}`; }, fries.id);
  await opened.waitFor();
  await guest.page.goBack();
  await opened.waitFor({ state: 'hidden' });
  await guest.page.goto(`${larder}/#dish=no-such-dish`);
  await guest.page.locator('larder-menu [part=card]').first().waitFor();
  equal(await opened.count(), 0, 'dialogs of an unknown dish');
  const said = guest.page.locator('larder-menu [part=status]');
  await said.getByText("This dish isn't on the menu any more.").waitFor();
  equal(guest.page.url(), `${larder}/`, 'the address after a link to an unknown dish');
  await axe(guest.page, 'a link to an unknown dish');
  await shot(guest.page, 'unknown-dish', { full: false });
  await guest.page.locator(`larder-menu [data-dish=${fries.id}] [part=name]`).first().click();
  await opened.waitFor();
  await guest.page.goBack();
  await opened.waitFor({ state: 'hidden' });
  equal(guest.page.url(), `${larder}/`, 'the address after a dish and Back');

  step('a dish of the HTML menu, before the module has run: it opens with the menu, and Back stays on the page');
  const early = await open();
  let run;
  const held = new Promise((resolve) => { run = resolve; });
  await early.page.route('**/larder.js*', async (route) => {
    await held;
    await route.continue();
  });
  await early.page.goto(`${larder}/`, { waitUntil: 'commit' });
  const row = early.page.locator('larder-menu li', { has: early.page.locator(`a[href="#dish=${fries.id}"]`) });
  await row.first().waitFor();
  await axe(early.page, 'the HTML menu before the module has run');
  await row.first().tap(); // beside its name
  await eventually(() => early.page.url() === `${larder}/#dish=${fries.id}`, 'the address of the dish');
  run();
  const first = early.page.locator('larder-menu dialog[part=dish][open]');
  await first.waitFor();
  await early.page.goBack();
  await first.waitFor({ state: 'hidden' });
  equal(early.page.url(), `${larder}/`, 'the address after a dish of the HTML menu and Back');
  await early.page.close();

  step('a category has an address');
  const other = await open();
  await other.page.goto(`${larder}/#category=cat-drinks`);
  const heading = other.page.locator('larder-menu [id="c-cat-drinks"]');
  await eventually(async () => { const box = await heading.boundingBox(); return box && box.y > 100 && box.y < 260; }, 'the category is below the head');
  equal(await other.page.locator('larder-menu nav [aria-current=true]').innerText(), await heading.innerText(), 'the current category');
  await shot(other.page, 'category', { full: false });
  const last = other.page.locator('larder-menu nav button').last();
  // On a busy machine the page can move under the pointer. A tap on a link that moves is lost, because it begins on
  // one element and ends on another. Then a guest taps again.
  await eventually(async () => {
    await last.click();
    return other.page.evaluate(() => location.hash.startsWith('#category=') && location.hash !== '#category=cat-drinks');
  }, 'the address is the last category');

  step('a page with <base>: links stay on the page');
  const based = await open({ size: 'phone' });
  await based.page.route(`${larder}/`, async (route) => {
    const response = await route.fetch();
    const headers = response.headers();
    delete headers['content-security-policy'];
    await route.fulfill({ response, headers, body: (await response.text()).replace('<head>', '<head><base href="/elsewhere/">') });
  });
  await based.page.goto(`${larder}/`);
  const link = based.page.locator(`larder-menu [data-dish=${fries.id}] [part=dish-link]`).first();
  equal(await link.evaluate((a) => a.href), `${larder}/#dish=${fries.id}`, 'the address of a dish');
  await link.tap();
  const shown = based.page.locator('larder-menu dialog[part=dish][open]');
  await shown.waitFor();
  equal(based.page.url(), `${larder}/#dish=${fries.id}`, 'the address of the open dish');
  await based.page.keyboard.press('Escape');
  await eventually(() => based.page.url() === `${larder}/`, 'the address without a dish');
  await based.page.locator('larder-menu nav button').nth(2).click();
  await eventually(() => based.page.url().startsWith(`${larder}/#category=`), 'the address of a category');

  step('two menus on a page, and a menu without links');
  await other.page.goto(`${larder}/`);
  await other.page.evaluate(() => document.querySelector('larder-menu').after(document.querySelector('larder-menu').cloneNode()));
  await other.page.evaluate((id) => { location.hash = `#dish=${id}`; }, fries.id);
  const both = other.page.locator('larder-menu dialog[part=dish][open]');
  await eventually(async () => (await both.count()) === 1, 'one menu opens the dish');
  await other.page.goBack();
  await eventually(async () => (await both.count()) === 0, 'Back closes it');
  await other.page.evaluate(() => { document.querySelectorAll('larder-menu')[1].remove(); document.querySelector('larder-menu').setAttribute('links', 'off'); });
  const [before, hash] = await other.page.evaluate(() => [history.length, location.hash]);
  await other.page.locator(`larder-menu [data-dish=${fries.id}] button[part=dish-link]`).first().click();
  await both.waitFor();
  equal(await other.page.evaluate(() => [history.length, location.hash]), [before, hash], 'the history and the address without links');
  await other.page.keyboard.press('Escape');
  await both.waitFor({ state: 'hidden' });
  await axe(other.page, 'a menu without links');
  must(await other.page.locator('larder-menu [part=list] a').count() === 0, 'a menu without links has links');
});
