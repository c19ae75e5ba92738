// The texts of the elements: Russian is loaded before anything is shown, a site's own
// texts replace larder's, and faults in them are reported once on the console.
import { bistro } from '../guest.mjs';
import { equal, eventually, must, scenario, step } from '../scenario.mjs';

await scenario({ matrix: false, expected: [/^request failed: 404 GET \S+\/none\.json /] }, async ({ open, larder }) => {
  const shown = (page) => page.evaluate(() => [...document.querySelectorAll('larder-menu, larder-order-form')]
    .map((element) => [...element.shadowRoot.children].map((child) => child.innerText ?? '').join(' ').trim()));

  step('the Russian texts are late: nothing is shown in English before');
  const { page } = await open({ locale: 'ru-RU' });
  let pass = () => {};
  const late = new Promise((resolve) => { pass = resolve; });
  await page.route('**/texts.ru.json*', async (route) => {
    await late;
    await route.continue();
  });
  await page.goto(`${larder}/`, { waitUntil: 'commit' });
  await page.waitForFunction(() => customElements.get('larder-menu'));
  await page.waitForTimeout(500); //testwaits:allow the elements must stay empty
  equal(await shown(page), ['', ''], 'before the texts');
  pass();
  await page.getByText('Ваша корзина пуста').waitFor();
  equal((await page.evaluate(() => performance.getEntriesByType('resource').map((e) => e.name).filter((name) => name.includes('texts.')))).map((url) => url.replace(/.*\?v=[0-9a-f]{12}$/, 'versioned')),
    ['versioned'], 'requests for texts: one, preloaded by the page');

  step('the Russian texts do not come: after 3 s English is shown');
  const { page: stuck } = await open({ locale: 'ru-RU' });
  let end = () => {};
  const never = new Promise((resolve) => { end = resolve; });
  await stuck.route('**/texts.ru.json*', async (route) => {
    await never;
    await route.continue();
  });
  await stuck.goto(`${larder}/`, { waitUntil: 'commit' });
  await stuck.getByText('Your basket is empty.').waitFor();
  end();
  await stuck.getByText('Ваша корзина пуста').waitFor();

  step('own texts: an attribute with JSON, an attribute with an address, a property');
  const { page: own } = await open();
  const warnings = [];
  own.on('console', (message) => { if (message.type() === 'warning') warnings.push(message.text()); });
  await own.route('**/texts.test.json', (route) => route.fulfill({ json: { order: 'Deine Bestellung', ordr: 'x', total: 5 } }));
  await own.goto(`${larder}/?lang=en`);
  await own.getByText('Your basket is empty.').waitFor();
  const form = own.locator('larder-order-form');
  const heading = form.locator('[part=order-name]');
  await form.evaluate((element) => element.setAttribute('texts', '{"order": "Your lunch"}'));
  await eventually(async () => (await heading.innerText()) === 'Your lunch', 'the text of the attribute');
  for (let i = 0; i < 2; i++) {
    await form.evaluate((element) => element.setAttribute('texts', '/texts.test.json'));
    await eventually(async () => (await heading.innerText()) === 'Deine Bestellung', 'the text of the file');
    await form.evaluate((element) => { element.texts = { order: 'My order' }; });
    await eventually(async () => (await heading.innerText()) === 'My order', 'the text of the property');
    await form.evaluate((element) => { element.texts = null; });
    await eventually(async () => (await heading.innerText()) === 'Deine Bestellung', 'the attribute again');
  }
  await eventually(() => warnings.length > 0, 'a warning');
  equal(warnings.length, 1, `warnings: ${warnings.join('\n')}`);
  for (const part of ['texts.test.json', '"ordr"', '"total"', '/web/texts.json']) must(warnings[0].includes(part), `${part} is not in ${warnings[0]}`);
  must((await form.innerText()) !== undefined && (await own.getByText('Your basket is empty.').isVisible()), 'missing texts are English');

  step('a file that does not exist is reported, and the texts are English');
  await form.evaluate((element) => element.setAttribute('texts', '/none.json'));
  await eventually(async () => (await heading.innerText()) === 'Your order', 'English');
  await eventually(() => warnings.length > 1, 'a second warning');
  must(warnings.length === 2 && warnings[1].includes('/none.json') && warnings[1].includes('status 404'), warnings.join('\n'));

  step('a property that was set before the element was defined');
  await own.goto(`${larder}/web/texts.json`);
  await own.evaluate(async (id) => {
    document.body.innerHTML = `<larder-order-form restaurant="${id}" lang="en"></larder-order-form>`;
    document.body.firstChild.texts = { order: 'Early' };
    await import('/web/larder.js');
  }, bistro);
  await eventually(async () => (await own.locator('larder-order-form [part=order-name]').innerText()) === 'Early', 'the text of the early property');
});
