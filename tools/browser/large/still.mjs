// The layout must not shift while the menu loads, when photos arrive, or while the
// guest scrolls through 400 dishes, on a phone and on a desktop.
import { eventually, must, equal, scenario, step } from '../scenario.mjs';

/** The maximum layout shift, as Chromium counts it (cumulative layout shift). */
const most = 0.0005;

/** Runs in the page: sums the layout shifts and records their elements. */
function watch() {
  globalThis.moved = { by: 0, what: [] };
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      globalThis.moved.by += entry.value; // also after an input, because no input here changes the layout
      globalThis.moved.what.push(...entry.sources.map(({ node, previousRect: a, currentRect: b }) => `${node?.localName ?? node?.nodeName} ${node?.getAttribute?.('part') ?? ''} y ${a.y} to ${b.y}, height ${a.height} to ${b.height}`));
    }
  }).observe({ type: 'layout-shift', buffered: true });
}

const frames = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

await scenario({ matrix: false }, async ({ open, larder }) => {
  for (const size of ['phone', 'desktop']) {
    step(`${size}: the page is loaded, then its menu, without photos`);
    const { page } = await open({ size });
    await page.addInitScript(watch);
    const held = { menu: [], photos: [] };
    const release = async (what) => {
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
      step(`${size}: layout shift ${by.toFixed(4)} ${when}`);
      must(by <= most, `${size}: layout shift ${by} ${when}, want at most ${most}:\n  ${what.join('\n  ')}`);
    };
    await page.goto(`${larder}/`);
    await page.locator('larder-menu [part=status]', { hasText: 'Loading' }).waitFor();
    await frames(page);
    await release('menu');
    const cards = page.locator('larder-menu [part=card]');
    await eventually(async () => (await cards.count()) === 400, 'all dishes are shown');
    await eventually(() => held.photos.length > 3, 'photos are requested');
    await moved('until the menu was shown');

    step(`${size}: photos arrive`);
    await release('photos');
    const first = page.locator('larder-menu [part=card] img').first();
    await eventually(() => first.evaluate((img) => img.complete && img.naturalWidth > 0), 'a photo is loaded');
    equal(await first.evaluate((img) => getComputedStyle(img).position !== 'absolute' && img.getBoundingClientRect().height > 40), true, 'the photo is visible');
    await moved('when photos arrived');

    step(`${size}: the guest scrolls`);
    for (let i = 0; i < 12; i++) {
      await page.evaluate(() => scrollBy({ top: innerHeight * 0.8, behavior: 'instant' }));
      await frames(page);
    }
    await moved('while the guest scrolled');
    await page.close();
  }
});
