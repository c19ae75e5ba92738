// Times in the restaurant's time zone, findings G8 and G9 (the phone number, and one problem with a
// link to its field), and details that are remembered only if the guest wants it.
import { axe } from '../axe.mjs';
import { addFries, expectedErrors, fillPickup, near, openShop, parts, waitForState } from '../guest.mjs';
import { fill, tabTo, use } from '../keyboard.mjs';
import { combination, repeated } from '../matrix.mjs';
import { equal, must, scenario, step } from '../scenario.mjs';
import { sandbox } from '../services.mjs';
import { everyVariant } from '../shot.mjs';

await scenario({ size: 'phone', expected: [...expectedErrors] }, async ({ open, larder }) => {
  for (const size of repeated(['desktop', 'phone'])) {
    const { page, context, problems } = await open({ size });
    const { submit, outcome, phone } = parts(page);
    const form = page.locator('larder-order-form');
    const time = form.locator('#f-expectedAt');
    const day = form.locator('#f-expectedAt-day');
    const options = (select) => select.evaluate((element) => [...element.options].map((option) => option.value));

    step(`${size}: as soon as possible comes first; later times are quarters of an hour`);
    await openShop(page, larder);
    await form.evaluate((element) => element.setAttribute('time-zone', 'Asia/Tokyo'));
    await addFries(page);
    await fillPickup(page);
    equal(await form.locator('input[name=expectedAt]').first().getAttribute('value'), 'soonest', 'the first choice');
    await tabTo(page, form.locator('input[name=expectedAt]:checked'));
    await page.keyboard.press('ArrowDown');
    await time.waitFor();
    must((await form.locator('[data-field=expectedAt] label').last().innerText()).includes('GMT+9'), 'the time zone is shown');
    const [days, times] = [await options(day), await options(time)];
    must(days.length >= 30 && days.length <= 32, `${days.length} days`);
    must(times.every((t) => /T\d\d:(00|15|30|45):00\+09:00$/.test(t)), `quarters in the restaurant's zone: ${times}`);
    const first = Date.parse(times[0]) - Date.now();
    must(first > 59 * 60_000 && first <= 75 * 60_000, `the first time is in ${first / 60_000} minutes`);
    const today = new Date(Date.now() + 9 * 3_600_000).toISOString().slice(0, 10); // in Tokyo; late in the evening, it has no times left
    const tomorrow = days[0] === today ? 1 : 0;
    must(/^Tomorrow, \w+ \d+$/.test(await day.locator('option').nth(tomorrow).innerText()), 'tomorrow has no day of the week');
    await axe(page, 'the times');
    await everyVariant(page, `times-${size}`, { full: false, only: ['phone-light', 'phone-rtl', 'desktop-dark', 'narrow-dark'] });

    step(`${size}: openings limit the times`);
    await form.evaluate((element, from) => {
      element.openings = [{ from: `${from}T18:00:00+09:00`, to: `${from}T18:30:00+09:00` }];
    }, days[2]);
    await form.getByRole('radio', { name: 'As soon as possible' }).waitFor({ state: 'detached' });
    equal([await options(day), (await options(time)).filter(Boolean)], [[days[2]], ['18:00', '18:15', '18:30'].map((t) => `${days[2]}T${t}:00+09:00`)], 'days and times of the openings');
    await axe(page, 'times of the openings');
    await time.selectOption(`${days[2]}T18:15:00+09:00`);

    step(`${size}: G8, G9: a phone number that is too short, with a link to its field`);
    await fill(page, phone, '12', { back: true });
    await page.keyboard.press('Tab');
    await form.getByText('Enter a phone number, 5 to 15 digits').first().waitFor();
    const before = (await sandbox.orders()).length;
    await use(page, submit);
    const summary = form.locator('[part=violations]');
    equal((await summary.innerText()).split('\n').filter(Boolean), ['Please fix 1 problem', 'Phone: Enter a phone number, 5 to 15 digits'], 'the summary');
    await axe(page, 'one problem');
    await everyVariant(page, `problem-${size}`, { full: false, only: ['phone-light', 'desktop-dark'] });
    await use(page, summary.getByRole('link'));
    equal(await phone.evaluate((element) => element.getRootNode().activeElement === element), true, 'the field has the focus');
    equal((await sandbox.orders()).length, before, 'orders with a wrong phone number');

    step(`${size}: change from cash: the form's own texts, with the currency`);
    const change = form.locator('#f-changeFrom');
    const sum = await form.locator('[part=total] strong').innerText();
    for (const [typed, text] of [['abc', 'Enter an amount'], ['1', `Enter at least ${sum}`]]) {
      await fill(page, change, typed, { back: true });
      await page.keyboard.press('Tab');
      await form.locator('#n-changeFrom', { hasText: text }).waitFor();
    }
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.press('Delete');

    step(`${size}: the order has the chosen time, with the restaurant's offset`);
    if (combination) {
      await fill(page, phone, '+10005550100');
      await use(page, submit);
    } else { // a slow press: if the problem disappeared meanwhile, the button could leave the pointer
      let press;
      const pressed = new Promise((resolve) => { press = resolve; });
      await page.route('**/orders/validate', async (route) => {
        await pressed;
        await route.continue().catch(() => {}); // the form has given up the request
      });
      await fill(page, phone, '+10005550100');
      await submit.hover();
      await page.mouse.down();
      const valid = page.waitForResponse('**/orders/validate');
      press();
      await valid;
      await page.waitForTimeout(200); //testwaits:allow the form must stay as it is
      must((await summary.innerText()).includes('Please fix'), 'nothing moves during a press');
      await page.mouse.up();
      await page.unrouteAll({ behavior: 'ignoreErrors' });
    }
    await waitForState(page, 'placed');
    equal((await sandbox.orders()).at(-1).body.expectedAt, `${days[2]}T18:15:00+09:00`, 'the time of the order');
    must(/6:15\sPM GMT\+9/.test(await outcome.innerText()), `the confirmation shows the time: ${await outcome.innerText()}`);
    await axe(page, 'an order for later');

    step(`${size}: the hour that occurs twice has offsets; a chosen time that has passed is asked for again`);
    const late = await open({ size });
    const lateForm = late.page.locator('larder-order-form');
    await late.page.clock.install({ time: new Date('2026-10-24T21:50:00Z') });
    await openShop(late.page, larder);
    await lateForm.evaluate((element) => element.setAttribute('time-zone', 'Europe/Lisbon'));
    await addFries(late.page);
    await fillPickup(late.page);
    await tabTo(late.page, lateForm.locator('input[name=expectedAt]:checked'));
    await late.page.keyboard.press('ArrowDown');
    const lateTime = lateForm.locator('#f-expectedAt');
    const names = await lateTime.evaluate((element) => [...element.options].map((option) => option.text));
    equal(new Set(names).size, names.length, 'different texts of the times');
    must(names.includes('1:30 AM (+01:00)') && names.includes('1:30 AM (+00:00)'), `offsets in ${names}`);
    must((await lateForm.locator('[data-field=expectedAt] label').last().innerText()).includes('GMT+1'), 'the zone in summer');
    await lateForm.locator('#f-expectedAt-day').selectOption('2026-10-26');
    must(/GMT(\+0)?\)/.test(await lateForm.locator('[data-field=expectedAt] label').last().innerText()), 'the zone at the chosen time');
    await lateForm.locator('#f-expectedAt-day').selectOption('2026-10-25');
    await lateTime.selectOption('2026-10-25T00:00:00+01:00');
    await late.page.clock.fastForward('20:00');
    const ordered = (await sandbox.orders()).length;
    await use(late.page, parts(late.page).submit);
    await lateForm.getByText('The time you chose is no longer available.').first().waitFor();
    equal([await lateTime.inputValue(), await lateForm.evaluate((element) => element.shadowRoot.activeElement?.id), (await sandbox.orders()).length], ['', 'f-expectedAt', ordered], 'the time, the focus and the orders');
    equal(await lateForm.locator('#f-expectedAt-day').inputValue(), '2026-10-25', 'the day');
    await axe(late.page, 'a time that has passed');
    await everyVariant(late.page, `passed-${size}`, { full: false, only: ['phone-light', 'desktop-dark'] });
    await lateTime.selectOption('2026-10-25T00:15:00+01:00');
    await lateForm.getByText('The time you chose is no longer available.').first().waitFor({ state: 'detached' });
    await late.page.close();

    step(`${size}: details are remembered only if the guest wants it`);
    await use(page, page.getByRole('button', { name: 'New order' }));
    const second = await context.newPage();
    await problems.ready();
    await openShop(second, larder);
    await addFries(second);
    equal([await parts(second).name.inputValue(), await parts(second).phone.inputValue()], ['', ''], 'details in another tab');
    await near(parts(second).name);
    await fill(second, parts(second).name, 'Ada');
    await use(second, second.getByRole('checkbox', { name: 'Remember my details on this device' }), 'Space');
    await axe(second, 'details that are remembered');
    const third = await context.newPage();
    await problems.ready();
    await openShop(third, larder);
    equal(await parts(third).name.inputValue(), 'Ada', 'the name in a new tab');
    await near(third.getByRole('checkbox', { name: 'Remember my details on this device' }));
    await use(third, third.getByRole('checkbox', { name: 'Remember my details on this device' }), 'Space');
    equal(await third.evaluate(() => localStorage.getItem('larder:guest')), null, 'details that are no longer remembered');
    await page.close();
  }
});
