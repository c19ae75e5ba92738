// A menu of 400 dishes, on a processor four times slower: how long until a
// guest can open a dish, and nothing moves when photos arrive.
import { env } from 'node:process';
import { gzipSync } from 'node:zlib';
import { must, scenario, step } from '../scenario.mjs';

/**
 * The longest time to the open dish, in milliseconds, at a quarter of the speed.
 * The goal is 1,000 on a machine that does nothing else: LARDER_OPEN_WITHIN=1000
 * holds it to that. Among other tests only what is out of all proportion fails.
 */
const longest = Number(env.LARDER_OPEN_WITHIN ?? 10_000);

/** The tries, of which the best counts: other programs share the machine. */
const tries = 3;

await scenario({ size: 'phone' }, async ({ page, open, larder }) => {
  step('the program of the components');
  const module = await (await fetch(`${larder}/web/larder.js`, { headers: { 'Accept-Encoding': 'gzip' } })).arrayBuffer();
  const packed = gzipSync(Buffer.from(module), { level: 9 }).length;
  step(`larder.js: ${packed} bytes in gzip`);
  must(packed <= 30 * 1024, `larder.js has ${packed} bytes in gzip, more than 30 KiB`);

  step('nothing moves when photos arrive');
  await page.addInitScript(() => {
    globalThis.moved = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) globalThis.moved += entry.value;
    }).observe({ type: 'layout-shift', buffered: true });
  });
  await page.goto(`${larder}/`);
  const card = page.locator('larder-menu [part=card]');
  await card.nth(100).waitFor({ state: 'attached' });
  const before = await page.evaluate(() => globalThis.moved);
  await page.locator('larder-menu img').first().evaluate((img) => img.decode());
  await card.nth(10).scrollIntoViewIfNeeded();
  await page.locator('larder-menu [part=card]').nth(10).locator('img').evaluate((img) => img.decode());
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const after = await page.evaluate(() => globalThis.moved);
  step(`layout shift: ${before.toFixed(4)} until the menu stands, ${(after - before).toFixed(4)} by photos`);
  must(after - before < 0.001, `photos move the page by ${after - before}`);

  const times = [];
  for (let i = 0; i < tries; i++) {
    const one = await open({ size: 'phone' });
    const client = await one.context.newCDPSession(one.page);
    await client.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    await one.page.addInitScript(() => {
      // The first dish that can be chosen is opened as soon as it is there.
      const look = () => {
        const button = document.querySelector('larder-menu')?.shadowRoot?.querySelector('button[part=add]:not(:disabled)[aria-label^="Choose"]');
        const dialog = document.querySelector('larder-menu')?.shadowRoot?.querySelector('dialog[open]');
        if (dialog) globalThis.opened = performance.now();
        else {
          button?.click();
          requestAnimationFrame(look);
        }
      };
      requestAnimationFrame(look);
    });
    await one.page.goto(`${larder}/`, { waitUntil: 'commit' });
    await one.page.waitForFunction(() => globalThis.opened);
    times.push(await one.page.evaluate(() => globalThis.opened));
    const dishes = await one.page.locator('larder-menu [part=card]').count();
    must(dishes > 0, 'there are dishes');
    step(`a dish is open after ${times.at(-1).toFixed(0)} ms`);
    await one.page.close();
  }
  const best = Math.min(...times);
  must(best < longest, `the best of ${tries} takes ${best.toFixed(0)} ms to an open dish, ${longest} ms are allowed`);
});
