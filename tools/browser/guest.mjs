// Steps of a guest on larder's page: find a dish, choose its options, fill in the form.
import { pointer } from './input.mjs';
import { fill, use, tabTo } from './keyboard.mjs';
import { everything } from './matrix.mjs';
import { eventually, must } from './scenario.mjs';

export const bistro = '76439fb3-c0c4-42ca-a269-64f031a6a33b';

/** A dish of the bistro with one required sauce. */
export const fries = { id: 'dish-fries', name: 'French fries' };

/** The error responses to orders that scenarios cause. */
export const expectedErrors = [/^request failed: (409|422|429|502|503|504) (GET|POST) \S+\/v1\/(restaurants\/[^/]+\/)?orders\b/];

export const parts = (page) => ({
  choose: page.locator(`larder-menu [data-dish=${fries.id}] [aria-label^="Choose options: ${fries.name}"]`), // faster than getByRole
  dialog: page.getByRole('dialog'),
  add: page.getByRole('dialog').getByRole('button', { name: /^Add(,| for)/ }),
  line: page.locator(`larder-order-form [data-line=${fries.id}]`),
  submit: page.getByRole('button', { name: /^Order for/ }),
  outcome: page.locator('larder-order-form [data-state]'),
  name: page.locator('larder-order-form [id="f-guest.firstName"]'),
  phone: page.locator('larder-order-form [id="f-guest.phone"]'),
  way: page.locator('larder-order-form input[name=expeditionType]:checked'),
});

/** Opens the page and waits until the dish can be chosen. */
export async function openShop(page, larder) {
  await page.goto(`${larder}/`);
  await parts(page).choose.waitFor();
}

/**
 * Focuses a part of the page before Tab walks to it. Otherwise Tab passes all dishes, which takes seconds. guest.mjs
 * and russian.mjs walk the whole way, and BROWSER_ONLY=all does so in all scenarios.
 */
export async function near(locator) {
  if (!everything) await locator.first().focus();
}

/** Leaves the order form, if it is the screen of a phone. */
export async function toMenu(page) {
  const back = page.locator('#back').getByRole('button');
  if (!(await back.isVisible())) return;
  await use(page, back);
  await eventually(async () => !(await back.isVisible()), 'the menu is back');
}

/** Adds the dish to the basket with the keyboard, or with the input of the combination. */
export async function addFries(page) {
  const { choose, dialog, add, line } = parts(page);
  await toMenu(page);
  await near(choose);
  await use(page, choose);
  await dialog.waitFor();
  await use(page, dialog.locator('input[type=radio], input[type=checkbox]').first(), 'Space');
  await use(page, add);
  await line.first().waitFor();
  // The dialog leaves with history.back(), which takes a moment. A reload before that would never end.
  await eventually(() => page.evaluate(() => history.state?.larder !== true), 'the entry of the dialog is left');
}

/** Fills in the form for a pickup with the keyboard, or with the input of the combination. */
export async function fillPickup(page) {
  const { way, name, phone } = parts(page);
  if (pointer()) {
    await page.locator('larder-order-form input[name=expeditionType][value=pickup]').check();
    await eventually(async () => (await way.inputValue()) === 'pickup', 'pickup is chosen'); // a tap becomes a click later
  } else {
    await near(way);
    await tabTo(page, way);
    for (let i = 0; i < 2 && (await way.inputValue()) !== 'pickup'; i++) await page.keyboard.press('ArrowDown');
    must((await way.inputValue()) === 'pickup', 'pickup cannot be chosen with the keyboard');
  }
  await fill(page, name, 'Ada');
  await fill(page, phone, '+10005550100');
}

/** Waits for a state of the order, such as "placed". */
export async function waitForState(page, state) {
  const { outcome } = parts(page);
  await eventually(async () => (await outcome.getAttribute('data-state')) === state, `the order is ${state}`);
}
