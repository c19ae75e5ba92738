// What a page must never do, whatever a scenario looks at: write an error to
// the console, throw, break its Content-Security-Policy, or ask another origin
// for anything.

/** Everything that went wrong on the pages of a context. */
class Heard {
  all = [];

  constructor(expected) {
    this.expected = expected;
  }

  add(line) {
    if (!this.expected.some((pattern) => pattern.test(line))) this.all.push(line);
  }

  /** Fails when anything went wrong, and forgets it. */
  check() {
    const lines = this.all.splice(0);
    if (lines.length > 0) throw new Error(`the page did what it must not:\n  ${lines.join('\n  ')}`);
  }
}

/** Listens to all pages of a context, and gives what it hears. */
export async function guard(context, { expected = [], images = [] }) {
  const heard = new Heard(expected);
  await context.exposeBinding('larderHeardViolation', (_, what) => heard.add(`content security policy: ${what}`));
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      globalThis.larderHeardViolation(`${event.violatedDirective} refuses ${event.blockedURI} at ${event.sourceFile}:${event.lineNumber}`);
    });
  });
  context.on('console', (message) => {
    if (message.type() === 'error') heard.add(`console: ${message.text()} (${message.location().url})`);
  });
  context.on('weberror', (error) => heard.add(`uncaught: ${error.error().stack ?? error.error()}`));
  context.on('request', (request) => {
    const own = home(request);
    const to = new URL(request.url());
    if (!own || to.protocol === 'data:' || to.protocol === 'blob:' || to.origin === own) return;
    if (request.resourceType() === 'image' && images.includes(to.origin)) return;
    heard.add(`request to another origin: ${request.method()} ${request.url()} from ${own}`);
  });
  return heard;
}

/** The origin of the page that asks; none for going to a page. */
function home(request) {
  if (request.isNavigationRequest()) return undefined;
  const url = request.frame().page().url();
  return /^https?:/.test(url) ? new URL(url).origin : undefined;
}
