// A guest who has no mouse: everything through Tab and the keys, and always
// able to see where the focus is.

/** The most presses of Tab to reach something. */
const far = 300;

/** What has the focus, through shadow roots: its name for people, and whether that can be seen. */
export async function focused(page) {
  return page.evaluate(() => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    if (!element || element === document.body) return { name: '', seen: true };
    const marked = (e) => {
      if (!e) return false;
      const style = getComputedStyle(e);
      return (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== 'none';
    };
    // A ring may be drawn around what the focus is in, a label say.
    const seen = marked(element) || marked(element.parentElement) || marked(element.nextElementSibling) || marked(element.closest?.('label'));
    const name = element.getAttribute('aria-label') ?? element.labels?.[0]?.innerText ?? element.innerText ?? '';
    return { name: `${element.localName} ${name.trim().split('\n')[0].slice(0, 60)}`, seen };
  });
}

/** Whether a locator's element has the focus. */
async function holds(locator) {
  return (await locator.count()) > 0 && locator.first().evaluate((element) => element.getRootNode().activeElement === element);
}

/**
 * Walks with Tab (or Shift+Tab) until what the locator names has the focus.
 * Fails when it is never reached, or where the focus cannot be seen on the way.
 */
export async function walkTo(page, locator, { back = false, within = far } = {}) {
  const way = [];
  for (let i = 0; i < within; i++) {
    if (await holds(locator)) return way;
    await page.keyboard.press(back ? 'Shift+Tab' : 'Tab');
    const { name, seen } = await focused(page);
    way.push(name);
    if (!seen) throw new Error(`the focus cannot be seen on: ${name}`);
  }
  throw new Error(`${locator} is not reached by the keyboard; the way was\n  ${way.slice(0, 60).join('\n  ')}`);
}

/** Walks to a thing and presses a key on it: Enter, or Space for a box. */
export async function use(page, locator, key = 'Enter', options = {}) {
  await walkTo(page, locator, options);
  await page.keyboard.press(key);
}

/** Walks to a field and types into it in place of what it holds. */
export async function fill(page, locator, text, options = {}) {
  await walkTo(page, locator, options);
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type(text);
}
