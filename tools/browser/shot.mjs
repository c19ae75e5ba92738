// Pictures of pages, for people to look at: LARDER_SCREENSHOTS/<scenario>/<name>.png.
import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { argv, env } from 'node:process';

/** The sizes of windows that pages are looked at in. */
export const sizes = {
  narrow: { width: 320, height: 640 },
  phone: { width: 390, height: 844 },
  desktop: { width: 1280, height: 800 },
};

/** The scenario's name, that of its file. */
const title = basename(argv[1], '.mjs');

/** The looks that every page is pictured in. */
export const looks = [
  { name: 'desktop-light', size: 'desktop', dark: false, dir: 'ltr' },
  { name: 'desktop-dark', size: 'desktop', dark: true, dir: 'ltr' },
  { name: 'phone-light', size: 'phone', dark: false, dir: 'ltr' },
  { name: 'phone-rtl', size: 'phone', dark: false, dir: 'rtl' },
  { name: 'narrow-dark', size: 'narrow', dark: true, dir: 'ltr' },
];

/** Keeps one picture of the page as it is, and gives its path. */
export async function shot(page, name, { full = true } = {}) {
  const folder = join(env.LARDER_SCREENSHOTS, title);
  await mkdir(folder, { recursive: true });
  const path = join(folder, `${name}.png`);
  await page.screenshot({ path, fullPage: full, animations: 'disabled' });
  return path;
}

/**
 * Pictures the page in every look, and leaves it as it was. Fails where it has
 * to be scrolled sideways: at 320 px too nothing may stick out (WCAG 1.4.10).
 * `each` is called with the look while the page wears it, say to run axe.
 */
export async function everyLook(page, name, { each = async () => {}, full = true, only = looks.map((look) => look.name) } = {}) {
  const before = page.viewportSize();
  const dir = await page.evaluate(() => document.documentElement.dir);
  for (const look of looks.filter((l) => only.includes(l.name))) {
    await page.setViewportSize(sizes[look.size]);
    await page.emulateMedia({ colorScheme: look.dark ? 'dark' : 'light' });
    await page.evaluate((value) => { document.documentElement.dir = value; }, look.dir);
    const out = await page.evaluate(() => Math.max(...[document.documentElement, ...document.querySelectorAll('main > *')].map((e) => e.scrollWidth - e.clientWidth)));
    await shot(page, `${name}-${look.name}`, { full });
    if (out > 0) throw new Error(`${name}, ${look.name}: sticks out sideways by ${out} px`);
    await each(look);
  }
  await page.setViewportSize(before);
  await page.emulateMedia({ colorScheme: null });
  await page.evaluate((value) => { document.documentElement.dir = value; }, dir);
}
