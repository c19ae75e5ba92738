// What every scenario stands on: one browser, one guarded page, and an end
// that is either quiet or says what was wrong. A scenario is a file of
// scenarios/ that calls `scenario` once; the Go tests TestBrowser… of
// cmd/larder start what it visits and run the file.
//
// Told by the environment: LARDER_BROWSER, the program to start;
// LARDER_SCREENSHOTS, the folder of pictures; LARDER_URL and LARDER_KITCHEN,
// the addresses of larder and of its sandbox.
import { env, exit, getuid } from 'node:process';
import { chromium } from 'playwright-core';
import { guard } from './guard.mjs';
import { shot, sizes } from './shot.mjs';

/** The longest wait for one thing of a page, in milliseconds. */
const patience = 15_000;

/** Says what a scenario does now; printed when it fails. */
export function step(text) {
  console.log(`${(performance.now() / 1000).toFixed(1).padStart(6)} s  ${text}`);
}

/** Fails the scenario unless ok. */
export function must(ok, message) {
  if (!ok) throw new Error(message);
}

/** Fails the scenario unless both are the same, as JSON writes them. */
export function same(got, want, what) {
  const [a, b] = [JSON.stringify(got), JSON.stringify(want)];
  must(a === b, `${what}: got ${a}, want ${b}`);
}

/** Asks again until is() gives something true; gives that. */
export async function eventually(is, what, limit = patience) {
  const end = performance.now() + limit;
  for (;;) {
    const got = await is();
    if (got) return got;
    must(performance.now() < end, `${what}: not within ${limit / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * Runs one scenario and ends the process: status 0, or 1 and what was wrong.
 * `run` gets `{ page, context, browser, open, larder, kitchen }`: `page` is
 * guarded (guard.mjs), `open` makes a further guarded page with options of its
 * own and gives `{ page, context, heard }`.
 *
 * Options: `size` ('desktop'), `dark`, `locale` ('en'), `motion` (false: less
 * of it is asked for), `scripts` (true), `images` (origins that pictures may
 * come from besides the page's own), `expected` (patterns of console errors
 * that the scenario provokes).
 */
export async function scenario(options, run) {
  const browser = await chromium.launch({
    executablePath: env.LARDER_BROWSER,
    args: getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  const opened = [];
  const open = async (more = {}) => {
    const one = await visit(browser, { ...options, ...more });
    opened.push(one);
    return one;
  };
  try {
    const first = await open();
    await run({ ...first, browser, open, larder: env.LARDER_URL, kitchen: env.LARDER_KITCHEN });
    for (const { heard } of opened) heard.check();
    step('done');
  } catch (error) {
    for (const { page, heard } of opened) {
      step(`open: ${page.url()}`);
      for (const line of heard.all) step(`heard: ${line}`);
    }
    await picture(opened);
    console.error(error);
    await browser.close();
    exit(1);
  }
  await browser.close();
}

async function visit(browser, options) {
  const context = await browser.newContext({
    viewport: sizes[options.size ?? 'desktop'],
    colorScheme: options.dark ? 'dark' : 'light',
    reducedMotion: options.motion ? 'no-preference' : 'reduce',
    locale: options.locale ?? 'en',
    javaScriptEnabled: options.scripts ?? true,
    hasTouch: (options.size ?? 'desktop') !== 'desktop',
    serviceWorkers: 'block',
  });
  context.setDefaultTimeout(patience);
  const heard = await guard(context, options);
  return { context, heard, page: await context.newPage() };
}

/** Keeps how the pages looked when the scenario failed. */
async function picture(opened) {
  for (const [i, { page }] of opened.entries()) {
    try {
      step(`kept ${await shot(page, `failed-${i + 1}`, { full: false })}`);
    } catch (error) {
      step(`no picture: ${error.message.split('\n')[0]}`);
    }
  }
}
