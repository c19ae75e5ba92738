// Signing in to the console: rejected attempts, their messages, and the stored data.
import { env } from 'node:process';
import { axe } from '../axe.mjs';
import { fill, use } from '../keyboard.mjs';
import { must, equal, eventually, scenario, step } from '../scenario.mjs';
import { everyVariant } from '../shot.mjs';

await scenario({ matrix: false, expected: [/^request failed: (401|403|429) POST \S+\/ops\/session /, /^request failed: 401 GET \S+\/v1\/ops\//] }, async ({ page, context, larder }) => {
  const client = page.getByLabel('Client ID', { exact: true }), secret = page.getByLabel('Secret', { exact: true });
  const fault = page.getByTestId('fault');
  await page.goto(`${larder}/ops`);
  await client.waitFor();
  await everyVariant(page, 'signin', { each: (variant) => axe(page, `the sign-in, ${variant.name}`) });

  step('a wrong secret, with the keyboard');
  await fill(page, client, 'ops');
  await fill(page, secret, 'not-the-secret');
  await page.keyboard.press('Enter');
  await fault.getByText('unknown or its secret is wrong').waitFor();
  equal(await secret.inputValue(), '', 'the field of the wrong secret');
  await axe(page, 'the refusal');

  step('a client that is not an operator');
  await client.fill('storefront');
  await secret.fill('storefront-secret');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await fault.getByText('does not have the scope ops').waitFor();

  step('after five wrong attempts the page shows how long to wait');
  await client.fill('guess');
  for (let i = 0; i < 6; i++) {
    await secret.fill(`guess ${i}`);
    const answered = page.waitForResponse((response) => response.url().endsWith('/ops/session'));
    await page.getByRole('button', { name: 'Sign in' }).click();
    equal((await answered).status(), i < 5 ? 401 : 429, `attempt ${i + 1}`);
    await eventually(async () => (await secret.inputValue()) === '', 'the page clears the secret');
  }
  await fault.getByText(/Try again in \d+ s/).waitFor();
  equal((await context.cookies()).length, 0, 'cookies after rejected attempts');

  step('the right secret; scripts cannot read the cookie');
  await client.fill(env.LARDER_OPS_ID);
  await secret.fill(env.LARDER_OPS_SECRET);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Restaurants' }).waitFor();
  const [cookie] = await context.cookies();
  must(cookie.httpOnly && cookie.sameSite === 'Strict', `the cookie is ${JSON.stringify(cookie)}`);
  equal(await page.evaluate(() => document.cookie), '', 'cookies that scripts can read');
  equal(await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }])), '[{},{}]', 'data that the browser stores');

  step('a reload stays signed in');
  await page.reload();
  await page.getByRole('heading', { name: 'Restaurants' }).waitFor();

  step('after the session has ended, the page asks to sign in again');
  await context.clearCookies();
  await page.getByRole('link', { name: 'Audit log' }).click();
  await fault.getByText('Your session has ended').waitFor();

  step('signing out removes the cookie');
  await client.fill(env.LARDER_OPS_ID);
  await secret.fill(env.LARDER_OPS_SECRET);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await use(page, page.getByRole('button', { name: 'Sign out' }));
  await client.waitFor();
  equal((await context.cookies()).length, 0, 'cookies after signing out');
});
