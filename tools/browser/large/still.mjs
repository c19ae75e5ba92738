// Nothing moves by itself: not while the menu comes in, not when photos arrive,
// not while the guest scrolls through 400 dishes; on a phone and on a desktop.
import { eventually, must, same, scenario, step } from '../scenario.mjs';

/** The most that may have moved, as Chromium counts it (cumulative layout shift). */
const most = 0.01;

/** Runs in the page: counts what moves, and what it was. */
function watch() {
  globalThis.moved = { by: 0, what: [] };
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      globalThis.moved.by += entry.value; // also after an input: nothing here is asked for by one
      globalThis.moved.what.push(...entry.sources.map(({ node, previousRect: a, currentRect: b }) => `${node?.localName ?? node?.nodeName} ${node?.getAttribute?.('part') ?? ''} y ${a.y} to ${b.y}, height ${a.height} to ${b.height}`));
    }
  }).observe({ type: 'layout-shift', buffered: true });
}

const frames = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

await scenario({}, async ({ open, larder }) => {
  for (const size of ['phone', 'desktop']) {
    step(`${size}: the page stands, then its menu comes in, its photos do not yet`);
    const { page } = await open({ size });
    await page.addInitScript(watch);
    const held = { menu: [], photos: [] };
    const letGo = async (what) => {
      const routes = held[what];
      held[what] = null;
      for (const route of routes) await route.continue();
    };
    for (const [what, path] of [['menu', '**/menu'], ['photos', '**/photos/**']]) {
      await page.route(path, (route) => (held[what] ? held[what].push(route) : route.continue()));
    }
    const moved = async (when) => {
      await frames(page);
      const { by, what } = await page.evaluate(() => globalThis.moved);
      step(`${size}: ${by.toFixed(4)} moved ${when}`);
      must(by <= most, `${size}: ${by} moved ${when}, at most ${most} may:\n  ${what.join('\n  ')}`);
    };
    await page.goto(`${larder}/`);
    await page.locator('larder-menu [part=status]', { hasText: 'Loading' }).waitFor();
    await frames(page);
    await letGo('menu');
    const cards = page.locator('larder-menu [part=card]');
    await eventually(async () => (await cards.count()) === 400, 'all dishes stand');
    await eventually(() => held.photos.length > 3, 'photos are asked for');
    await moved('until the menu stood');

    step(`${size}: photos arrive`);
    await letGo('photos');
    const first = page.locator('larder-menu img').first();
    await eventually(() => first.evaluate((img) => img.complete && img.naturalWidth > 0), 'a photo is there');
    same(await first.evaluate((img) => getComputedStyle(img).position !== 'absolute' && img.getBoundingClientRect().height > 40), true, 'the photo is seen');
    await moved('by photos');

    step(`${size}: the guest scrolls`);
    for (let i = 0; i < 12; i++) {
      await page.evaluate(() => scrollBy({ top: innerHeight * 0.8, behavior: 'instant' }));
      await frames(page);
    }
    await moved('while the guest scrolled');
    await page.close();
  }
});
