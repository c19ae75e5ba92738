// The console with thousands of restaurants. The browser has one page of them at a time, also
// after a search or a filter, and shows updates of it immediately.
import { env } from 'node:process';
import { axe } from '../axe.mjs';
import { eventually, must, equal, scenario, step } from '../scenario.mjs';
import { everyVariant, sizes } from '../shot.mjs';
import { larder as api } from '../services.mjs';

const restaurants = Number(env.LARDER_RESTAURANTS);
const shown = new Intl.NumberFormat('en-GB').format(restaurants);
const pageSize = 50;
const heaviest = 100_000; // bytes of one response
const mostElements = 2_000; // of the page

await scenario({ matrix: false }, async ({ page, larder, sandbox }) => {
  let lists = 0;
  const heavy = [];
  const weighing = [];
  page.on('response', (response) => {
    const url = new URL(response.url());
    if (!url.pathname.startsWith('/v1/ops/') || url.pathname === '/v1/ops/events') return;
    if (url.pathname === '/v1/ops/restaurants') lists++;
    weighing.push(response.body().then((body) => {
      if (body.length > heaviest) heavy.push(`${url.pathname}${url.search}: ${body.length} bytes`);
    }, () => { /* the view was closed */ }));
  });
  const timed = async (what, work) => {
    const began = performance.now();
    await work();
    step(`${what}: ${(performance.now() - began).toFixed(0)} ms`);
  };
  const rows = page.getByTestId('restaurant');
  const named = (name) => rows.filter({ has: page.getByRole('link', { name, exact: true }) });
  const ids = () => rows.evaluateAll((all) => all.map((row) => row.dataset.id));
  const chip = (words, n) => page.getByRole('navigation', { name: 'By state' }).getByRole('link', { name: `${words} ${n}`, exact: true });

  await page.goto(`${larder}/ops`);
  await page.getByLabel('Client ID', { exact: true }).fill(env.LARDER_OPS_ID);
  await page.getByLabel('Secret', { exact: true }).fill(env.LARDER_OPS_SECRET);
  await timed('from the sign-in to the list', async () => {
    await page.keyboard.press('Enter');
    await chip('All', shown).waitFor();
    await rows.nth(pageSize - 1).waitFor();
  });
  equal(await rows.count(), pageSize, 'rows of the first page');
  const first = await ids();

  await timed('the next page', async () => {
    await page.getByRole('button', { name: 'Next page' }).click();
    await page.getByText(`Page 2, ${pageSize} restaurants`).waitFor();
  });
  const second = await ids();
  must(second.length === pageSize && second.every((id) => !first.includes(id)), 'the second page repeats the first');
  await page.getByRole('button', { name: 'Previous page' }).click();
  await page.getByText(`Page 1, ${pageSize} restaurants`).waitFor();
  equal(await ids(), first, 'the first page again');

  const searched = `Restaurant ${restaurants - 23}`;
  await timed('a search', async () => {
    await page.getByRole('searchbox').fill(searched);
    await page.keyboard.press('Enter');
    await named(searched).waitFor();
    await chip('All', shown).waitFor({ state: 'detached' });
  });
  const found = await rows.count();
  must(found < pageSize, `${found} restaurants match ${searched}`);
  await chip('All', String(found)).waitFor();

  step('a quarantined menu is found by its state, wherever it is in the list');
  const id = await named(searched).getAttribute('data-id');
  await fetch(`${sandbox}/sandbox/menus/${id}`, { method: 'PUT', body: JSON.stringify({ name: 'empty', products: [] }) });
  await api.resync(id);
  await named(searched).getByText('quarantined').first().waitFor();
  await page.getByRole('link', { name: 'Restaurants', exact: true }).click();
  await eventually(async () => {
    await page.reload();
    await rows.first().waitFor();
    return chip('Quarantined', '1').isVisible();
  }, 'one is quarantined');
  await timed('by its state', async () => {
    await chip('Quarantined', '1').click();
    await named(searched).waitFor();
  });
  equal(await ids(), [id], 'the quarantined restaurants');
  await page.getByRole('link', { name: /^All / }).click();
  await rows.nth(pageSize - 1).waitFor();

  step('the most urgent one is sorted to the first page, with its cause; a tap shows the whole text, also after an update');
  const sort = page.getByLabel('Sort by');
  const firstIs = (id) => eventually(async () => (await ids())[0] === id, `${id} is the first`);
  await timed('by urgency', async () => {
    await sort.selectOption('State');
    await firstIs(id);
  });
  const cause = rows.first().locator('details');
  equal(await cause.locator('summary').innerText(), 'Menu is empty, so it was not published', 'the cause');
  equal(await page.locator('tbody details').count(), 1, 'causes in the list');
  await cause.locator('summary').click();
  await cause.locator('p').waitFor();
  equal((await cause.innerText()).includes('larder sync'), false, 'a command beside the button');
  const reads = lists;
  await api.resync(id);
  await eventually(() => lists > reads, 'the list is read again');
  await cause.locator('p').waitFor();

  step('a phone: one line at the top, and three restaurants on the first screen, also with a cause');
  const wide = page.viewportSize();
  const onFirstScreen = async () => {
    await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }));
    return rows.evaluateAll((all) => all.filter((one) => one.getBoundingClientRect().bottom <= innerHeight).length);
  };
  await cause.locator('summary').click();
  await page.setViewportSize(sizes.phone);
  const top = await page.locator('header').boundingBox();
  must(top.height < 64, `the head is ${top.height} px high`);
  const visible = await onFirstScreen();
  must(visible >= 3, `${visible} restaurants on the first screen`);
  let boxes = [];
  await eventually(async () => { // an update replaces the rows meanwhile
    boxes = await Promise.all([rows.first().getByRole('link'), rows.first().getByText('quarantined').first(), cause].map((part) => part.boundingBox()));
    return boxes.every(Boolean);
  }, 'the row is drawn');
  const [name, state, why] = boxes;
  must(why.y > state.y && why.x === name.x && why.width > 250 && why.height < 40, `the cause on a phone: ${JSON.stringify(why)}`);
  await page.setViewportSize(sizes.wide);
  must(await onFirstScreen() >= 6, `${await onFirstScreen()} restaurants on a wide screen`);
  await page.setViewportSize(wide);

  step('by age and by last run');
  await sort.selectOption('Age');
  const ages = () => page.locator('[data-label="Freshness"] meter').evaluateAll((all) => all.map((one) => one.value));
  await eventually(async () => { const all = await ages(); return all.length > 40 && all[0] > all.at(-1); }, 'the oldest first');
  await api.resync(id);
  await sort.selectOption('Last run');
  await eventually(async () => (await ids()).includes(id), 'its run is among the latest');
  await rows.first().getByText(/ ago$/).waitFor();
  await sort.selectOption('Name');
  await eventually(async () => JSON.stringify(await ids()) === JSON.stringify(first), 'sorted by name again');

  step('some restaurants are synced: those of a filter, or the selected ones; a failure is listed with its cause');
  const fault = (restaurant) => fetch(`${sandbox}/sandbox/faults`, { method: 'PUT', body: JSON.stringify(restaurant ? [{ match: { path: '/orders/api/v1/menu/view', restaurant }, do: 'status', status: 404 }] : []) });
  const progress = page.getByText(/ restaurants? done, /);
  const question = page.getByRole('dialog');
  await page.getByRole('searchbox').fill(searched);
  await page.keyboard.press('Enter');
  await named(searched).waitFor();
  await page.getByRole('button', { name: `Sync these ${found}…`, exact: true }).click();
  await question.getByRole('heading', { name: `Sync ${found === 1 ? '1 menu' : `${found} menus`}?` }).waitFor();
  await question.getByRole('button', { name: 'Sync', exact: true }).click();
  await page.getByText(`${found} of ${found === 1 ? '1 restaurant' : `${found} restaurants`} done, 1 failed or quarantined`, { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Restaurants', exact: true }).click();
  await rows.nth(pageSize - 1).waitFor();
  await fault(first[1]);
  await page.locator(`input[data-id="${first[0]}"]`).check();
  await page.getByRole('button', { name: 'Next page' }).click();
  await page.getByText(`Page 2, ${pageSize} restaurants`).waitFor();
  await page.locator(`input[data-id="${second[0]}"]`).check();
  await page.getByRole('button', { name: 'Previous page' }).click();
  await page.getByText(`Page 1, ${pageSize} restaurants`).waitFor();
  equal(await page.locator(`input[data-id="${first[0]}"]`).isChecked(), true, 'the selection after a turn of pages');
  await page.locator(`input[data-id="${first[1]}"]`).check();
  await page.getByRole('button', { name: 'Sync 3 selected restaurants…' }).click();
  await axe(page, 'the question');
  await question.getByRole('button', { name: 'Sync', exact: true }).click();
  await page.getByText('3 of 3 restaurants done, 1 failed or quarantined', { exact: true }).waitFor();
  const failed = page.getByRole('table', { name: 'Failed or quarantined' }).getByRole('row', { name: /404/ });
  equal([await progress.count(), await failed.count()], [1, 1], 'the progress, and the failure with its cause');
  await everyVariant(page, 'selection', { full: false, each: (variant) => axe(page, `selection, ${variant.name}`) });
  equal(await page.locator('input[data-id]:checked').count(), 0, 'the selection afterwards');
  await fault(null);

  step('updates of a restaurant on the page are shown without a reload');
  const row = page.locator(`tr[data-id="${first[0]}"]`);
  const before = await row.locator('[data-label="Freshness"]').innerText();
  await api.resync(first[0]);
  await eventually(async () => await row.locator('[data-label="Freshness"]').innerText() !== before, 'the age of the first');
  await row.getByText('unchanged').waitFor();

  const elements = await page.evaluate(() => document.querySelectorAll('*').length);
  must(elements < mostElements, `the page has ${elements} elements`);
  await Promise.all(weighing);
  equal(heavy, [], 'too large responses');
  const heap = await page.evaluate(() => performance.memory?.usedJSHeapSize ?? 0);
  step(`${elements} elements, ${(heap / 1e6).toFixed(1)} MB of the browser's heap, ${lists} pages of the list were read`);
  await everyVariant(page, 'thousands', { full: false, each: (variant) => axe(page, `thousands, ${variant.name}`) });
});
