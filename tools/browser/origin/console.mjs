// What the elements tell the developer of a site on the browser's console if they do not
// work (S4), and what guests see meanwhile (G7).
import { createServer } from 'node:http';
import { once } from 'node:events';
import { env } from 'node:process';
import { bistro, addFries, fillPickup, parts } from '../guest.mjs';
import { use } from '../keyboard.mjs';
import { equal, eventually, must, scenario, step } from '../scenario.mjs';

const { LARDER_SITE: site, LARDER_OTHER_SITE: other, LARDER_URL: larder, LARDER_BACKEND_JS: backend } = env;
const closed = 'http://127.0.0.1:9'; // nothing listens at the port "discard"
const schemeless = 'localhost:8080';

/** A server that is not larder. It answers every request with a page. Any origin may read it, except at /private. It takes no POST. */
const stranger = createServer((request, response) => {
  const status = request.method === 'POST' ? request.url.includes('refused') ? 401 : 501 : request.url.includes('missing') ? 404 : 200;
  const allowed = request.url.includes('private') ? {} : { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': '*' };
  response.writeHead(status, { 'Content-Type': 'text/html', ...allowed }).end('<p>Hello');
}).listen(0, '127.0.0.1');
await once(stranger, 'listening');
const strange = `http://127.0.0.1:${stranger.address().port}`;

const expected = [
  /^request failed: (no response|404) GET \S+\/v1\/(restaurants|events)\b/,
  /^request failed: no response GET \S+\/web\/(diagnose\.js|texts\.json)/,
  /^request failed: (no response|401|404|501) (GET|POST|OPTIONS) \S+\/(order|wrong|refused) /,
  /^message of the browser \((javascript|security)\): /,
  /^content security policy: connect-src refuses \S+\/order /,
];
await scenario({ matrix: false, expected, origins: [larder, closed, strange, backend, schemeless].map((url) => new URL(url).origin) }, async ({ open }) => {
  /** Opens the page, changed, and returns it with what larder writes to the console. */
  const visit = async (from, before = '', after = '', blocked = '') => {
    const { page } = await open();
    if (blocked) await page.route((url) => url.pathname.endsWith(blocked), (route) => route.abort());
    const said = [];
    page.on('console', (message) => { if (message.text().startsWith('larder: ')) said.push(message.text()); });
    await page.goto(`${from}/?${new URLSearchParams(before ? { old: before, new: after } : {})}`);
    return { page, said, again: page.locator('larder-menu').getByRole('button', { name: 'Try again' }) };
  };
  const says = async ({ said, page, again }, words, shown) => {
    await eventually(() => said.length > 0, `a message on the console: ${words}`);
    for (const word of words) must(said[0].includes(word), `${word} is not in ${said[0]}`);
    await page.locator('larder-menu').getByText(shown).waitFor();
    await again.click();
    await page.waitForTimeout(300); //testwaits:allow the second attempt fails with nothing to see; a second message would come with it
    equal(said.length, 1, `messages: ${said.join('\n')}`);
    step(`  ${said[0]}`);
  };
  const unable = "We can't load the menu right now.";

  step('CORS: the origin of the page is not allowed');
  await says(await visit(other), ['CORS', other, 'http.cors_origins', 'auth.public_orders.enabled', `--origin ${other}`], unable);

  step('the restaurant does not exist: guests do not see "right now"');
  await says(await visit(site, bistro, 'nope'), ['"nope"', '/v1/restaurants lists those that exist'], "This menu isn't available.");

  step('larder cannot be reached');
  await says(await visit(site, 'restaurant=', `src="${closed}" restaurant=`), [closed, 'cannot be reached'], unable);

  step('another server: 404, and a page');
  await says(await visit(site, 'restaurant=', `src="${strange}/missing" restaurant=`), [strange, '404', 'not from larder'], unable);
  await says(await visit(site, 'restaurant=', `src="${strange}" restaurant=`), [strange, '200', 'not from larder'], unable);

  step('larder has stopped, and the browser has only larder.js in its cache');
  await says(await visit(site, 'restaurant=', `src="${closed}" restaurant=`, '/diagnose.js'), [`${new URL(larder).origin}/web/diagnose.js`, 'cannot be loaded', 'running'], unable);

  step('a wrong src: with a path, another server, without a scheme');
  for (const wrong of [`${larder}/web`, `${strange}/private`]) {
    await says(await visit(site, 'restaurant=', `src="${wrong}" restaurant=`), [wrong, 'not larder', 'attribute src', 'without a path'], unable);
  }
  await says(await visit(site, 'restaurant=', `src="${schemeless}" restaurant=`), [schemeless, 'http or https', 'attribute src'], unable);

  for (const [what, url, words, policy] of [
    ['a backend that does not allow the page', backend.replace('/order', '/wrong'), ['CORS', 'Access-Control-Allow-Origin', '/wrong']],
    ['a backend that cannot be reached', `${closed}/order`, ['cannot be reached', 'your backend', 'connect-src']],
    ['a server that is not a backend', `${strange}/order`, ['501', 'order-url']],
    ['a backend whose token larder refuses', `${strange}/refused`, ['401', 'LARDER_SECRET']],
    ['a backend that the CSP of the page blocks', `${strange}/order`, ['cannot be reached', `must list ${strange} in connect-src`], `connect-src ${larder}`],
  ]) {
    step(`an order to ${what}`);
    const { page, said } = await visit(site, '<larder-order-form', `<larder-order-form order-url="${url}"`);
    await parts(page).choose.waitFor();
    if (policy) await page.evaluate((content) => document.head.append(Object.assign(document.createElement('meta'), { httpEquiv: 'Content-Security-Policy', content })), policy);
    await addFries(page);
    await fillPickup(page);
    await use(page, parts(page).submit);
    await eventually(() => said.length > 0, 'a message on the console');
    for (const word of [url, ...words]) must(said[0].includes(word), `${word} is not in ${said[0]}`);
    step(`  ${said[0]}`);
    await page.close();
  }

  step('the attribute restaurant is missing, or set late');
  const without = await visit(site, 'restaurant=', 'id=');
  await eventually(() => without.said.length > 1, 'messages on the console');
  equal(without.said.toSorted(), ['menu', 'order-form'].map((name) => `larder: <larder-${name}> has no attribute restaurant. /v1/restaurants lists the ids.`), 'messages');
  await without.page.locator('larder-menu').getByText("This menu isn't available.").waitFor();
  const late = await visit(site, 'restaurant=', 'id=');
  await late.page.evaluate((id) => document.querySelectorAll('larder-menu, larder-order-form').forEach((element) => { element.restaurant = id; }), bistro);
  await parts(late.page).choose.waitFor();
  await late.page.waitForTimeout(3500); //testwaits:allow the element reports a missing attribute after 3 s
  equal(late.said, [], 'messages');

  step('a slot of a dish that does not exist is reported once');
  const slots = await visit(site, '</larder-menu>', '<b slot="card-none">Vegan</b><b slot="card-dish-fries">Vegan</b></larder-menu>');
  await eventually(() => slots.said.length > 0, 'a message on the console');
  for (const part of ['slot="card-none"', 'the id of a dish', `${bistro}/menu`]) must(slots.said[0].includes(part), `${part} is not in ${slots.said[0]}`);
  equal(slots.said.length, 1, `messages: ${slots.said.join('\n')}`);

  step('settings that the elements cannot use: each is reported once');
  const settings = `currency="EURO" time-zone="Mars/Base" lead-time="1h" max-lead="soon" texts='{"add": "Ajouter {nom}", "addNamed": "Ajouter {name}", "adds": ""}'`;
  const { page, said } = await visit(site, 'currency="TRY"', settings);
  await page.locator('larder-menu').getByText('Ajouter', { exact: false }).first().waitFor();
  await page.evaluate(() => {
    const day = '2026-05-01T';
    document.querySelector('larder-order-form').openings = [
      { from: `${day}11:00`, to: `${day}22:30:00Z` }, { from: `${day}22:30:00Z`, to: `${day}11:00:00Z` }, { from: `${day}11:00:00Z`, to: '2999-05-01T22:30:00Z' },
    ];
  });
  await addFries(page);
  await fillPickup(page);
  const wanted = ['currency="EURO"', 'time-zone="Mars/Base"', 'lead-time="1h"', 'max-lead="soon"', 'there is no text "adds"', 'has no parameter {nom}', '11:00","to"', 'ends before'];
  for (const part of wanted) await eventually(() => said.some((text) => text.includes(part)), `${part} on the console: ${said.join('\n')}`);
  equal(said.length, 7, `messages: ${said.join('\n')}`); // one message is about all texts
  for (const text of said) step(`  ${text}`);
});
stranger.close();
