// Opens a dish of a menu of 400 dishes at once, and counts the dishes and photos that come before it. `make browser`
// measures when the first dish of the HTML menu, the first card and an open dish are visible, with a quarter of the
// processor's speed.
import { env } from 'node:process';
import { slowdown, thorough } from '../matrix.mjs';
import { equal, must, scenario, step } from '../scenario.mjs';

/**
 * The longest time until the dish is open, in milliseconds, at a quarter of the
 * speed. The goal is 1,000 on an idle machine: set LARDER_OPEN_WITHIN=1000 to test
 * it. The default is higher, because other programs run at the same time.
 */
const longest = thorough ? Number(env.LARDER_OPEN_WITHIN ?? 6_000) : Infinity;

/**
 * The longest time until the first dish is visible with its link, which opens it as soon as the
 * menu is loaded. The goal is 800 on an idle machine: LARDER_FIRST_WITHIN=800.
 */
const longestFirst = thorough ? Number(env.LARDER_FIRST_WITHIN ?? 3_000) : Infinity;

/** The maximum number of dishes that are built before the first one can be opened. */
const mostFirst = 40;

/** The maximum number of attempts. One must succeed, because other programs share the machine. */
const tries = 5;

/**
 * Runs in the page: opens the first dish with options as soon as it exists. Reports when the link to the
 * first dish of the HTML menu, the first card and the opened dish were visible, and which photos were
 * requested before the card. What exists in one frame is visible when the next one begins.
 */
function opener() {
  const times = {};
  let early;
  const frame = () => {
    const root = document.querySelector('larder-menu')?.shadowRoot;
    const exists = {
      html: document.querySelector('larder-menu li a[href^="#dish="]')?.getBoundingClientRect().height > 0,
      card: root?.querySelector('button[part=add]'),
      dialog: root?.querySelector('dialog[open]'),
    };
    for (const [name, there] of Object.entries(exists)) {
      if (!there) continue;
      times[name] ??= 0;
      requestAnimationFrame((now) => { times[name] ||= now; });
    }
    if (exists.card) early ??= performance.getEntriesByType('resource').filter(({ initiatorType }) => initiatorType === 'img').map(({ name }) => name);
    if (times.dialog) {
      globalThis.larderOpened(JSON.stringify({ ...times, early, first: globalThis.first }));
      return;
    }
    const button = root?.querySelector('button[part=add]:not(:disabled)[aria-label^="Choose"]');
    if (button && !exists.dialog) {
      globalThis.first ??= root.querySelectorAll('[part=card]').length;
      button.click();
    }
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}

await scenario({ size: 'phone', matrix: false }, async ({ open, larder }) => {
  const best = { html: Infinity, dialog: Infinity };
  for (let i = 0; i < tries && !(best.html < longestFirst && best.dialog < longest); i++) {
    const { page, context } = await open({ size: 'phone' });
    // Only the protocol is used, because Playwright's own scripts in the page take time too.
    const client = await context.newCDPSession(page);
    await client.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
    await client.send('Runtime.enable');
    await client.send('Runtime.addBinding', { name: 'larderOpened' });
    const opened = new Promise((resolve) => { client.on('Runtime.bindingCalled', ({ name, payload }) => name === 'larderOpened' && resolve(JSON.parse(payload))); });
    await page.addInitScript(opener);
    await page.goto(`${larder}/`, { waitUntil: 'commit' });
    // The components may replace the HTML menu before a frame shows it: then the first dish is visible with the first card.
    const { card, dialog, early, first, html = card } = await opened;
    best.html = Math.min(best.html, html);
    best.dialog = Math.min(best.dialog, dialog);
    step(`visible: the HTML menu after ${html.toFixed(0)} ms, the first card after ${card.toFixed(0)} ms, an open dish after ${dialog.toFixed(0)} ms; ${first} dishes were built by then`);
    must(first <= mostFirst, `${first} dishes are built before the first can be opened, want at most ${mostFirst}`);
    equal(early, [], 'photos that are loaded before the first card');
    await client.send('Emulation.setCPUThrottlingRate', { rate: 1 });
    await page.waitForFunction(() => document.querySelector('larder-menu').shadowRoot.querySelectorAll('[part=card]').length === 400);
    await page.close();
  }
  must(best.html < longestFirst, `the best of ${tries} attempts needs ${best.html.toFixed(0)} ms to show the first dish, want less than ${longestFirst} ms`);
  must(best.dialog < longest, `the best of ${tries} attempts needs ${best.dialog.toFixed(0)} ms to open a dish, want less than ${longest} ms`);
});
