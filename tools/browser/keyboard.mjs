// Operation with the keyboard only. The focus must always be visible.

/** The maximum number of Tab presses to reach an element. */
const far = 300;

/** Returns the accessible name of the focused element, also in shadow roots, and whether the focus is visible. */
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
    // The focus ring may be on an element around the focused one, such as a label.
    const seen = marked(element) || marked(element.parentElement) || marked(element.nextElementSibling) || marked(element.closest?.('label'));
    const name = element.getAttribute('aria-label') ?? element.labels?.[0]?.innerText ?? element.innerText ?? '';
    return { name: `${element.localName} ${name.trim().split('\n')[0].slice(0, 60)}`, seen };
  });
}

/** Reports whether a locator's element has the focus. */
async function hasFocus(locator) {
  return (await locator.count()) > 0 && locator.first().evaluate((element) => element.getRootNode().activeElement === element);
}

/**
 * Presses Tab (or Shift+Tab) until the locator's element has the focus. Fails if
 * it is never reached, or if the focus is invisible on the way.
 */
export async function tabTo(page, locator, { back = false, within = far } = {}) {
  const way = [];
  for (let i = 0; i < within; i++) {
    if (await hasFocus(locator)) return way;
    await page.keyboard.press(back ? 'Shift+Tab' : 'Tab');
    const { name, seen } = await focused(page);
    way.push(name);
    if (!seen) throw new Error(`the focus is not visible on: ${name}`);
  }
  throw new Error(`${locator} is not reached with the keyboard; the focus was on\n  ${way.slice(0, 60).join('\n  ')}`);
}

/** Moves the focus to an element and presses a key: Enter, or Space for a checkbox. */
export async function use(page, locator, key = 'Enter', options = {}) {
  await tabTo(page, locator, options);
  await page.keyboard.press(key);
}

/** Moves the focus to a field and replaces its text. */
export async function fill(page, locator, text, options = {}) {
  await tabTo(page, locator, options);
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type(text);
}
