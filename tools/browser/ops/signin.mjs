// Signing in to the console: what is refused, what is told, and what is left
// afterwards.
import { env } from 'node:process';
import { axe } from '../axe.mjs';
import { fill, use } from '../keyboard.mjs';
import { must, same, scenario, step } from '../scenario.mjs';
import { everyLook } from '../shot.mjs';

await scenario({ expected: [/status of (401|403|429)/] }, async ({ page, context, larder }) => {
  const client = page.getByLabel('Client ID', { exact: true }), secret = page.getByLabel('Secret', { exact: true });
  const fault = page.getByTestId('fault');
  await page.goto(`${larder}/ops`);
  await client.waitFor();
  await axe(page, 'the sign-in');
  await everyLook(page, 'signin', { each: () => axe(page, 'the sign-in') });

  step('a wrong secret is told, by keyboard alone');
  await fill(page, client, 'ops');
  await fill(page, secret, 'not-the-secret');
  await page.keyboard.press('Enter');
  await fault.getByText('unknown or its secret is wrong').waitFor();
  same(await secret.inputValue(), '', 'the secret that was wrong');
  await axe(page, 'the refusal');

  step('a client that is no operator is told so');
  await client.fill('storefront');
  await secret.fill('storefront-secret');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await fault.getByText('has not the scope ops').waitFor();

  step('guessing ends after five attempts, and says how long to wait');
  await client.fill('guess');
  for (let i = 0; i < 6; i++) {
    await secret.fill(`guess ${i}`);
    const answered = page.waitForResponse((response) => response.url().endsWith('/ops/session'));
    await page.getByRole('button', { name: 'Sign in' }).click();
    same((await answered).status(), i < 5 ? 401 : 429, `attempt ${i + 1}`);
  }
  await fault.getByText(/Try again in \d+ s/).waitFor();
  same((await context.cookies()).length, 0, 'cookies after refusals');

  step('the right secret gets in; the cookie is not for scripts');
  await client.fill(env.LARDER_OPS_ID);
  await secret.fill(env.LARDER_OPS_SECRET);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Restaurants' }).waitFor();
  const [cookie] = await context.cookies();
  must(cookie.httpOnly && cookie.sameSite === 'Strict', `the cookie is ${JSON.stringify(cookie)}`);
  same(await page.evaluate(() => document.cookie), '', 'what scripts see of it');
  same(await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }])), '[{},{}]', 'what the browser stores');

  step('a reload stays signed in');
  await page.reload();
  await page.getByRole('heading', { name: 'Restaurants' }).waitFor();

  step('a session that is over asks to sign in again');
  await context.clearCookies();
  await page.getByRole('link', { name: 'Audit log' }).click();
  await fault.getByText('Your session has ended').waitFor();

  step('and signing out leaves nothing');
  await client.fill(env.LARDER_OPS_ID);
  await secret.fill(env.LARDER_OPS_SECRET);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await use(page, page.getByRole('button', { name: 'Sign out' }));
  await client.waitFor();
  same((await context.cookies()).length, 0, 'cookies after signing out');
});
