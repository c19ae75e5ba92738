// Tests the framework itself: each kind of bad page is detected, and a good page passes.
import { createServer } from 'node:http';
import { axe } from '../axe.mjs';
import { focused, use, tabTo } from '../keyboard.mjs';
import { must, equal, scenario, step } from '../scenario.mjs';
import { everyVariant } from '../shot.mjs';

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

/** Runs a function that must fail, and returns its error message. */
async function failureOf(run) {
  try {
    await run();
  } catch (error) {
    return error.message;
  }
  throw new Error('it did not fail');
}

await scenario({ size: 'narrow', matrix: false }, async ({ page, problems }) => {
  step('a good page passes');
  await page.goto(`${base}/good`);
  await axe(page);
  await everyVariant(page, 'good');
  await use(page, page.getByRole('button', { name: 'Two' }));
  equal((await focused(page)).name, 'button Two', 'what has the focus');
  problems.check();

  for (const [path, words] of Object.entries({
    '/console': 'a word of trouble', '/thrown': 'thrown away', '/inline': 'content security policy', '/elsewhere': 'another origin',
  })) {
    step(`${path} is detected`);
    await page.goto(base + path, { waitUntil: 'networkidle' });
    const why = await failureOf(() => problems.check());
    must(why.includes(words), `${path} fails with: ${why}`);
  }

  step('axe detects a button without a name');
  await page.goto(`${base}/unnamed`);
  must((await failureOf(() => axe(page))).includes('button-name'), 'axe finds no button-name');
  step('horizontal overflow is detected');
  await page.goto(`${base}/wide`);
  must((await failureOf(() => everyVariant(page, 'wide', { only: ['narrow-dark'] }))).includes('horizontally'), 'the overflow is not detected');
  step('an invisible focus is detected');
  await page.goto(`${base}/unseen`);
  must((await failureOf(() => tabTo(page, page.getByRole('button')))).includes('is not visible'), 'the invisible focus is not detected');
}).finally(() => server.close());
