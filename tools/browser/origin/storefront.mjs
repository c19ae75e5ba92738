// The page of docs/storefront.md on another origin than larder (S1): menu, photos, and
// an order directly and through the backends of that document in Node and Go (S2, S3).
import { env } from 'node:process';
import { axe } from '../axe.mjs';
import { addFries, fillPickup, parts, waitForState } from '../guest.mjs';
import { use } from '../keyboard.mjs';
import { equal, must, scenario, step } from '../scenario.mjs';
import { shot } from '../shot.mjs';
import { sandbox } from '../services.mjs';

const { LARDER_SITE: site, LARDER_BACKEND_JS: node, LARDER_BACKEND_GO: go } = env;
const origins = [env.LARDER_URL, node, go].map((url) => new URL(url).origin);

await scenario({ matrix: false, origins }, async ({ open, larder }) => {
  for (const [path, to] of [['/', larder], ['/js', node], ['/go', go]]) {
    step(`${path}: the menu, with photos`);
    const { page } = await open();
    const orders = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && !request.url().endsWith('/validate')) orders.push(request.url());
    });
    const thanks = '<style>larder-order-form:not([placed]) > .thanks { display: none }</style><p slot="footer" class="thanks">Thank you!</p>';
    await page.goto(`${site}${path}?${new URLSearchParams({ old: '</larder-order-form>', new: `${thanks}</larder-order-form>` })}`);
    await parts(page).choose.waitFor();
    await page.waitForFunction(() => [...document.querySelector('larder-menu').shadowRoot.querySelectorAll('img')].some((image) => image.complete && image.naturalWidth > 0));
    if (path === '/') {
      await axe(page, 'the page of storefront.md');
      await shot(page, 'page', { full: false });
    }

    step(`${path}: an order`);
    const before = (await sandbox.orders()).length;
    await addFries(page);
    equal(await page.locator('.thanks').isVisible(), false, 'something for after the order is visible');
    await fillPickup(page);
    await use(page, parts(page).submit);
    await waitForState(page, 'placed');
    await page.locator('.thanks').waitFor();
    equal((await sandbox.orders()).length, before + 1, 'orders of the ordering service');
    equal(orders.length, 1, `requests with an order: ${orders}`);
    must(orders[0].startsWith(to), `the order went to ${orders[0]}, want ${to}`);

    step(`${path}: the basket bar shows the order for 3 hours`);
    const bar = page.locator('larder-menu [part=basket-bar]');
    equal(await bar.evaluate((element) => element.hidden), false, 'the bar is hidden after the order');
    await page.evaluate(() => {
      const [name, text] = Object.entries(localStorage).find(([key]) => /^larder:order:(?!.*:noted$)/.test(key));
      const order = JSON.parse(text);
      localStorage.setItem(name, JSON.stringify({ ...order, at: order.at - 3 * 3_600_000 }));
    });
    await page.reload();
    await waitForState(page, 'placed');
    await parts(page).choose.waitFor();
    equal(await bar.evaluate((element) => element.hidden), true, 'the bar is hidden after 3 hours');
    equal(orders.length, 1, 'requests with an order after a reload');
  }
});
