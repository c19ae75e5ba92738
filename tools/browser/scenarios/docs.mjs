// The page of the API document. It loads no external resources, shows the examples of
// responses, and sends a request.
import { axe } from '../axe.mjs';
import { must, equal, scenario, step } from '../scenario.mjs';
import { shot, sizes } from '../shot.mjs';

await scenario({ matrix: false }, async ({ page, problems, larder }) => {
  step('the page opens with every operation');
  await page.goto(`${larder}/docs`);
  const operation = page.locator('#operations-menus-listRestaurants');
  await operation.waitFor();
  const { paths } = await (await fetch(`${larder}/openapi.json`)).json();
  const listed = Object.values(paths).flatMap((item) => Object.keys(item)).length;
  equal(await page.locator('.opblock').count(), listed, 'the operations that the page lists');
  await problems.check();
  await axe(page, 'the document');

  step('on a phone, the rules are closed, and no word runs into the next column');
  const before = page.viewportSize();
  await page.setViewportSize(sizes.phone);
  const rules = page.getByText('Rules for all routes');
  must((await operation.boundingBox()).y < 4 * sizes.phone.height, 'the operations begin far below');
  await rules.click();
  const cell = page.locator('.info td', { hasText: /^compatibility$/ });
  await cell.waitFor();
  must(await cell.evaluate((td) => td.scrollWidth <= td.clientWidth), 'the word is wider than its column');
  await axe(page, 'the rules');
  await rules.click();
  await page.setViewportSize(before);

  step('an operation shows its response');
  await operation.locator('.opblock-summary-control').click();
  const shown = operation.locator('.responses-table .example').first();
  await shown.waitFor();
  must((await shown.innerText()).includes('Larder Bistro'), `the example shows ${await shown.innerText()}`);
  await shot(page, 'operation', { full: false });

  step('the request is sent with the keyboard');
  await operation.getByRole('button', { name: 'Try it out' }).press('Enter');
  const answered = page.waitForResponse((response) => new URL(response.url()).pathname === '/v1/restaurants');
  await operation.getByRole('button', { name: 'Execute' }).press('Enter');
  const answer = await answered;
  equal(answer.status(), 200, 'the status of the response');
  const [{ name }] = (await answer.json()).result;
  await operation.locator('.live-responses-table').getByText(name).first().waitFor();
  await axe(page, 'an operation that was tried');

  step('an operation has its own address');
  await page.goto('about:blank');
  await page.goto(`${larder}/docs#/orders/validateOrder`);
  await page.locator('#operations-orders-validateOrder.is-open').waitFor();
  equal(await page.locator('.opblock.is-open').count(), 1, 'the operations that are open');
});
