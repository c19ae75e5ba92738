// A guest on a phone adds dishes with one tap and goes to the form with one more. Everything
// is visible where the guest has tapped.
import { axe } from '../axe.mjs';
import { pressBar } from '../input.mjs';
import { use } from '../keyboard.mjs';
import { eventually, must, equal, scenario, step } from '../scenario.mjs';
import { everyVariant, shot } from '../shot.mjs';

const soup = 'dish-tom-yum';

await scenario({ size: 'phone', matrix: { sizes: ['phone', 'tablet'] } }, async ({ page, open, larder }) => {
  const menu = page.locator('larder-menu');
  const bar = menu.locator('[part=basket-bar]');
  const card = menu.locator('[data-dish]:has([part=add]:text-is("Add"))').first();

  step('G1: without a basket there is no bar');
  await page.goto(`${larder}/`);
  await card.waitFor();
  equal(await bar.isVisible(), false, 'the bar is visible');

  step('G1: one tap adds a simple dish, and the answer is at the button and in the bar');
  const dish = menu.locator(`[data-dish="${await card.getAttribute('data-dish')}"]`).first();
  const add = dish.locator('[part=add]');
  await add.tap();
  await eventually(async () => (await dish.locator('[part=count]').innerText()) === '1', 'the card shows the amount');
  equal(await page.locator('dialog[open]').count(), 0, 'open dialogs');
  equal(await add.evaluate((one) => one.getRootNode().activeElement === one), true, 'the focus stays at the button');
  await add.tap();
  await eventually(async () => (await bar.innerText()).replace(/\s+/g, ' ').startsWith('2 View basket'), 'the bar shows the number of dishes');
  const box = await bar.boundingBox();
  must(Math.abs(box.y + box.height - page.viewportSize().height) < 1, `the bar is at the bottom of the window, not at ${box.y}`);
  must((await menu.locator('[role=status].unseen').innerText()).includes('was added to your basket. 2 items'), 'the change is announced');
  await everyVariant(page, 'basket', { full: false, each: (variant) => axe(page, `a basket of two, ${variant.name}`) });

  step('G1: the bar stays at the bottom if a search finds one dish');
  await menu.locator('[part=search]').fill('tom yum');
  await menu.locator('[part=status]').getByText('1 dish found').waitFor();
  const bottom = await bar.evaluate((one) => one.getBoundingClientRect().bottom - innerHeight);
  await shot(page, 'search-with-bar', { full: false });
  must(bottom < 1 && bottom > -32, `the bar ends ${-bottom} px above the bottom of the window`);
  await menu.locator('[part=search]').fill('');
  await card.waitFor();

  step('G1: one less, and none: the focus is never lost');
  await dish.locator('[part=fewer]').tap();
  await eventually(async () => (await dish.locator('[part=count]').innerText()) === '1', 'one is left');
  await dish.locator('[part=fewer]').tap();
  await eventually(async () => (await add.innerText()) === 'Add', 'none is left');
  equal(await add.evaluate((one) => one.getRootNode().activeElement === one), true, 'the focus is at the button');
  equal(await bar.isVisible(), false, 'the bar without a basket is visible');

  step('G1: the last card is not covered');
  await add.tap();
  await bar.waitFor();
  const last = menu.locator('[part=card]').last();
  await last.evaluate((one) => one.scrollIntoView({ block: 'center', behavior: 'instant' }));
  await eventually(async () => { // cards that are rendered while scrolling have another height than estimated
    await page.evaluate(() => document.querySelector('larder-menu').scrollIntoView({ block: 'end', behavior: 'instant' }));
    const [a, b] = [await last.boundingBox(), await bar.boundingBox()];
    return a && b && a.y + a.height <= b.y + 1;
  }, 'the bar is below the last card');

  step('G1: one tap goes to the form, and the bar goes');
  await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }));
  await pressBar(menu.locator('[part=basket-button]'));
  const form = page.locator('larder-order-form');
  await eventually(async () => (await form.boundingBox()).y < 200, 'the form is in view');
  equal(await form.locator('[part=order-name]').evaluate((one) => one.getRootNode().activeElement === one), true, 'the form has the focus');
  await eventually(async () => !(await menu.locator('[part=basket-button]').isVisible()), 'the bar is gone while the form is in view');
  await axe(page, 'the form');
  await everyVariant(page, 'form', { full: false, only: ['phone-light', 'phone-rtl', 'narrow-dark'] });

  step('the form is a screen of its own, with the way back, the total and the button in sight, wherever it is scrolled');
  const back = page.locator('#back');
  const inSight = async (one, text) => {
    const { y, height } = await one.boundingBox();
    must(y >= 0 && y + height <= page.viewportSize().height + 1, `${text} is out of sight: ${y} to ${y + height}`);
  };
  for (const end of [0, 1e6, 0]) {
    await form.evaluate((one, top) => one.scrollTo({ top, behavior: 'instant' }), end);
    for (const [one, text] of [[back, 'the way back'], [form.locator('[part=place]'), 'the button'], [form.locator('[part=total]'), 'the total']]) await inSight(one, text);
  }
  equal(await page.evaluate(() => [...document.querySelectorAll('header, larder-menu, footer')].map((one) => one.inert)), [true, true, true], 'the rest of the page takes no input');
  equal(await page.evaluate(() => scrollY), 0, 'the page below has not moved');
  await page.reload();
  await form.locator('[part=place]').waitFor();
  equal(await back.isVisible(), true, 'the form is still the screen after a reload');
  await use(page, back.getByRole('button'));
  await eventually(async () => !(await back.isVisible()), 'the menu is back');
  await eventually(() => menu.locator('[part=basket-button]').evaluate((one) => one.getRootNode().activeElement === one), 'the focus is at the bar');
  equal(page.url(), `${larder}/`, 'the page after the way back');

  step('the bar stays while it has the focus, so that Tab goes on to the form');
  await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }));
  await menu.locator('[part=basket-button]').waitFor(); // an invisible button cannot have the focus
  await menu.locator('[part=basket-button]').focus();
  await form.evaluate((one) => one.scrollIntoView({ behavior: 'instant' }));
  await eventually(() => bar.evaluate((one) => one.classList.contains('away')), 'the bar is not needed');
  await page.waitForTimeout(100); //testwaits:allow a browser takes the focus from an invisible element a little later
  equal(await bar.evaluate((one) => one.matches(':focus-within')), true, 'the bar has the focus');
  await page.keyboard.press('Tab');
  equal(await form.evaluate((one) => one === document.activeElement), true, 'the focus is in the form');
  equal(await bar.isVisible(), false, 'the bar without the focus is visible');

  step('one tap on a long menu goes to the form too, from any place, and the form stays there');
  for (const part of [0, .5]) {
    await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }));
    await page.reload();
    await eventually(async () => { // the reload may return to the form, where the bar is not shown
      await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }));
      return menu.locator('[part=basket-button]').isVisible();
    }, 'the bar is shown');
    await page.evaluate((at) => scrollTo({ top: document.querySelector('larder-menu').scrollHeight * at, behavior: 'instant' }), part);
    await page.evaluate(() => addEventListener('click', () => { globalThis.from = scrollY; }, { capture: true })); // Tab scrolls
    await pressBar(menu.locator('[part=basket-button]'));
    const top = async () => (await form.boundingBox()).y;
    await eventually(async () => await top() >= 0 && await top() < 140, `the form is in view after a tap at ${part} of the menu`);
    await page.waitForTimeout(1200); //testwaits:allow until the heights no longer change
    const y = await top();
    must(y >= 0 && y < 140, `the form begins at ${y} after a tap at ${part} of the menu`);
    let from = await page.evaluate(() => globalThis.from);
    await page.goBack();
    await eventually(() => page.evaluate((at) => Math.abs(scrollY - at) < 200, from), 'Back returns to the place in the menu');
    equal(page.url(), `${larder}/`, 'the page after Back');
    await pressBar(menu.locator('[part=basket-button]'));
    await page.waitForTimeout(100); //testwaits:allow Back while the page still scrolls to the form
    from = await page.evaluate(() => globalThis.from);
    await page.goBack();
    await eventually(() => page.evaluate((at) => Math.abs(scrollY - at) < 200, from), 'Back at once returns to the place in the menu');
    await page.waitForTimeout(1200); //testwaits:allow the heights may still change
    const back = await page.evaluate(() => scrollY);
    must(Math.abs(back - from) < 200, `the page is at ${back} after Back at once, not at ${from}`);
  }

  step('a site handles the tap itself, and without a form the bar is a button too');
  await page.evaluate(() => {
    addEventListener('larder:basket-open', (event) => { globalThis.opened = (globalThis.opened ?? 0) + 1; globalThis.from = scrollY; event.preventDefault(); }, { capture: true });
    scrollTo({ top: 0, behavior: 'instant' });
  });
  await pressBar(menu.locator('[part=basket-button]'));
  equal(await page.evaluate(() => [globalThis.opened, scrollY - globalThis.from]), [1, 0], 'the event, and the movement of the page');
  await page.evaluate(() => {
    globalThis.form = document.querySelector('larder-order-form');
    document.querySelectorAll('larder-order-form, .skip').forEach((one) => one.remove());
  });
  await add.tap();
  await eventually(async () => (await bar.innerText()).startsWith('2 items'), 'the bar has the number of dishes');
  await pressBar(bar.getByRole('button'));
  await bar.getByRole('button').press('Enter');
  equal(await page.evaluate(() => globalThis.opened), 3, 'the events without a form');
  await axe(page, 'a page without a form');

  step('the bar finds a form that is added later');
  await page.evaluate(() => document.querySelector('main').append(globalThis.form));
  await eventually(async () => (await bar.textContent()).includes('View basket'), 'the bar leads to the form');

  step('desktop: the form is beside the menu, so there is no bar');
  const desk = await open({ size: 'desktop' });
  await desk.page.goto(`${larder}/`);
  await desk.page.locator(`larder-menu [data-dish=${soup}] [part=add]`).or(desk.page.locator('larder-menu [part=add]:text-is("Add")')).first().click();
  await desk.page.locator('larder-order-form [part=line]').first().waitFor();
  equal(await desk.page.locator('larder-menu [part=basket-button]').isVisible(), false, 'the bar on a desktop is visible');
  await axe(desk.page, 'the desktop with a basket');
  await shot(desk.page, 'desktop', { full: false });
});
