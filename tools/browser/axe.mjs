// Accessibility, as far as a program can judge it: axe-core's whole set of
// rules, shadow roots included.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Fails when axe-core finds anything against the page as it is now. */
export async function axe(page, state = 'the page') {
  // Evaluated from outside, so that the page's own policy stays as it is.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(source);
  // Contrast is judged after transitions end. An endless animation is not waited for.
  await page.evaluate(() => Promise.race([
    Promise.allSettled(document.getAnimations().filter((one) => one.effect?.getComputedTiming().endTime !== Infinity).map((one) => one.finished)),
    new Promise((resolve) => setTimeout(resolve, 2000)),
  ]));
  const { violations, passes } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  if (passes.length === 0) throw new Error(`axe has looked at nothing on ${state}`);
  if (violations.length === 0) return;
  const lines = violations.flatMap((v) => v.nodes.map((node) => `${v.id} (${v.impact}): ${v.help}\n    ${node.target.flat().join(' >>> ')}\n    ${node.html.slice(0, 160)}\n    ${(node.failureSummary ?? '').replaceAll('\n', '\n    ')}`));
  throw new Error(`${state} is not accessible:\n  ${lines.join('\n  ')}`);
}
