// The combinations in which `make browser` runs the scenarios of guests, of three widths, light and
// dark, both directions, and touch, mouse or keyboard. `make test` runs each scenario once.
import { env } from 'node:process';

/** Whether scenarios run in all combinations and store screenshots (LARDER_THOROUGH). */
export const thorough = Boolean(env.LARDER_THOROUGH);

/** How much slower the processor is in scenarios that measure times. In `make test`, these only run their steps. */
export const slowdown = thorough ? 4 : 1;

/** Whether nothing is left out that repeats (BROWSER_ONLY=all). */
export const everything = thorough && env.LARDER_COMBINATIONS === 'all';

/** The inputs of each width. Nobody touches a wide screen. */
const all = [
  { width: 390, size: 'phone', inputs: ['touch', 'mouse', 'keyboard'] },
  { width: 820, size: 'tablet', inputs: ['touch', 'mouse', 'keyboard'] },
  { width: 1440, size: 'wide', inputs: ['mouse', 'keyboard'] },
].flatMap(({ width, size, inputs }) => [false, true].flatMap((dark) => ['ltr', 'rtl'].flatMap((dir) => inputs.map((input) => (
  { name: `${width}-${dark ? 'dark' : 'light'}-${dir}-${input}`, size, dark, dir, input })))));

/** In these, each two of width, colours, direction and input occur together. */
const pairs = [
  '390-light-ltr-touch', '390-dark-rtl-mouse', '390-light-rtl-keyboard', '820-dark-rtl-touch',
  '820-light-ltr-mouse', '820-dark-ltr-keyboard', '1440-light-rtl-mouse', '1440-dark-ltr-keyboard',
];

/** In the others of `pairs`, each two of width, colours and direction occur together too. Axe does not depend on the input. */
const withoutAxe = ['390-light-rtl-keyboard', '820-dark-ltr-keyboard'];

/** The combination of this run. It is undefined in `make test`, and for scenarios with `matrix: false`. */
export let combination;

/** Starts a run in a combination. */
export function enter(one) {
  combination = one;
}

/**
 * Returns the combinations of a scenario. Its option `matrix` is false, or limits them: `sizes`,
 * `dirs` and `inputs`. Without LARDER_COMBINATIONS these are the combinations of `pairs`. "all" means
 * all of them, and words separated by commas those with all the words in their names, such as "390,rtl".
 * Axe runs in all of these, and in all combinations of a scenario with such limits.
 */
export function combinations({ matrix = {} }) {
  if (!thorough || matrix === false) return [undefined];
  const { sizes, dirs, inputs } = matrix;
  const only = env.LARDER_COMBINATIONS;
  const selected = (name) => (only ? only === 'all' || only.split(',').every((word) => name.includes(word)) : pairs.includes(name));
  const everywhere = Boolean(only) || Object.keys(matrix).length > 0;
  return all.filter(({ name, size, dir, input }) => selected(name)
    && (sizes?.includes(size) ?? true) && (dirs?.includes(dir) ?? true) && (inputs?.includes(input) ?? true))
    .map((one) => ({ ...one, axe: everywhere || !withoutAxe.includes(one.name) }));
}

/** Returns the sizes in which a scenario repeats its steps: that of the combination, or the first one in `make test`. */
export function repeated(sizes) {
  if (combination) return [combination.size];
  return thorough ? sizes : sizes.slice(0, 1);
}
