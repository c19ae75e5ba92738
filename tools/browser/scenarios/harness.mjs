// Tests the framework itself: each kind of bad page is detected, and a good page passes.
import { createServer } from 'node:http';
import { axe } from '../axe.mjs';
import { focused, use, tabTo } from '../keyboard.mjs';
import { must, equal, eventually, scenario, step } from '../scenario.mjs';
import { everyVariant } from '../shot.mjs';

/** A page with these elements. */
const page = (...elements) => `<!doctype html><html lang="en"><title>x</title>${elements.join('')}</html>`;
/** A page that runs a script of the same name. */
const scripted = (name) => page(`<script src="${name}.js"></script>`);

const pages = {
  '/good': page('<main><h1>Good</h1><button>One</button> <button>Two</button></main>'),
  '/console': scripted('console'),
  '/console.js': 'console.error("a word of trouble")',
  '/thrown': scripted('thrown'),
  '/thrown.js': 'throw new Error("thrown away")',
  '/rejected': scripted('rejected'),
  '/rejected.js': 'Promise.reject(new Error("not handled"))',
  '/worker': scripted('worker'),
  '/worker.js': 'new Worker("/thrown.js")',
  '/inline': page('<script>document.title = "ran"</script>'),
  '/elsewhere': scripted('elsewhere'),
  '/elsewhere.js': 'fetch("CLOSED").catch(() => {})',
  '/script': page('<script src="/none.js"></script>'),
  '/image': page('<img src="/none.png" alt="">'),
  '/style': page('<link rel="stylesheet" href="/style.css">', '<main>x</main>'),
  '/style.css': 'main { background: url(/none-css.png) }',
  '/checksum': page('<script src="/fine.js" integrity="sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="></script>'),
  '/fine.js': '',
  '/fetch': scripted('fetch'),
  '/fetch.js': 'fetch("/none-fetch")',
  '/refused': scripted('refused'),
  '/refused.js': 'fetch("/cut").catch(() => {})',
  '/prefetch': page('<link rel="prefetch" href="/none-prefetch">'),
  '/preload': page(),
  '/beacon': scripted('beacon'),
  '/beacon.js': 'navigator.sendBeacon("/none-beacon", "x")',
  '/stream': scripted('stream'),
  '/stream.js': 'new EventSource("/none-stream")',
  '/frame': page('<iframe src="/none-frame" title="x"></iframe>'),
  '/link': page('<a href="/none-link">x</a>', '<script src="/press.js"></script>'),
  '/form': page('<form action="/none-form" method="post"><button>x</button></form>', '<script src="/press.js"></script>'),
  '/press.js': 'document.querySelector("a, button").click()',
  '/window': scripted('window'),
  '/window.js': 'open("/image")',
  '/canceled': scripted('canceled'),
  '/canceled.js': 'globalThis.stop = new AbortController(); fetch("/slow", { signal: stop.signal }).catch(() => { document.title = "stopped"; })',
  '/favicon-image': page('<img src="/favicon.ico" alt="">'),
  '/favicon-fetch': scripted('favicon-fetch'),
  '/favicon-fetch.js': 'fetch("/favicon.ico")',
  '/favicon-elsewhere': scripted('favicon-elsewhere'),
  '/favicon-elsewhere.js': 'fetch("CLOSED/favicon.ico").catch(() => {})',
  '/moved': page('<link rel="prefetch" href="/old">'),
  '/in-worker': scripted('in-worker'),
  '/in-worker.js': 'new Worker("/refused.js")',
  '/hinted': page(),
  '/intervened': scripted('intervened'),
  '/intervened.js': 'navigator.vibrate(1)', // before the guest has tapped
  '/icon': page('<link rel="icon" href="/none-icon.svg">'),
  '/unnamed': page('<main><h1>x</h1><button></button></main>'),
  '/wide': page('<link rel="stylesheet" href="/wide.css"><main><h1>x</h1><p>wide</p></main>'),
  '/wide.css': 'p { width: 400px }',
  '/unseen': page('<link rel="stylesheet" href="/unseen.css"><main><h1>x</h1><button>Hidden</button></main>'),
  '/unseen.css': ':focus { outline: none }',
};

/** Bad pages, and what the guard says about them. */
const bad = {
  '/console': 'console: a word of trouble',
  '/thrown': 'uncaught: Error: thrown away',
  '/rejected': 'uncaught: Error: not handled',
  '/worker': 'uncaught: Error: thrown away',
  '/inline': 'content security policy',
  '/elsewhere': 'another origin',
  '/script': 'request failed: 404 GET BASE/none.js',
  '/image': 'request failed: 404 GET BASE/none.png',
  '/style': 'request failed: 404 GET BASE/none-css.png',
  '/checksum': 'message of the browser (security)',
  '/fetch': 'request failed: 404 GET BASE/none-fetch',
  '/refused': 'request failed: no response GET BASE/cut',
  '/prefetch': 'request failed: 404 GET BASE/none-prefetch', // the page names the address
  '/preload': 'request failed: 404 GET BASE/none-preload.js',
  '/beacon': 'request failed: 404 POST BASE/none-beacon',
  '/stream': 'request failed: 404 GET BASE/none-stream',
  '/frame': 'request failed: 404 GET BASE/none-frame',
  '/link': 'request failed: 404 GET BASE/none-link',
  '/form': 'request failed: 404 POST BASE/none-form',
  '/window': 'request failed: 404 GET BASE/none.png',
  '/favicon-image': 'request failed: 404 GET BASE/favicon.ico (image)',
  '/favicon-fetch': 'request failed: 404 GET BASE/favicon.ico (fetch)',
  '/favicon-elsewhere': 'another origin: GET CLOSED/favicon.ico',
  '/moved': 'request failed: 404 GET BASE/none-new',
  '/in-worker': 'request failed: no response GET BASE/cut',
  '/none-page': 'request failed: 404 GET BASE/none-page',
};

const requested = new Set();
const server = createServer((request, response) => {
  requested.add(request.url);
  if (request.url === '/slow') return; // until the page gives up
  if (request.url === '/cut') {
    request.socket.destroy();
    return;
  }
  if (request.url === '/old') {
    response.writeHead(302, { Location: '/none-new' }).end();
    return;
  }
  const body = pages[request.url];
  const kind = request.url.endsWith('.js') ? 'text/javascript' : request.url.endsWith('.css') ? 'text/css' : 'text/html';
  response.writeHead(body === undefined ? 404 : 200, {
    'Content-Type': kind,
    'Content-Security-Policy': request.url.endsWith('elsewhere') ? "default-src 'self'; connect-src *" : "default-src 'self'",
    ...(request.url === '/preload' && { Link: '</none-preload.js>; rel=preload; as=script' }),
    ...(request.url === '/hinted' && { Link: '</none-hinted>; rel=prefetch' }),
  });
  response.end(body?.replace('CLOSED', closed) ?? 'nothing is here');
});
/** Starts a server and returns its address. */
const listen = async (one) => {
  await new Promise((resolve) => one.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${one.address().port}`;
};
const gone = createServer();
const closed = await listen(gone); // a port at which nothing listens
await new Promise((resolve) => gone.close(resolve));
const base = await listen(server);

/** Runs a function that must fail, and returns its error message. */
async function failureOf(run) {
  try {
    await run();
  } catch (error) {
    return error.message;
  }
  throw new Error('it did not fail');
}

await scenario({ size: 'narrow', matrix: false }, async ({ page, problems, open }) => {
  step('a good page passes');
  await page.goto(`${base}/good`);
  await axe(page);
  await everyVariant(page, 'good');
  await use(page, page.getByRole('button', { name: 'Two' }));
  equal((await focused(page)).name, 'button Two', 'what has the focus');
  await problems.check();

  for (const [path, words] of Object.entries(bad)) {
    step(`${path} is detected`);
    const one = await open();
    await one.page.goto(base + path);
    const line = words.replace('BASE', base).replace('CLOSED', closed);
    await eventually(() => one.problems.all.some((problem) => problem.includes(line)), `${path}: ${line}`);
    await one.context.close(); // so that nothing is reported after the check
    must((await failureOf(() => one.problems.check())).includes(line), `${path} does not fail`);
  }

  step('what a browser does by itself is no problem');
  must(!('/favicon.ico' in pages), 'the server has an icon');
  for (const path of ['/good', '/icon', '/intervened', '/hinted']) {
    await page.goto(base + path, { waitUntil: 'networkidle' });
    // To the protocol, a prefetch of a header is like an icon, which a headless shell does not request.
    if (path === '/hinted') await eventually(() => requested.has('/none-hinted'), 'the server has the prefetch');
    await page.evaluate(() => {}); // so that the guard knows
    await problems.check();
  }

  step('what a page cancels is no problem');
  for (const cancel of [() => page.evaluate(() => globalThis.stop.abort()), () => page.goto(`${base}/good`)]) {
    requested.delete('/slow');
    await page.goto(`${base}/canceled`);
    await eventually(() => requested.has('/slow'), 'the server has the request');
    const canceled = page.waitForEvent('requestfailed');
    await cancel();
    equal((await canceled).url(), `${base}/slow`, 'the canceled request');
    await page.evaluate(() => {}); // so that the guard knows
    await problems.check();
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
}).finally(() => {
  server.closeAllConnections();
  server.close();
});
