// An operator syncs a menu, forces a quarantined menu and rolls back. axe checks
// each page, and each variant has a screenshot.
import { env } from 'node:process';
import { axe } from '../axe.mjs';
import { use } from '../keyboard.mjs';
import { equal, eventually, must, scenario, step } from '../scenario.mjs';
import { everyVariant, sizes } from '../shot.mjs';
import { larder as api } from '../services.mjs';

const bistro = '76439fb3-c0c4-42ca-a269-64f031a6a33b';

/** Replaces the menu that the ordering service publishes. */
async function publish(menu) {
  const response = await fetch(`${env.LARDER_SANDBOX}/sandbox/menus/${bistro}`, { method: 'PUT', body: JSON.stringify(menu) });
  must(response.ok, `PUT the menu: ${response.status}`);
}

/** Returns the menu view of the service and its dishes. */
async function published() {
  const { result: view } = await (await fetch(`${env.LARDER_SANDBOX}/sandbox/menus/${bistro}`)).json();
  return { view, products: dishes(view).products };
}

/** Returns the object with the dishes. The view may be in an envelope. */
function dishes(view) {
  return view.result ?? view;
}

await scenario({ matrix: false }, async ({ page, larder }) => {
  const said = page.getByTestId('said');
  const checkVariants = async (name) => {
    await everyVariant(page, name, { each: (variant) => axe(page, `${name}, ${variant.name}`) });
  };
  await page.goto(`${larder}/ops`);
  await page.getByLabel('Client ID', { exact: true }).fill(env.LARDER_OPS_ID);
  await page.getByLabel('Secret', { exact: true }).fill(env.LARDER_OPS_SECRET);
  await page.keyboard.press('Enter');
  const row = page.locator(`tr[data-id="${bistro}"]`);
  await row.waitFor();
  await page.getByTestId('live').getByText('live', { exact: true }).waitFor();

  step('a sync with one key');
  await use(page, row.getByRole('button', { name: /^Sync/ }));
  await said.getByText('No change (version 1)').waitFor();
  await row.getByText('unchanged').waitFor();

  step('a run of another client is shown without a reload');
  const { view, products } = await published();
  const dearer = structuredClone(view);
  dishes(dearer).products[0].price += 10;
  await publish(dearer);
  await api.resync(bistro);
  await row.getByText('Version 2').waitFor();
  await checkVariants('restaurants');

  step('search and states');
  await page.getByRole('searchbox').fill('no such place');
  await page.keyboard.press('Enter');
  await page.getByText('No restaurants match.').waitFor();
  await page.getByRole('link', { name: 'Restaurants', exact: true }).click();
  await row.waitFor();

  step('a menu that lost its dishes is quarantined; its page and the force dialog explain it');
  const empty = structuredClone(view);
  dishes(empty).products = products.slice(0, 1);
  await publish(empty);
  await row.getByRole('button', { name: /^Sync/ }).click();
  await said.getByText(/\d+ of \d+ dishes are gone/).waitFor();
  await row.getByText('quarantined').first().waitFor();
  await row.getByRole('link').click();
  await page.getByText('These checks refer to the menu being served (version 2), not to the quarantined one.').waitFor();
  equal((await page.locator('body').innerText()).includes('larder sync'), false, 'a command beside the button');
  await axe(page, 'a quarantined restaurant');
  await page.getByRole('button', { name: 'Compare…' }).click();
  const compared = page.getByRole('dialog');
  await compared.getByRole('heading', { name: /^Removed \(\d+\)$/ }).waitFor();
  await axe(page, 'the changes of a quarantined menu');
  await page.keyboard.press('Escape');
  await compared.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: '← Restaurants' }).click();
  await row.getByRole('button', { name: /^Force/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(/\d+ of \d+ dishes are gone/).waitFor();
  await dialog.getByText('the quarantined menu has 1 dish').waitFor();
  equal((await dialog.innerText()).includes('larder sync'), false, 'a command in the dialog with the button');
  await dialog.getByRole('heading', { name: /^Removed \(\d+\)$/ }).waitFor();
  await axe(page, 'the force dialog');
  await everyVariant(page, 'force', { full: false });
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await row.getByText('Version 2').waitFor();
  await row.getByRole('button', { name: /^Force/ }).click();
  await dialog.getByRole('button', { name: 'Force', exact: true }).click();
  await said.getByText('Published version 3').waitFor();
  await row.getByText('Version 3').waitFor();

  step('a restaurant’s page: its runs, findings and versions');
  await row.getByRole('link').click();
  await page.getByRole('heading', { level: 1, name: 'Larder Bistro' }).waitFor();
  await page.locator('.plot canvas').first().waitFor();
  const rows = page.locator('tr[data-version]');
  await rows.first().waitFor();
  await page.locator('.findings > li, section[aria-label="Menu checks"] .empty').first().waitFor();

  step('the differences, and a rollback');
  await page.getByRole('button', { name: 'Compare version 1' }).click();
  await page.getByRole('region', { name: 'Differences' }).getByText(/removed/).first().waitFor();
  await checkVariants('restaurant');
  await use(page, page.getByRole('button', { name: 'Roll back to version 1' }));
  await dialog.getByText(/added, 0 removed/).waitFor();
  await axe(page, 'the rollback dialog');
  await everyVariant(page, 'rollback', { full: false });
  await dialog.getByLabel(/an operator releases it/).check();
  await dialog.getByRole('button', { name: 'Roll back' }).click();
  await said.getByText('Published version 4').waitFor();
  await page.getByText('A rollback holds this menu until the hold is released.').waitFor();

  step('the hold is released');
  await publish(view);
  await page.getByRole('button', { name: 'Release…' }).click();
  await dialog.getByRole('button', { name: 'Release' }).click();
  await said.getByText(/No change|Published version/).waitFor();
  await page.getByRole('button', { name: 'Release…' }).waitFor({ state: 'detached' });

  step('a version of another operator is shown immediately');
  const newest = async () => Number(await rows.first().getAttribute('data-version'));
  const before = await newest();
  const worded = structuredClone(view);
  dishes(worded).products[0].description = 'Of another operator.';
  await publish(worded);
  await api.resync(bistro);
  await eventually(async () => await newest() > before && /served/.test(await rows.first().innerText()), 'the newest version is served');

  step('any two versions');
  await page.getByLabel('Older version').selectOption('1');
  await page.getByLabel('Newer version').selectOption('2');
  const republish = async () => { // the section of the versions is drawn again
    const last = await newest();
    dishes(worded).products[0].description += '!';
    await publish(worded);
    await api.resync(bistro);
    await eventually(async () => await newest() > last, 'another version in the list');
  };
  await republish();
  await page.getByRole('button', { name: 'Compare these versions' }).click();
  const oneToTwo = page.getByRole('heading', { name: 'Changes from version 1 to 2', exact: true });
  await oneToTwo.waitFor();
  await republish();
  must(await oneToTwo.isVisible(), 'a comparison goes away when a new version is published');

  step('the changes of all menus today, each with its comparison; three on the first screen of a phone');
  const today = new Date().toLocaleDateString('sv');
  const atLeastThree = async (list) => {
    const wide = page.viewportSize();
    for (const size of [sizes.phone, sizes.wide]) {
      await page.setViewportSize(size);
      await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }));
      const n = await list.evaluateAll((all) => all.filter((one) => one.getBoundingClientRect().bottom <= innerHeight).length);
      must(n >= 3, `${n} on the first screen of ${size.width} px`);
    }
    await page.setViewportSize(wide);
  };
  await page.getByRole('link', { name: 'Menu changes', exact: true }).click();
  await page.getByText('No menu changed on this day.').waitFor(); // yesterday
  await page.getByLabel('Day').fill(today);
  const changes = page.getByTestId('change');
  await changes.nth(3).waitFor();
  await atLeastThree(changes);
  await checkVariants('changes');
  await changes.getByRole('link', { name: 'Compare version 1 of Larder Bistro with 2' }).click();
  const between = page.getByRole('region', { name: 'Compared versions' });
  await between.getByRole('heading', { name: 'Changes from version 1 to 2' }).waitFor();
  await between.getByText('price: ').waitFor();

  step('the audit log');
  await page.getByRole('link', { name: 'Audit log' }).click();
  // The restaurant's page has such entries too, but none about signing in.
  const entries = page.getByTestId('entry');
  await entries.filter({ hasText: 'signed in' }).first().waitFor();
  for (const what of ['signed in', 'synced', 'forced', 'rolled back', 'released']) {
    must(await entries.filter({ hasText: what }).count() > 0, `no entry: ${what}`);
  }
  await entries.filter({ hasText: 'forced' }).filter({ hasText: 'Larder Bistro' }).filter({ hasText: bistro }).first().waitFor();
  await atLeastThree(entries);
  await checkVariants('audit');

  step('the audit log of a client, an action and a day');
  await page.getByLabel('Day').fill(today);
  await page.getByLabel('Action').selectOption('rolled back');
  await page.getByLabel('Client').fill(env.LARDER_OPS_ID);
  await page.keyboard.press('Enter');
  await eventually(async () => await entries.count() === 1, 'one entry is a rollback');
  await entries.getByText('to version 1').waitFor();
  await page.getByLabel('Client').fill('nobody');
  await page.keyboard.press('Enter');
  await page.getByText('No entries.').waitFor();
  await page.getByLabel('Client').fill('');
  await page.getByLabel('Day').fill('2020-01-01');
  await page.getByText('No entries.').waitFor();
});
