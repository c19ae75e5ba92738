// The harness itself: a page that does everything wrong is found out in each
// way, and a decent one is let pass. Otherwise a green run would mean nothing.
import { createServer } from 'node:http';
import { axe } from '../axe.mjs';
import { focused, use, walkTo } from '../keyboard.mjs';
import { must, same, scenario, step } from '../scenario.mjs';
import { everyLook } from '../shot.mjs';

const pages = {
  '/good': '<!doctype html><html lang="en"><title>Good</title><main><h1>Good</h1><button>One</button> <button>Two</button></main></html>',
  '/console': '<!doctype html><html lang="en"><title>x</title><script src="/console.js"></script></html>',
  '/console.js': 'console.error("a word of trouble")',
  '/thrown': '<!doctype html><html lang="en"><title>x</title><script src="/thrown.js"></script></html>',
  '/thrown.js': 'throw new Error("thrown away")',
  '/inline': '<!doctype html><html lang="en"><title>x</title><script>document.title = "ran"</script></html>',
  '/elsewhere': '<!doctype html><html lang="en"><title>x</title><script src="/elsewhere.js"></script></html>',
  '/elsewhere.js': 'fetch("http://127.0.0.1:9/").catch(() => {})',
  '/unnamed': '<!doctype html><html lang="en"><title>x</title><main><h1>x</h1><button></button></main></html>',
  '/wide': '<!doctype html><html lang="en"><title>x</title><link rel="stylesheet" href="/wide.css"><main><h1>x</h1><p>wide</p></main></html>',
  '/wide.css': 'p { width: 400px }',
  '/unseen': '<!doctype html><html lang="en"><title>x</title><link rel="stylesheet" href="/unseen.css"><main><h1>x</h1><button>Hidden</button></main></html>',
  '/unseen.css': ':focus { outline: none }',
  '/favicon.ico': '',
};

const server = createServer((request, response) => {
  const page = pages[request.url];
  const kind = request.url.endsWith('.js') ? 'text/javascript' : request.url.endsWith('.css') ? 'text/css' : 'text/html';
  response.writeHead(page === undefined ? 404 : 200, {
    'Content-Type': kind,
    'Content-Security-Policy': request.url === '/elsewhere' ? "default-src 'self'; connect-src *" : "default-src 'self'",
  });
  response.end(page);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const base = `http://127.0.0.1:${server.address().port}`;

/** Runs what must fail and gives why it did. */
async function refusal(run) {
  try {
    await run();
  } catch (error) {
    return error.message;
  }
  throw new Error('nothing was found wrong');
}

await scenario({ size: 'narrow' }, async ({ page, heard }) => {
  step('a decent page passes');
  await page.goto(`${base}/good`);
  await axe(page);
  await everyLook(page, 'good');
  await use(page, page.getByRole('button', { name: 'Two' }));
  same((await focused(page)).name, 'button Two', 'what has the focus');
  heard.check();

  for (const [path, words] of Object.entries({
    '/console': 'a word of trouble', '/thrown': 'thrown away', '/inline': 'content security policy', '/elsewhere': 'another origin',
  })) {
    step(`${path} is found out`);
    await page.goto(base + path, { waitUntil: 'networkidle' });
    const why = await refusal(() => heard.check());
    must(why.includes(words), `${path} is refused by: ${why}`);
  }

  step('a button without a name is found by axe');
  await page.goto(`${base}/unnamed`);
  must((await refusal(() => axe(page))).includes('button-name'), 'axe finds no button-name');
  step('what sticks out is found');
  await page.goto(`${base}/wide`);
  must((await refusal(() => everyLook(page, 'wide', { only: ['narrow-dark'] }))).includes('sideways'), 'nothing sticks out');
  step('a focus that cannot be seen is found');
  await page.goto(`${base}/unseen`);
  must((await refusal(() => walkTo(page, page.getByRole('button')))).includes('cannot be seen'), 'the focus is seen');
}).finally(() => server.close());
