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

/** A server that is not larder. It answers every request with a page that any origin may read. */
const stranger = createServer((request, response) => {
  response.writeHead(request.url.includes('missing') ? 404 : 200, { 'Content-Type': 'text/html', 'Access-Control-Allow-Origin': '*' }).end('<p>Hello');
}).listen(0, '127.0.0.1');
await once(stranger, 'listening');
const strange = `http://127.0.0.1:${stranger.address().port}`;

const expected = [/blocked by CORS policy/, /net::ERR_/, /status of 40\d/, /status of 503/, /EventSource's response/];
await scenario({ matrix: false, expected, origins: [larder, closed, strange, backend].map((url) => new URL(url).origin) }, async ({ open }) => {
  /** Opens the page, changed, and returns it with what larder writes to the console. */
  const visit = async (from, before = '', after = '') => {
    const { page } = await open();
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
    await page.waitForTimeout(300);
    equal(said.length, 1, `messages: ${said.join('\n')}`);
    step(`  ${said[0]}`);
  };
  const unable = "We can't load the menu right now.";

  step('CORS: the origin of the page is not allowed');
  await says(await visit(other), ['CORS', other, 'http.cors_origins', `--origin ${other}`], unable);

  step('the restaurant does not exist: guests do not see "right now"');
  await says(await visit(site, bistro, 'nope'), ['"nope"', bistro], "This menu isn't available.");

  step('larder cannot be reached');
  await says(await visit(site, 'restaurant=', `src="${closed}" restaurant=`), [closed, 'cannot be reached'], unable);

  step('another server: 404, and a page');
  await says(await visit(site, 'restaurant=', `src="${strange}/missing" restaurant=`), [strange, '404', 'not from larder'], unable);
  await says(await visit(site, 'restaurant=', `src="${strange}" restaurant=`), [strange, '200', 'not from larder'], unable);

  step('an order to a backend that does not allow the page');
  const { page, said } = await visit(site, '<larder-order-form', `<larder-order-form order-url="${backend.replace('/order', '/wrong')}"`);
  await parts(page).choose.waitFor();
  await addFries(page);
  await fillPickup(page);
  await use(page, parts(page).submit);
  await eventually(() => said.length > 0, 'a message on the console');
  must(said[0].includes('CORS') && said[0].includes('Access-Control-Allow-Origin') && said[0].includes('/wrong'), said[0]);
  step(`  ${said[0]}`);
});
stranger.close();
