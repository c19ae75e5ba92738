// Checks of every page in every scenario. What a page does must not fail: it must not write an
// error to the console, throw, violate its Content-Security-Policy, send a request that fails, or
// send a request to another origin. What a browser does by itself is no problem of the page.

/** The problems of the pages of a context. */
class Problems {
  all = [];
  attached = []; // the sessions of the pages, as promises
  aborted = []; // judge the requests that ended without a response and that no session has reported yet

  constructor(expected) {
    this.expected = expected;
  }

  /** Adds a problem once, because two sources report most requests. */
  add(line) {
    if (!this.all.includes(line) && !this.expected.some((pattern) => pattern.test(line))) this.all.push(line);
  }

  /** Waits until all pages that are open are observed. A new page must not be used before. */
  async ready() {
    await Promise.all(this.attached);
  }

  /** Fails if there are problems, and removes them. */
  async check() {
    // The browser answers a command after it has sent the events before. Under load the sessions may be behind.
    const sessions = await Promise.all(this.attached);
    await Promise.allSettled(sessions.map((session) => session?.send('Network.enable')));
    for (const judge of this.aborted.splice(0)) judge();
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
  const requests = new Requests(problems, images, origins);
  requests.follow(context);
  context.on('page', (page) => problems.attached.push(attach(context, page, problems, requests).catch((error) => {
    if (!page.isClosed()) problems.add(`the page is not observed: ${error}`);
  })));
  return problems;
}

/** Reports whether a script wrote the message. Messages of the browser itself have a text and no arguments. */
function byScript(message) {
  return message.args().length > 0;
}

/**
 * The requests of the pages of a context: `{ method, url, type, initiator }`. Two sources report them:
 *
 * - a session of the protocol for each page (attach). It reports what caused a request, and whether it was canceled.
 * - Playwright's events. They include requests of workers, of frames in other processes, and of a new window before
 *   it has a session. They have no initiator, and leave out each request whose address ends in /favicon.ico.
 */
class Requests {
  #unseen = new Map(); // how many requests with a method and an address only Playwright has reported

  constructor(problems, images, origins) {
    Object.assign(this, { problems, images, origins });
  }

  /**
   * Adds a problem for a request without a response, or with a status of 400 or above:
   * `request failed: 404 GET https://…` or `request failed: no response GET https://…`.
   */
  failed(request, what, why = request.type) {
    if (!byBrowser(request)) this.problems.add(`request failed: ${what} ${request.method} ${request.url} (${why})`);
  }

  /** Adds a problem if the origin of a request is not that of its page. */
  sent({ method, url, type }, page) {
    const to = new URL(url);
    if (!/^https?:/.test(page.url()) || to.protocol === 'data:' || to.protocol === 'blob:') return;
    const own = new URL(page.url()).origin;
    if (to.origin === own || this.origins.includes(to.origin) || (type === 'image' && this.images.includes(to.origin))) return;
    this.problems.add(`request to another origin: ${method} ${url} from ${own}`);
  }

  /** Adds `more` to the number of requests that only Playwright has reported, and returns it. */
  unseen({ method, url }, more = 0) {
    const name = `${method} ${url}`;
    this.#unseen.set(name, (this.#unseen.get(name) ?? 0) + more);
    return this.#unseen.get(name);
  }

  /**
   * Judges Playwright's events. They do not show whether a request was canceled. So the sessions judge requests without
   * a response. Those that no session has seen fail, canceled or not: list them in `expected`. Images are left out: each
   * navigation cancels some, perhaps before a session has seen them. A session may report an aborted request later than
   * Playwright, so these are judged by check.
   */
  follow(context) {
    const answered = new WeakSet();
    const ofPlaywright = (request) => ({ method: request.method(), url: request.url(), type: request.resourceType() });
    context.on('request', (request) => {
      this.unseen(ofPlaywright(request), 1);
      if (!request.isNavigationRequest()) this.sent(ofPlaywright(request), request.frame().page());
    });
    context.on('response', (response) => {
      answered.add(response.request());
      if (response.status() >= 400) this.failed(ofPlaywright(response.request()), response.status());
    });
    context.on('requestfailed', (request) => {
      const judge = () => {
        if (!answered.has(request) && this.unseen(ofPlaywright(request)) > 0) this.failed(ofPlaywright(request), 'no response', request.failure()?.errorText);
      };
      const aborted = request.failure()?.errorText === 'net::ERR_ABORTED';
      if (!aborted) judge();
      else if (request.resourceType() !== 'image') this.problems.aborted.push(judge);
    });
  }
}

/**
 * Reports whether the browser sends a request by itself, such as for an icon. The protocol has no kind for it ("other"),
 * and its initiator is "other". A kind alone is not enough: <link rel=prefetch> has none. An initiator alone is not
 * enough either: navigations, forms, workers and preload headers have the initiator "other". A prefetch that only a
 * header names looks like an icon, and cannot fail a scenario.
 */
function byBrowser({ type, initiator = 'other' }) {
  return type === 'other' && initiator === 'other';
}

/**
 * The sources of the browser's messages about what a page does. Those about the network repeat failed requests, and
 * those of workers repeat Playwright's events. Others, such as "intervention" and "deprecation", are the browser's opinion.
 */
const ofPages = ['javascript', 'rendering', 'security', 'storage', 'xml'];

/** Observes a page with a session of its own. Problems of `ofPages` are `message of the browser (security): …`. */
async function attach(context, page, problems, requests) {
  const session = await context.newCDPSession(page);
  const sent = new Map(); // requests by their ids
  session.on('Network.requestWillBeSent', ({ requestId, loaderId, type = 'Other', initiator, request: { method, url } }) => {
    // A redirect keeps its id, and has the initiator "other".
    const request = { method, url, type: type.toLowerCase(), initiator: sent.get(requestId)?.initiator ?? initiator.type };
    sent.set(requestId, request);
    requests.unseen(request, -1);
    if (requestId !== loaderId && !byBrowser(request)) requests.sent(request, page);
  });
  const failed = (id, ...what) => {
    if (sent.has(id)) requests.failed(sent.get(id), ...what);
    sent.delete(id);
  };
  session.on('Network.responseReceived', ({ requestId, response }) => {
    if (response.status >= 400) failed(requestId, response.status);
  });
  session.on('Network.loadingFailed', ({ requestId, canceled, errorText, blockedReason }) => {
    if (!canceled) failed(requestId, 'no response', errorText || blockedReason);
  });
  session.on('Log.entryAdded', ({ entry: { level, source, text, url = '' } }) => {
    if (level === 'error' && ofPages.includes(source)) problems.add(`message of the browser (${source}): ${text} (${url})`);
  });
  await Promise.all([session.send('Network.enable'), session.send('Log.enable')]);
  return session;
}
