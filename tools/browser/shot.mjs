// Screenshots of pages for people: LARDER_SCREENSHOTS/<scenario>/<name>.png, and with a
// combination LARDER_SCREENSHOTS/<scenario>/<combination>/<number>-<name>.png.
import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { argv, env } from 'node:process';
import { combination, thorough } from './matrix.mjs';

/** The window sizes of screenshots. */
export const sizes = {
  narrow: { width: 320, height: 640 },
  phone: { width: 390, height: 844 },
  tablet: { width: 820, height: 1180 },
  desktop: { width: 1280, height: 800 },
  wide: { width: 1440, height: 900 },
};

/** The scenario's name is the name of its file. */
const title = basename(argv[1], '.mjs');

/** The variants of the screenshots of every page. `make test` uses the last of them. */
export const variants = [
  { name: 'desktop-light', size: 'desktop', dark: false, dir: 'ltr' },
  { name: 'desktop-dark', size: 'desktop', dark: true, dir: 'ltr' },
  { name: 'phone-light', size: 'phone', dark: false, dir: 'ltr' },
  { name: 'phone-rtl', size: 'phone', dark: false, dir: 'rtl' },
  { name: 'narrow-dark', size: 'narrow', dark: true, dir: 'ltr' },
];

/** The number of screenshots in each folder. */
const taken = new Map();

/** Stores a screenshot of the page and returns its path. `make test` stores only pictures of failures. */
export async function shot(page, name, { full = true, failure = false } = {}) {
  if (!thorough && !failure) return '';
  const folder = join(env.LARDER_SCREENSHOTS, title, combination?.name ?? '');
  await mkdir(folder, { recursive: true });
  const number = (taken.get(folder) ?? 0) + 1;
  taken.set(folder, number);
  const path = join(folder, `${combination ? `${String(number).padStart(2, '0')}-` : ''}${name.replaceAll(/[^\w-]+/g, '-')}.png`);
  await page.screenshot({ path, fullPage: full && !combination, animations: 'disabled' });
  return path;
}

/** Fails if the page has to be scrolled horizontally. A line of buttons that scrolls by itself is allowed. */
async function fits(page, name) {
  const out = await page.evaluate(() => Math.max(...[document.documentElement, ...document.querySelectorAll('main > *')]
    .filter((e) => getComputedStyle(e).overflowX !== 'auto').map((e) => e.scrollWidth - e.clientWidth)));
  if (out <= 0) return;
  const wide = await page.evaluate(() => [...document.querySelectorAll('main *')].filter((e) => e.getBoundingClientRect().right > innerWidth)
    .map((e) => `${e.localName}.${e.className} ${e.textContent.trim().slice(0, 40)}`).slice(-5));
  throw new Error(`${name}: overflows horizontally by ${out} px: ${wide.join('; ')}`);
}

/**
 * Stores a screenshot of the page in every variant and restores the page. Fails if
 * the page has to be scrolled horizontally, also at 320 px (WCAG 1.4.10). `each` is
 * called in every variant, for example to run axe. `make test` uses one variant, the last of them.
 * In a combination, the page stays as it is, and axe.mjs stores the screenshot.
 */
export async function everyVariant(page, name, { each, full = true, only = variants.map((variant) => variant.name) } = {}) {
  if (combination) {
    await fits(page, `${name}, ${combination.name}`);
    await each?.(combination);
    return;
  }
  const before = page.viewportSize();
  const dir = await page.evaluate(() => document.documentElement.dir);
  const chosen = variants.filter(({ name: one }) => only.includes(one));
  for (const variant of thorough ? chosen : chosen.slice(-1)) {
    await page.setViewportSize(sizes[variant.size]);
    await page.emulateMedia({ colorScheme: variant.dark ? 'dark' : 'light' });
    await page.evaluate((value) => { document.documentElement.dir = value; }, variant.dir);
    await shot(page, `${name}-${variant.name}`, { full });
    await fits(page, `${name}, ${variant.name}`);
    await each?.(variant);
  }
  await page.setViewportSize(before);
  await page.emulateMedia({ colorScheme: null });
  await page.evaluate((value) => { document.documentElement.dir = value; }, dir);
}
