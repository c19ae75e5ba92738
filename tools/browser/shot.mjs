// Screenshots of pages for people: LARDER_SCREENSHOTS/<scenario>/<name>.png.
import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { argv, env } from 'node:process';

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

/** The variants of the screenshots of every page. */
export const variants = [
  { name: 'desktop-light', size: 'desktop', dark: false, dir: 'ltr' },
  { name: 'desktop-dark', size: 'desktop', dark: true, dir: 'ltr' },
  { name: 'phone-light', size: 'phone', dark: false, dir: 'ltr' },
  { name: 'phone-rtl', size: 'phone', dark: false, dir: 'rtl' },
  { name: 'narrow-dark', size: 'narrow', dark: true, dir: 'ltr' },
];

/** Stores a screenshot of the page and returns its path. */
export async function shot(page, name, { full = true } = {}) {
  const folder = join(env.LARDER_SCREENSHOTS, title);
  await mkdir(folder, { recursive: true });
  const path = join(folder, `${name}.png`);
  await page.screenshot({ path, fullPage: full, animations: 'disabled' });
  return path;
}

/**
 * Stores a screenshot of the page in every variant and restores the page. Fails if
 * the page has to be scrolled horizontally, also at 320 px (WCAG 1.4.10). `each` is
 * called in every variant, for example to run axe.
 */
export async function everyVariant(page, name, { each = async () => {}, full = true, only = variants.map((variant) => variant.name) } = {}) {
  const before = page.viewportSize();
  const dir = await page.evaluate(() => document.documentElement.dir);
  for (const variant of variants.filter(({ name: one }) => only.includes(one))) {
    await page.setViewportSize(sizes[variant.size]);
    await page.emulateMedia({ colorScheme: variant.dark ? 'dark' : 'light' });
    await page.evaluate((value) => { document.documentElement.dir = value; }, variant.dir);
    const out = await page.evaluate(() => Math.max(...[document.documentElement, ...document.querySelectorAll('main > *')].map((e) => e.scrollWidth - e.clientWidth)));
    await shot(page, `${name}-${variant.name}`, { full });
    if (out > 0) throw new Error(`${name}, ${variant.name}: overflows horizontally by ${out} px`);
    await each(variant);
  }
  await page.setViewportSize(before);
  await page.emulateMedia({ colorScheme: null });
  await page.evaluate((value) => { document.documentElement.dir = value; }, dir);
}
