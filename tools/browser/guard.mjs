// Checks of every page in every scenario. A page must not write an error to the
// console, throw, violate its Content-Security-Policy, or send a request to
// another origin.

/** The problems of the pages of a context. */
class Problems {
  all = [];

  constructor(expected) {
    this.expected = expected;
  }

  add(line) {
    if (!this.expected.some((pattern) => pattern.test(line))) this.all.push(line);
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
    if (message.type() === 'error') problems.add(`console: ${message.text()} (${message.location().url})`);
  });
  context.on('weberror', (error) => problems.add(`uncaught: ${error.error().stack ?? error.error()}`));
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

/** Returns the origin of the page that sends a request. It is undefined for a navigation. */
function originOf(request) {
  if (request.isNavigationRequest()) return undefined;
  const url = request.frame().page().url();
  return /^https?:/.test(url) ? new URL(url).origin : undefined;
}
