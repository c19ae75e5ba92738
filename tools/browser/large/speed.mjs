// A menu of 400 dishes, on a processor four times slower: how long until a
// guest has a dish open before him.
import { env } from 'node:process';
import { must, scenario, step } from '../scenario.mjs';

/**
 * The longest time to the open dish, in milliseconds, at a quarter of the speed.
 * The goal is 1,000 on a machine that does nothing else: LARDER_OPEN_WITHIN=1000
 * holds it to that. Among other tests only what is out of all proportion fails.
 */
const longest = Number(env.LARDER_OPEN_WITHIN ?? 6_000);

/** The most dishes that may stand before the first one can be opened: the rest comes when there is time. */
const mostFirst = 40;

/** The tries, of which the best counts: other programs share the machine. */
const tries = 5;

/** Runs in the page: opens the first dish that has options as soon as it is there, and tells when it was to be seen. */
function opener() {
  let there = 0;
  const look = () => {
    const root = document.querySelector('larder-menu')?.shadowRoot;
    const button = root?.querySelector('button[part=add]:not(:disabled)[aria-label^="Choose"]');
    if (there) return globalThis.larderOpened(JSON.stringify({ there, shown: performance.now(), first: globalThis.first }));
    if (button) {
      globalThis.first = root.querySelectorAll('[part=card]').length;
      button.click();
      if (root.querySelector('dialog[open]')) there = performance.now();
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

await scenario({ size: 'phone' }, async ({ open, larder }) => {
  const times = [];
  for (let i = 0; i < tries; i++) {
    const { page, context } = await open({ size: 'phone' });
    // By the protocol alone: what Playwright itself would run in the page takes time too.
    const client = await context.newCDPSession(page);
    await client.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    await client.send('Runtime.enable');
    await client.send('Runtime.addBinding', { name: 'larderOpened' });
    const opened = new Promise((tell) => { client.on('Runtime.bindingCalled', ({ name, payload }) => name === 'larderOpened' && tell(JSON.parse(payload))); });
    await page.addInitScript(opener);
    await page.goto(`${larder}/`, { waitUntil: 'commit' });
    const { there, shown, first } = await opened;
    times.push(shown);
    step(`a dish is open after ${there.toFixed(0)} ms and to be seen after ${shown.toFixed(0)} ms, ${first} dishes stood by then`);
    must(first <= mostFirst, `${first} dishes are built before the first can be opened, at most ${mostFirst} should be`);
    await client.send('Emulation.setCPUThrottlingRate', { rate: 1 });
    await page.waitForFunction(() => document.querySelector('larder-menu').shadowRoot.querySelectorAll('[part=card]').length === 400);
    await page.close();
  }
  const best = Math.min(...times);
  must(best < longest, `the best of ${tries} takes ${best.toFixed(0)} ms to an open dish, ${longest} ms are allowed`);
});
