// The input of a combination. Scenarios call tap, click and check of locators, or the functions
// of keyboard.mjs. All of them use the input of the combination, if there is one.
import { combination, everything } from './matrix.mjs';

let original;

/** Makes tap, click and check of all locators use the input of the combination. */
export function useInput(page) {
  if (original) return;
  const locators = Object.getPrototypeOf(page.locator('body'));
  original = { tap: locators.tap, click: locators.click, check: locators.check };
  for (const name of ['tap', 'click']) {
    locators[name] = function press(options) {
      return activate(this, name, options);
    };
  }
  locators.check = async function check(options) {
    if (!combination) return original.check.call(this, options);
    if (!(await this.isChecked())) await activate(this, 'click', options);
  };
}

/** Activates an element with the input of the combination, or with `otherwise`. */
async function activate(locator, otherwise, options) {
  const input = combination?.input;
  if (pointer()) await settled(locator);
  if (input === 'touch') return original.tap.call(locator, options);
  if (input === 'mouse') return original.click.call(locator, options);
  // A target without a Tab stop, such as the photo of a card, is only for pointers.
  const key = input === 'keyboard' && await keyOf(locator);
  if (!key) return original[input ? 'click' : otherwise].call(locator, options);
  const { tabTo } = await import('./keyboard.mjs');
  if (!everything) { // from the element before it, because Tab would pass all dishes
    await locator.focus();
    await locator.page().keyboard.press('Shift+Tab');
  }
  await tabTo(locator.page(), locator);
  await locator.page().keyboard.press(key);
}

/**
 * Scrolls to an element that is not in view, and waits until it stays in place. After a jump, cards on the way
 * get their real heights. Playwright waits two frames only, and on a busy machine the pointer then meets a card.
 */
async function settled(locator) {
  const place = () => locator.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return { top, inside: top >= 0 && bottom <= innerHeight };
  });
  let { top, inside } = await place();
  for (let i = 0; i < 20 && !inside; i++) {
    await locator.scrollIntoViewIfNeeded().catch(() => {}); // it was drawn again
    await locator.page().waitForTimeout(200); //testwaits:allow the time between two looks
    const next = await place();
    inside = next.top === top;
    top = next.top;
  }
}

/**
 * Activates the button of the basket bar. With the keyboard, Tab can pass it: if the form is in view when the
 * focus is on the last dish, there is no bar, and Tab goes on to the form.
 */
export async function pressBar(button) {
  if (combination?.input === 'keyboard') {
    await button.focus();
    await button.page().keyboard.press('Enter');
  } else {
    await activate(button, await button.evaluate(() => navigator.maxTouchPoints > 0) ? 'tap' : 'click');
  }
}

/** Returns the key that activates an element, or '' if Tab does not reach it. It waits for the element. */
async function keyOf(locator) {
  await locator.waitFor();
  return locator.evaluate((element) => {
    if (element.tabIndex < 0 || element.disabled) return '';
    return /^(radio|checkbox)$/.test(element.type) ? 'Space' : 'Enter';
  });
}

/** Activates an element with touch or mouse and returns true. Returns false without a combination or with the keyboard. */
export async function pressed(locator) {
  if (!pointer()) return false;
  await activate(locator.first());
  return true;
}

/** Reports whether the combination has a pointer: touch or mouse. */
export function pointer() {
  return combination !== undefined && combination.input !== 'keyboard';
}
