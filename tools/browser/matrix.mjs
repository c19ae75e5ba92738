// The combinations in which `make browser` runs the scenarios of guests: three widths, light and
// dark, both directions, and touch, mouse or keyboard. `make test` runs each scenario once.
import { env } from 'node:process';

/** Whether scenarios run in all combinations and store screenshots (LARDER_THOROUGH). */
export const thorough = Boolean(env.LARDER_THOROUGH);

/** The inputs of each width. Nobody touches a wide screen. */
const all = [
  { width: 390, size: 'phone', inputs: ['touch', 'mouse', 'keyboard'] },
  { width: 820, size: 'tablet', inputs: ['touch', 'mouse', 'keyboard'] },
  { width: 1440, size: 'wide', inputs: ['mouse', 'keyboard'] },
].flatMap(({ width, size, inputs }) => [false, true].flatMap((dark) => ['ltr', 'rtl'].flatMap((dir) => inputs.map((input) => (
  { name: `${width}-${dark ? 'dark' : 'light'}-${dir}-${input}`, size, dark, dir, input })))));

/** The combination of this run. It is undefined in `make test`, and for scenarios with `matrix: false`. */
export let combination;

/** Starts a run in a combination. */
export function enter(one) {
  combination = one;
}

/**
 * Returns the combinations of a scenario. Its option `matrix` is false, or limits them: `sizes`,
 * `dirs` and `inputs`. LARDER_COMBINATIONS limits them too: words separated by commas, which all
 * occur in the name, such as "390,rtl".
 */
export function combinations({ matrix = {} }) {
  if (!thorough || matrix === false) return [undefined];
  const { sizes, dirs, inputs } = matrix;
  const words = (env.LARDER_COMBINATIONS ?? '').split(',');
  return all.filter(({ name, size, dir, input }) => words.every((word) => name.includes(word))
    && (sizes?.includes(size) ?? true) && (dirs?.includes(dir) ?? true) && (inputs?.includes(input) ?? true));
}

/** Returns the sizes in which a scenario repeats its steps: that of the combination, or the first one in `make test`. */
export function repeated(sizes) {
  if (combination) return [combination.size];
  return thorough ? sizes : sizes.slice(0, 1);
}
