// Operation with the keyboard only. The focus must always be visible. In a combination with
// touch or mouse, the functions use these.
import { pointer, pressed } from './input.mjs';

/** The maximum number of Tab presses to reach an element. */
const far = 300;

/** Returns the accessible name of the focused element, also in shadow roots, and whether the focus is visible. */
export async function focused(page) {
  const { name, seen } = await page.evaluate(look, null);
  return { name, seen };
}

/** Runs in the page: describes the focus, whether it is at the target, and whether the target has left the page. */
function look(target) {
  const gone = !target?.isConnected;
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  if (!element || element === document.body) return { name: '', seen: true, there: false, gone };
  const marked = (e) => {
    if (!e) return false;
    const style = getComputedStyle(e);
    return (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== 'none';
  };
  // The focus ring may be on an element around the focused one, such as a label.
  const seen = marked(element) || marked(element.parentElement) || marked(element.nextElementSibling) || marked(element.closest?.('label'));
  const name = element.getAttribute('aria-label') ?? element.labels?.[0]?.innerText ?? element.innerText ?? '';
  return { name: `${element.localName} ${name.trim().split('\n')[0].slice(0, 60)}`, seen, there: element === target, gone };
}

/**
 * Presses Tab (or Shift+Tab) until the locator's element has the focus. Fails if
 * it is never reached, or if the focus is invisible on the way.
 */
export async function tabTo(page, locator, { back = false, within = far } = {}) {
  const way = [];
  if (pointer()) {
    await locator.first().focus();
    return way;
  }
  let target = null; // kept, because many locators search the whole page
  for (let i = 0; i < within; i++) {
    let at = await page.evaluate(look, target);
    if (at.gone) {
      [target = null] = await locator.elementHandles();
      if (target) at = await page.evaluate(look, target);
    }
    if (i > 0) {
      way.push(at.name);
      if (!at.seen) throw new Error(`the focus is not visible on: ${at.name}`);
    }
    if (at.there) return way;
    await page.keyboard.press(back ? 'Shift+Tab' : 'Tab');
  }
  throw new Error(`${locator} is not reached with the keyboard; the focus was on\n  ${way.join('\n  ')}`);
}

/** Moves the focus to an element and presses a key: Enter, or Space for a checkbox. */
export async function use(page, locator, key = 'Enter', options = {}) {
  if (await pressed(locator)) return;
  await tabTo(page, locator, options);
  await page.keyboard.press(key);
}

/** Moves the focus to a field and replaces its text. */
export async function fill(page, locator, text, options = {}) {
  if (!await pressed(locator)) await tabTo(page, locator, options);
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type(text);
}
