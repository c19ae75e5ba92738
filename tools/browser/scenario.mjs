// The framework of scenarios: one browser and pages that are checked (guard.mjs).
// A scenario is a file that calls `scenario` once. The Go tests TestBrowser… of
// cmd/larder start the instances that it visits, and run the file.
//
// Environment variables: LARDER_BROWSER, the browser to start;
// LARDER_SCREENSHOTS, the folder of screenshots; LARDER_URL and LARDER_SANDBOX,
// the addresses of larder and of its sandbox; LARDER_THOROUGH and
// LARDER_COMBINATIONS (matrix.mjs).
import { env, exit, getuid } from 'node:process';
import { chromium } from 'playwright-core';
import { guard } from './guard.mjs';
import { useInput } from './input.mjs';
import { combination, combinations, enter } from './matrix.mjs';
import { shot, sizes } from './shot.mjs';

/** Stops what browsers send by themselves, in addition to Playwright's own flags. */
const quiet = ['--disable-quic', '--disable-domain-reliability', '--disable-component-update', '--disable-background-networking', '--disable-sync', '--no-first-run', '--no-pings'];

/** The longest wait for one condition, in milliseconds. */
const timeout = 60_000;

/** Prints the current step of a scenario. It is shown if the scenario fails. */
export function step(text) {
  console.log(`${(performance.now() / 1000).toFixed(1).padStart(6)} s  ${text}`);
}

/** Fails the scenario unless ok. */
export function must(ok, message) {
  if (!ok) throw new Error(message);
}

/** Fails the scenario unless both values have the same JSON. */
export function equal(got, want, what) {
  const [a, b] = [JSON.stringify(got), JSON.stringify(want)];
  must(a === b, `${what}: got ${a}, want ${b}`);
}

/** Calls is() until its result is true, and returns this result. */
export async function eventually(is, what, limit = timeout) {
  const end = performance.now() + limit;
  for (;;) {
    const got = await is();
    if (got) return got;
    must(performance.now() < end, `${what}: not within ${limit / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 50)); //testwaits:allow the time between two looks
  }
}

/**
 * Runs one scenario and ends the process with status 0, or with 1 and the error.
 * `run` gets `{ page, context, browser, open, larder, sandbox }`: `page` is
 * checked by guard.mjs. `open` opens another checked page with its own options
 * and returns `{ page, context, problems }`.
 *
 * Options: `size` ('desktop'), `dark`, `locale` ('en'), `motion` (false: reduced
 * motion), `scripts` (true), `images` (other origins that images may come from),
 * `origins` (other origins that all requests may go to),
 * `expected` (patterns of the problems of guard.mjs that the scenario causes), `matrix` (matrix.mjs).
 *
 * `make browser` runs it once for each combination. Options of `open` have priority over the
 * combination, which has priority over options of the scenario.
 */
export async function scenario(options, run) {
  const browser = await chromium.launch({
    executablePath: env.LARDER_BROWSER,
    args: [...quiet, ...(getuid?.() === 0 ? ['--no-sandbox'] : [])],
  });
  const failed = [];
  for (const one of combinations(options)) {
    enter(one);
    if (one) step(`=== ${one.name}`);
    if (!await once(browser, { ...options, ...one }, run)) failed.push(one?.name ?? 'the scenario');
  }
  await browser.close();
  if (failed.length === 0) return;
  console.error(`failed: ${failed.join(', ')}`);
  exit(1);
}

/** Runs a scenario in the present combination and reports whether it succeeds. */
async function once(browser, options, run) {
  const opened = [];
  const open = async (more = {}) => {
    const one = await visit(browser, { ...options, ...more });
    opened.push(one);
    return one;
  };
  try {
    const first = await open();
    await run({ ...first, browser, open, larder: env.LARDER_URL, sandbox: env.LARDER_SANDBOX });
    for (const { problems } of opened) await problems.check();
    step('done');
    return true;
  } catch (error) {
    for (const { page, problems } of opened) {
      step(`open: ${page.url()}`);
      for (const line of problems.all) step(`problem: ${line}`);
    }
    await picture(opened);
    console.error(error);
    return false;
  } finally {
    await Promise.allSettled(opened.map(({ context }) => leave(context)));
  }
}

/** Closes a context. A route whose handler still runs would fail with the error that its page is closed. */
async function leave(context) {
  await Promise.allSettled(context.pages().map((page) => page.unrouteAll({ behavior: 'ignoreErrors' })));
  await context.close();
}

async function visit(browser, options) {
  const context = await browser.newContext({
    viewport: sizes[options.size ?? 'desktop'],
    colorScheme: options.dark ? 'dark' : 'light',
    reducedMotion: options.motion ? 'no-preference' : 'reduce',
    locale: options.locale ?? 'en',
    javaScriptEnabled: options.scripts ?? true,
    hasTouch: combination ? combination.input === 'touch' : (options.size ?? 'desktop') !== 'desktop',
    serviceWorkers: 'block',
  });
  context.setDefaultTimeout(timeout);
  const problems = await guard(context, options);
  if (options.dir === 'rtl') await context.addInitScript(rightToLeft);
  const page = await context.newPage();
  await problems.ready();
  useInput(page);
  return { context, problems, page };
}

/** Runs in the page: sets its direction before it is shown. */
function rightToLeft() {
  new MutationObserver(() => {
    if (document.documentElement && document.documentElement.dir !== 'rtl') document.documentElement.dir = 'rtl';
  }).observe(document, { childList: true });
}

/** Stores screenshots of the pages after a failure. */
async function picture(opened) {
  for (const [i, { page }] of opened.entries()) {
    try {
      step(`screenshot ${await shot(page, `failed-${i + 1}`, { full: false, failure: true })}`);
    } catch (error) {
      step(`no screenshot: ${error.message.split('\n')[0]}`);
    }
  }
}
