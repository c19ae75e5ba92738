// The dialog of a dish and the fields of the form are in files of their own. A guest who is
// faster than the network sees that they are being loaded, and can try again if that fails.
import { axe } from '../axe.mjs';
import { expectedErrors, fillPickup, fries, near, parts, waitForState } from '../guest.mjs';
import { use } from '../keyboard.mjs';
import { equal, eventually, scenario, step } from '../scenario.mjs';
import { shot } from '../shot.mjs';

const expected = [...expectedErrors, /^request failed: no response GET \S+\/web\/(dish|checkout)\.js\?/];

await scenario({ size: 'phone', expected }, async ({ page, open, larder }) => {
  step('a tap before the dialog is loaded: it opens, waits, and shows the dish');
  let arrived;
  const late = new Promise((resolve) => { arrived = resolve; });
  await page.route('**/dish.js*', async (route) => {
    await late;
    await route.continue();
  });
  await page.goto(`${larder}/`);
  const { choose, dialog, add } = parts(page);
  await choose.tap();
  await dialog.getByText('Loading…').waitFor();
  equal(await dialog.getByRole('heading').innerText(), fries.name, 'the heading');
  await axe(page, 'a dialog that is being loaded');
  await shot(page, 'loading', { full: false });
  arrived();
  await add.waitFor();
  equal(await page.evaluate(() => document.querySelector('larder-menu').shadowRoot.activeElement?.textContent), fries.name, 'the focus');
  equal(await dialog.getByText('Loading…').count(), 0, 'notes about loading');
  await page.goBack();
  await dialog.waitFor({ state: 'hidden' });
  equal(new URL(page.url()).pathname, '/', 'the page after Back');

  step('Back closes a dialog that is still being loaded, and it stays closed');
  const second = await open();
  let now;
  const later = new Promise((resolve) => { now = resolve; });
  await second.page.route('**/dish.js*', async (route) => {
    await later;
    await route.continue();
  });
  await second.page.goto(`${larder}/#dish=${fries.id}`);
  await parts(second.page).dialog.waitFor();
  await second.page.goBack();
  await parts(second.page).dialog.waitFor({ state: 'hidden' });
  now();
  await second.page.waitForFunction(() => performance.getEntriesByType('resource').some((r) => r.name.includes('/dish.js')));
  equal(await parts(second.page).dialog.count(), 0, 'open dialogs');

  step('a file that cannot be loaded is reported, and the guest can try again');
  const third = await open();
  const warnings = [];
  third.page.on('console', (message) => { if (message.type() === 'warning') warnings.push(message.text()); });
  let broken = true;
  await third.page.route(/\/(dish|checkout)\.js/, (route) => (broken ? route.abort() : route.continue()));
  await third.page.goto(`${larder}/`);
  const there = parts(third.page);
  await there.choose.tap();
  await there.dialog.getByText("We can't load this right now.").waitFor();
  await axe(third.page, 'a dialog that could not be loaded');
  await shot(third.page, 'failed', { full: false });
  await eventually(() => warnings.some((text) => text.includes('/dish.js') && text.includes('cannot be loaded')), 'the console says so');
  broken = false;
  await there.dialog.getByRole('button', { name: 'Try again' }).tap();
  await there.add.waitFor();

  step('the basket and the fields of the form: the same');
  await there.dialog.locator('input[type=radio], input[type=checkbox]').first().check();
  broken = true;
  await there.add.tap();
  const form = third.page.locator('larder-order-form');
  await form.getByText("We can't load this right now.").waitFor();
  equal(await there.submit.isDisabled(), true, 'the order button without fields');
  await axe(third.page, 'a form whose fields could not be loaded');
  broken = false;
  await near(form.getByRole('button', { name: 'Try again' }));
  await use(third.page, form.getByRole('button', { name: 'Try again' }));
  await there.phone.waitFor();
  await there.line.waitFor();
  equal(await form.evaluate((element) => element.shadowRoot.activeElement?.name), 'expeditionType', 'the focus after Try again');
  await fillPickup(third.page);
  await use(third.page, there.submit);
  await waitForState(third.page, 'placed');
  await form.locator('[part=receipt]').waitFor();

  step('a confirmation whose receipt could not be loaded still says that the order was placed');
  broken = true;
  await third.page.reload();
  await waitForState(third.page, 'placed');
  await form.locator('[part=order-id]').waitFor();
  await form.getByText("We can't load this right now.").waitFor();
  await axe(third.page, 'a confirmation without its receipt');
  broken = false;
  await form.getByRole('button', { name: 'Try again' }).first().tap();
  await form.locator('[part=receipt]').waitFor();
  await axe(third.page, 'the confirmation');
});
