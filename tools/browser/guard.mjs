// Checks of every page in every scenario. What a page does must not fail: it must not write an
// error to the console, throw, violate its Content-Security-Policy, send a request that fails, or
// send a request to another origin. What a browser does by itself is no problem of the page.

/** The problems of the pages of a context. */
class Problems {
  all = [];
  attached = [];

  constructor(expected) {
    this.expected = expected;
  }

  add(line) {
    if (!this.expected.some((pattern) => pattern.test(line))) this.all.push(line);
  }

  /** Waits until all pages that are open are observed. A new page must not be used before. */
  async ready() {
    await Promise.all(this.attached);
  }

  /** Fails if there are problems, and removes them. */
  check() {
    const lines = this.all.splice(0);
    if (lines.length > 0) throw new Error(`problems of the page:\n  ${lines.join('\n  ')}`);
  }
}

/** Observes all pages of a context. Returns their problems. */
export async function guard(context, { expected = [], images = [], origins = [] }) {
  const problems = new Problems(expected);
  await context.exposeBinding('larderReportViolation', (_, what) => problems.add(`content security policy: ${what}`));
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      globalThis.larderReportViolation(`${event.violatedDirective} refuses ${event.blockedURI} at ${event.sourceFile}:${event.lineNumber}`);
    });
  });
  context.on('console', (message) => {
    if (message.type() === 'error' && byScript(message)) problems.add(`console: ${message.text()} (${message.location().url})`);
  });
  context.on('weberror', (error) => problems.add(`uncaught: ${error.error().stack ?? error.error()}`));
  observeRequests(context, problems);
  context.on('request', (request) => {
    const own = originOf(request);
    const to = new URL(request.url());
    if (!own || to.protocol === 'data:' || to.protocol === 'blob:' || to.origin === own) return;
    if (origins.includes(to.origin)) return;
    if (request.resourceType() === 'image' && images.includes(to.origin)) return;
    problems.add(`request to another origin: ${request.method()} ${request.url()} from ${own}`);
  });
  return problems;
}

/** Reports whether a script wrote the message. Messages of the browser itself have a text and no arguments. */
function byScript(message) {
  return message.args().length > 0;
}

/**
 * Adds a problem for each request of a page without a response, or with a status of 400 or above:
 * `request failed: 404 GET https://…` or `request failed: no response GET https://…`. Requests that
 * the page or a navigation cancels do not fail.
 *
 * A browser requests icons by itself. The protocol does not name their kind ("Other"), and their
 * initiator is "other". A kind alone is not enough: <link rel=prefetch> has none. An initiator alone
 * is not enough either: forms, links and preload headers have the initiator "other".
 */
function observeRequests(context, problems) {
  const asked = new Set(); // addresses that HTML, CSS or a script requested
  const failed = new WeakSet(); // requests that are reported
  const add = (request, what, why) => {
    if (failed.has(request) || (request.resourceType() === 'other' && !asked.has(request.url()))) return;
    failed.add(request);
    problems.add(`request failed: ${what} ${request.method()} ${request.url()} (${why})`);
  };
  context.on('response', (response) => {
    if (response.status() >= 400) add(response.request(), response.status(), response.request().resourceType());
  });
  context.on('requestfailed', (request) => {
    const why = request.failure()?.errorText ?? '';
    if (why !== canceled) add(request, 'no response', why);
  });
  context.on('page', (page) => problems.attached.push(attach(context, page, problems, asked).catch((error) => {
    if (!page.isClosed()) problems.add(`the page is not observed: ${error}`);
  })));
}

/** The protocol's error of a request that its page has canceled. */
const canceled = 'net::ERR_ABORTED';

/**
 * Observes what Playwright does not tell: the initiators of requests, and the source of messages of
 * the browser. Such messages about the network repeat failed requests, and those of workers repeat
 * Playwright's events. Others, such as a wrong checksum of a script, are problems:
 * `message of the browser (security): …`.
 */
async function attach(context, page, problems, asked) {
  const session = await context.newCDPSession(page);
  session.on('Network.requestWillBeSent', ({ initiator, request }) => {
    if (initiator.type !== 'other') asked.add(request.url);
  });
  session.on('Log.entryAdded', ({ entry: { level, source, text, url = '' } }) => {
    if (level === 'error' && source !== 'network' && source !== 'worker') problems.add(`message of the browser (${source}): ${text} (${url})`);
  });
  await Promise.all([session.send('Network.enable'), session.send('Log.enable')]);
}

/** Returns the origin of the page that sends a request. It is undefined for a navigation. */
function originOf(request) {
  if (request.isNavigationRequest()) return undefined;
  const url = request.frame().page().url();
  return /^https?:/.test(url) ? new URL(url).origin : undefined;
}
