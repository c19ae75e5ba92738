// Accessibility checks with all rules of axe-core, including shadow roots.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { combination, everything, thorough } from './matrix.mjs';
import { shot } from './shot.mjs';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** All categories of the menu after the first. Their cards are like those in it. */
const furtherCards = { fromShadowDom: ['larder-menu', '[part=category]:nth-of-type(n+2)'] };

/**
 * Fails if axe-core finds a violation on the page. Further cards take most of the time. They are checked in the
 * states with `whole`, and in all states with BROWSER_ONLY=all. `make browser` keeps a screenshot.
 */
export async function axe(page, state = 'the page', { whole = everything } = {}) {
  // Contrast is checked after transitions have ended. Endless animations are ignored.
  await page.evaluate(() => Promise.race([
    Promise.allSettled(document.getAnimations().filter((one) => one.effect?.getComputedTiming().endTime !== Infinity).map((one) => one.finished)),
    new Promise((resolve) => setTimeout(resolve, 2000)), //testwaits:allow an animation of an invisible element does not end
  ]));
  if (thorough) await shot(page, state, { full: false });
  if (combination?.axe === false) return;
  // Evaluated by the browser's protocol, so that the page's own policy stays unchanged.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(source);
  const exclude = whole ? [] : furtherCards;
  const { violations, passes } = await page.evaluate((left) => globalThis.axe.run({ include: document, exclude: left }, { resultTypes: ['violations'] }), exclude);
  if (passes.length === 0) throw new Error(`axe has checked nothing on ${state}`);
  if (violations.length === 0) return;
  const lines = violations.flatMap((v) => v.nodes.map((node) => `${v.id} (${v.impact}): ${v.help}\n    ${node.target.flat().join(' >>> ')}\n    ${node.html.slice(0, 160)}\n    ${(node.failureSummary ?? '').replaceAll('\n', '\n    ')}`));
  throw new Error(`${state} is not accessible:\n  ${lines.join('\n  ')}`);
}
