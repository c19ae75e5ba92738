// A viewer of the console sees everything and no button that changes something; larder refuses what the page hides.
import { axe } from '../axe.mjs';
import { bistro } from '../guest.mjs';
import { equal, scenario, step } from '../scenario.mjs';
import { larder as api } from '../services.mjs';
import { everyVariant } from '../shot.mjs';

const harmless = new Set(['Sign out', 'Search', 'Previous page', 'Next page', 'Compare', 'Compare these versions', 'Newer', 'Older']);

await scenario({ matrix: false, expected: [/^request failed: 403 POST \S+\/pause /] }, async ({ page, larder }) => {
  await api.ops(`/v1/ops/restaurants/${bistro}/pause`, { method: 'POST', body: { note: 'the oven' } });
  await api.ops(`/v1/ops/restaurants/${bistro}/sync?wait=30s`, { method: 'POST', body: { force: true } });
  await page.goto(`${larder}/ops`);
  await page.getByLabel('Client ID', { exact: true }).fill('viewer');
  await page.getByLabel('Secret', { exact: true }).fill('viewer-secret');
  await page.keyboard.press('Enter');
  await page.getByText('read only').waitFor();

  const buttons = async (where) => {
    const names = await page.locator('button:visible').evaluateAll((all) => all.map((button) => button.textContent.trim()));
    equal(names.filter((name) => !harmless.has(name)), [], `buttons of ${where}`);
    equal(await page.locator('input[type=checkbox]:visible').count(), 0, `boxes of ${where}`);
    await axe(page, where);
  };
  step('the restaurants');
  await page.locator(`tr[data-id="${bistro}"]`).getByText('paused').waitFor();
  await buttons('the restaurants');
  equal(await page.getByRole('link', { name: 'Sync all' }).count(), 0, 'the page Sync all');
  step('a restaurant');
  await page.locator(`tr[data-id="${bistro}"]`).getByRole('link').first().click();
  await page.getByRole('region', { name: 'Orders' }).getByText('No orders until somebody ends it').waitFor();
  await page.getByRole('table', { name: /^Versions/ }).waitFor();
  await buttons('a restaurant');
  await everyVariant(page, 'viewer', { full: false, only: ['phone-light', 'desktop-light'] });
  for (const name of ['Orders', 'Menu changes', 'Audit log']) {
    step(name);
    await page.getByRole('navigation').getByRole('link', { name }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await buttons(name);
  }
  step('what the page hides is refused');
  const status = await page.evaluate(async (path) => (await fetch(path, { method: 'POST', body: '{}', headers: { 'Content-Type': 'application/json' } })).status, `/v1/ops/restaurants/${bistro}/pause`);
  equal(status, 403, 'a pause by a viewer');
  await api.ops(`/v1/ops/restaurants/${bistro}/pause`, { method: 'DELETE' });
});
