// Accessibility checks with all rules of axe-core, including shadow roots.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { thorough } from './matrix.mjs';
import { shot } from './shot.mjs';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Fails if axe-core finds a violation on the page. `make browser` keeps a screenshot of the state. */
export async function axe(page, state = 'the page') {
  // Evaluated by the browser's protocol, so that the page's own policy stays unchanged.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(source);
  // Contrast is checked after transitions have ended. Endless animations are ignored.
  await page.evaluate(() => Promise.race([
    Promise.allSettled(document.getAnimations().filter((one) => one.effect?.getComputedTiming().endTime !== Infinity).map((one) => one.finished)),
    new Promise((resolve) => setTimeout(resolve, 2000)),
  ]));
  if (thorough) await shot(page, state, { full: false });
  const { violations, passes } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  if (passes.length === 0) throw new Error(`axe has checked nothing on ${state}`);
  if (violations.length === 0) return;
  const lines = violations.flatMap((v) => v.nodes.map((node) => `${v.id} (${v.impact}): ${v.help}\n    ${node.target.flat().join(' >>> ')}\n    ${node.html.slice(0, 160)}\n    ${(node.failureSummary ?? '').replaceAll('\n', '\n    ')}`));
  throw new Error(`${state} is not accessible:\n  ${lines.join('\n  ')}`);
}
