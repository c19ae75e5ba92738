// Each of 5,000 dishes can be reached: with a link, the search, a category, and by scrolling. This does not need all
// cards: they are built later. In `make browser` within 10 s, with a quarter of the processor's speed.
import { slowdown, thorough } from '../matrix.mjs';
import { equal, must, scenario, step } from '../scenario.mjs';

/** The longest time after the navigation begins, in milliseconds. */
const within = thorough ? 10_000 : Infinity;

/** The maximum number of attempts. One must succeed, because other programs share the machine. */
const tries = 3;

/** Runs in the page: the time when the dialog of a dish is open and complete. */
const opened = (name) => {
  const dialog = document.querySelector('larder-menu')?.shadowRoot?.querySelector('dialog[open]');
  return dialog?.querySelector('[part=dish-name]')?.textContent === name && dialog.querySelector('[part=dish-price]') && performance.now();
};

/** Runs in the page: the time when the card of a dish is in the window. */
const found = (id) => {
  const { top = 0, bottom = 0 } = document.querySelector('larder-menu').shadowRoot.querySelector(`[data-dish="${id}"]`)?.getBoundingClientRect() ?? {};
  return bottom > top && top >= 0 && bottom <= innerHeight && performance.now();
};

/** Runs in the page: the time when the window shows complete cards, apart from a heading and the spaces between them. */
const shown = () => {
  const { shadowRoot } = document.querySelector('larder-menu');
  const top = shadowRoot.querySelector('.head').getBoundingClientRect().bottom;
  const cards = Array.from({ length: 10 }, (_, i) => shadowRoot.elementFromPoint(innerWidth / 2, top + (innerHeight - top) * (i + 0.5) / 10)?.closest('[part=card]'));
  return cards.filter((card) => card?.querySelector('[part=price]').textContent).length >= 7 && performance.now();
};

/** Runs in the page: the time when the list has this number of cards. */
const complete = (number) => {
  const lists = [...document.querySelector('larder-menu').shadowRoot.querySelectorAll('.dishes')];
  return lists.reduce((sum, list) => sum + list.childElementCount, 0) === number && performance.now();
};

await scenario({ size: 'phone', matrix: false }, async ({ open, larder }) => {
  const read = async (path) => (await (await fetch(larder + path)).json()).result;
  const [{ id: restaurant }] = await read('/v1/restaurants');
  const { categories, products } = await read(`/v1/restaurants/${restaurant}/menu`);
  const cards = products.reduce((sum, { categoryIds }) => sum + Math.max(1, categoryIds.length), 0);
  const last = products.findLast(({ categoryIds }) => categoryIds.includes(categories.at(-1).id));
  equal(products.length, 5_000, 'dishes');

  const ways = {
    async link(page, when) {
      await page.goto(`${larder}/#dish=${encodeURIComponent(last.id)}`, { waitUntil: 'commit' });
      return { 'the link to the last dish': await when(opened, last.name) };
    },
    async search(page, when) {
      await page.goto(`${larder}/`, { waitUntil: 'commit' });
      await page.locator('larder-menu [part=search]').fill(last.name);
      return { 'the last dish in the search': await when(found, last.id) };
    },
    async list(page, when) {
      await page.goto(`${larder}/`, { waitUntil: 'commit' });
      const link = page.locator('larder-menu [part=category-link]').last();
      await link.tap();
      await page.locator('larder-menu [part=category-link][aria-current]', { hasText: await link.innerText() }).waitFor();
      const category = await when(shown);
      const scrolled = async (part) => {
        await page.evaluate((at) => {
          const { top, bottom } = document.querySelector('larder-menu').getBoundingClientRect();
          scrollTo({ top: scrollY + top + (bottom - top) * at - innerHeight, behavior: 'instant' });
        }, part);
        return when(shown);
      };
      const times = { 'the last category': category, 'the middle': await scrolled(0.5), 'the end': await scrolled(1) };
      step(`all cards: after ${(await when(complete, cards) / 1000).toFixed(1)} s`);
      return times;
    },
  };
  for (const [way, visit] of Object.entries(ways)) {
    let slow = null;
    for (let i = 0; i < tries && slow?.length !== 0; i++) {
      const { page, context } = await open({ size: 'phone' });
      const client = await context.newCDPSession(page);
      await client.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
      const times = await visit(page, async (is, value) => (await page.waitForFunction(is, value, { polling: 100 })).jsonValue());
      for (const [what, time] of Object.entries(times)) step(`${what}: after ${(time / 1000).toFixed(1)} s`);
      slow = Object.keys(times).filter((what) => times[what] > within);
      await client.send('Emulation.setCPUThrottlingRate', { rate: 1 });
      await page.close();
    }
    must(slow.length === 0, `${way}: not within ${within / 1000} s in ${tries} attempts: ${slow.join(', ')}`);
  }
});
