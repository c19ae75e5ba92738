// The page at / as a restaurant's website: header, details, languages, the menu without JavaScript,
// an unknown restaurant, and no layout shift when the elements replace the menu (issue 19, parts 6 and 7).
import { axe } from '../axe.mjs';
import { tabTo, use } from '../keyboard.mjs';
import { repeated } from '../matrix.mjs';
import { equal, eventually, must, scenario, step } from '../scenario.mjs';
import { everyVariant, shot } from '../shot.mjs';

const address = 'Rua das Flores 1, Porto';

/** Runs in the page: sums the layout shifts. */
function watch() {
  globalThis.moved = { by: 0, what: [] };
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      globalThis.moved.by += entry.value;
      globalThis.moved.what.push(...entry.sources.map(({ node, previousRect: a, currentRect: b }) => `${node?.localName ?? node?.nodeName} ${node?.className ?? ''} y ${a.y} to ${b.y}, height ${a.height} to ${b.height}`));
    }
  }).observe({ type: 'layout-shift', buffered: true });
}

await scenario({ expected: [/^request failed: 404 GET \S+\/\?restaurant=nope /] }, async ({ page, open, larder }) => {
  step('SEO: without JavaScript, the page has the menu, the details and what search engines read');
  for (const size of repeated(['phone', 'tablet', 'wide'])) {
    const plain = await open({ scripts: false, size });
    await plain.page.goto(`${larder}/`);
    const dishes = plain.page.locator('larder-menu li');
    must((await dishes.count()) > 40, `${await dishes.count()} dishes without JavaScript`);
    equal(await dishes.first().isVisible(), true, 'a dish is visible');
    must(/French fries[^]*from ₺219\.90/.test(await plain.page.locator('larder-menu').innerText()), 'name and price of a dish');
    must((await plain.page.locator('main > noscript').innerText()).includes('turn on JavaScript'), 'how to order');
    for (const selector of ['meta[name=description]', 'meta[property="og:title"]', 'link[rel=canonical]', 'link[rel=icon]', 'script[type="application/ld+json"]']) {
      equal(await plain.page.locator(`head ${selector}`).count(), 1, selector);
    }
    const data = JSON.parse(await plain.page.locator('script[type="application/ld+json"]').textContent());
    equal([data['@type'], data.address, data.telephone], ['Restaurant', address, '+351 22 000 00 01'], 'the data for search engines');
    await plain.page.waitForFunction(() => document.querySelector('larder-menu img').naturalWidth > 0);
    const { width, height } = await plain.page.locator('larder-menu img').first().boundingBox();
    if (size === 'wide') must(Math.abs(width / height - 4 / 3) < 0.01, `a photo has ${width} × ${height} pixels, want 4:3`);
    await shot(plain.page, `without-javascript-${size}`, { full: false });
    const ids = await plain.page.locator('larder-menu [id^="dish="]').evaluateAll((all) => all.map(({ id }) => id));
    equal(ids.length, new Set(ids).size, 'different ids of dishes');
    const dish = plain.page.locator('larder-menu li', { has: plain.page.locator(`[id="${ids[20]}"]`) });
    const link = dish.locator('a');
    const reached = async () => {
      const { y } = await dish.boundingBox();
      return y >= 0 && y < 200;
    };
    equal(await link.getAttribute('href'), `#${ids[20]}`, 'the link to a dish');
    await link.click();
    await eventually(() => new URL(plain.page.url()).hash === `#${ids[20]}`, 'the address of a dish'); // it comes after the click
    await eventually(reached, 'the link scrolls to the dish');
    await plain.page.goto('about:blank');
    await plain.page.goto(`${larder}/#${ids[20]}`);
    await eventually(reached, 'the address of a dish shows it');
    await plain.page.close();
  }

  step('the elements replace the menu, and nothing moves');
  for (const size of repeated(['phone', 'tablet', 'wide'])) {
    const { page: slow } = await open({ size });
    await slow.addInitScript(watch);
    let release;
    const held = new Promise((resolve) => { release = resolve; });
    await slow.route('**/menu', async (route) => { await held; await route.continue(); });
    await slow.goto(`${larder}/`);
    await slow.waitForFunction(() => document.querySelector('larder-menu').shadowRoot);
    await slow.waitForTimeout(200); //testwaits:allow the HTML menu must stay
    equal(await slow.locator('larder-menu .plain h3').first().isVisible(), true, `${size}: the HTML menu is visible until the menu is loaded`);
    equal(await slow.locator('larder-menu .skeleton').first().isVisible(), false, `${size}: a skeleton is visible`);
    await axe(slow, `the HTML menu in the element, ${size}`);
    const before = await slow.locator('larder-menu .plain h3').first().boundingBox();
    release();
    await slow.locator('larder-menu [part=card]').first().waitFor();
    await slow.waitForTimeout(300); //testwaits:allow later shifts count too
    const { by, what } = await slow.evaluate(() => globalThis.moved);
    const after = await slow.locator('larder-menu [part=name]').first().boundingBox();
    must(Math.abs(before.y - after.y) < 1 && Math.abs(before.x - after.x) < 1, `${size}: the first dish was at ${before.x}, ${before.y} and is at ${after.x}, ${after.y}`);
    must(by < 0.0005, `${size}: layout shift ${by}:\n  ${what.join('\n  ')}`);
    equal(await slow.locator('larder-menu > .plain').isVisible(), false, `${size}: the HTML menu is visible beside the element`);
    await slow.close();
  }

  step('the header and the footer have the details');
  await page.goto(`${larder}/`);
  await page.locator('larder-menu [part=card]').first().waitFor();
  for (const part of ['header', 'footer']) {
    must((await page.locator(`body > ${part}`).innerText()).includes(address), `the ${part} has the address`);
    equal(await page.locator(`body > ${part} a[href="tel:+351220000001"]`).count(), 1, `the ${part} has a phone link`);
  }
  equal(await page.locator('#which').count(), 0, 'one restaurant needs no selector');
  await everyVariant(page, 'page', { full: false, each: (variant) => axe(page, `the page, ${variant.name}`) });
  const small = await page.evaluate(() => [...document.querySelectorAll('body > header a, body > footer a')].filter((a) => a.getBoundingClientRect().height < 44).map((a) => a.textContent));
  equal(small, [], 'links below 44 px');

  step('a printed page has the menu, without the search, the basket bar and the form');
  await page.locator('larder-menu [part=add]').first().click();
  const dialog = page.locator('larder-menu dialog[open]');
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  // It leaves with history.back(), which takes a moment and would abort a navigation.
  await eventually(() => page.evaluate(() => history.state?.larder !== true), 'the entry of the dialog is left');
  await page.emulateMedia({ media: 'print' });
  equal(await page.locator('larder-menu [part=card]').first().isVisible(), true, 'the menu is printed');
  for (const part of ['larder-order-form', 'larder-menu [part=search]', 'larder-menu [part=basket-bar]', 'larder-menu [part=add] >> nth=0']) {
    equal(await page.locator(part).isVisible(), false, `${part} is printed`);
  }
  await shot(page, 'print', { full: false });
  await page.emulateMedia({ media: null });

  step('the text direction stays in links');
  await page.goto(`${larder}/?dir=rtl`);
  await page.locator('larder-menu [part=card]').first().waitFor(); // a click while the menu is replaced may miss a link at its end
  await page.locator('#language a[lang=ru]').click();
  await page.locator('html[lang=ru][dir=rtl]').waitFor();
  await page.goto(`${larder}/`);
  await page.locator('larder-menu [part=card]').first().waitFor();

  step('the language is changed with the keyboard');
  await use(page, page.locator('#language a[lang=ru]'), 'Enter', { back: true }); // it is at the end of the page
  await page.locator('html[lang=ru]').waitFor();
  await tabTo(page, page.locator('#language a[lang=en]'), { back: true });

  step('G7: an unknown restaurant is a 404 that says so');
  const answer = await page.goto(`${larder}/?restaurant=nope`);
  equal(answer.status(), 404, 'the status');
  equal(await page.locator('h1').innerText(), 'Restaurant not found.', 'the heading');
  await everyVariant(page, 'unknown', { full: false, each: (variant) => axe(page, `an unknown restaurant, ${variant.name}`) });
  await use(page, page.getByRole('link', { name: 'Open the menu' }));
  await page.locator('larder-menu [part=card]').first().waitFor();
});
