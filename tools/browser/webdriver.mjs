// Firefox and WebKit, Safari's engine, over WebDriver (https://www.w3.org/TR/webdriver/). WebKit has it over HTTP, in
// WebKitWebDriver. Firefox has the same commands on its Marionette port: Debian has no other driver for it.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';

const elementKey = 'element-6066-11e4-a52e-4f735466cecf'; // of the specification, section 12
const starting = 60_000; // milliseconds until a browser is ready
const answering = 60_000; // milliseconds until a command is answered

const sleep = (ms) => new Promise((done) => setTimeout(done, ms)); //testwaits:allow the time between two looks

/** Repeats work until it succeeds. */
async function until(work) {
  for (const end = Date.now() + starting; ; await sleep(100)) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}

/** Rejects after a time limit. */
function limited(promise, what) {
  let timer;
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`${what}: no answer within ${answering / 1000} s`)), answering); });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Starts a program with an own temporary folder as its home. */
async function start(program, args, more = {}) {
  const home = await mkdtemp(join(tmpdir(), 'larder-browser-'));
  const child = spawn(program, args(home), { stdio: 'ignore', env: { ...env, HOME: home, XDG_RUNTIME_DIR: home, ...more } });
  const failed = new Promise((_, reject) => { child.on('error', reject); });
  failed.catch(() => {});
  const stop = async () => {
    const ended = new Promise((done) => { child.exitCode === null && child.signalCode === null ? child.on('exit', done) : done(); });
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
    await ended;
    clearTimeout(timer);
    await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  return { home, failed, stop };
}

/** A browser with one window. send executes a command of WebDriver; its last argument has the parameters. */
class Browser {
  constructor(name, send, stop) {
    Object.assign(this, { name, send, stop });
  }

  goto(url) { return this.send('Navigate', 'POST', '/url', { url }); }

  resize(width, height) { return this.send('SetWindowRect', 'POST', '/window/rect', { width, height }); }

  /** Calls a function in the page. It must not use variables of its surroundings. */
  run(work, ...args) {
    return this.send('ExecuteScript', 'POST', '/execute/sync', { script: `return (${work})(...arguments)`, args });
  }

  /** Returns the element that find returns in the page, once it is there and visible. */
  async element(find, ...args) {
    return until(async () => {
      const found = await this.run(`(...args) => { const one = (${find})(...args); if (!one || !one.getClientRects().length) throw new Error('not there: ${String(find).replaceAll(/[\\'\n]/g, ' ')}'); one.scrollIntoView({ block: 'center' }); return one; }`, ...args);
      return found[elementKey];
    });
  }

  /** Clicks an element. While the page is drawn again or scrolls, a click can fail; it is then repeated. */
  async click(find, ...args) {
    await until(async () => {
      const id = await this.element(find, ...args);
      await this.send('ElementClick', 'POST', `/element/${id}/click`, { id });
    });
  }

  async type(find, text) {
    const id = await this.element(find);
    await this.send('ElementSendKeys', 'POST', `/element/${id}/value`, { id, text });
  }

  /** Waits until a function in the page returns what is wanted. */
  wait(work, want) {
    return until(async () => {
      const got = await this.run(work);
      if (got !== want) throw new Error(`${String(work)}: ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
    });
  }
}

/** Starts Firefox. Its Marionette messages are JSON with their length before it. */
export async function firefox(program) {
  const { home, failed, stop } = await start(program, (folder) => ['--headless', '--no-remote', '--marionette', '--profile', folder], { MOZ_DISABLE_CONTENT_SANDBOX: '1' });
  try {
    await writeFile(join(home, 'user.js'), 'user_pref("marionette.port", 0);\n');
    const port = Number(await Promise.race([failed, until(async () => {
      const text = await readFile(join(home, 'MarionetteActivePort'), 'utf8');
      if (!text) throw new Error('Firefox has not opened its port');
      return text;
    })]));
    const socket = connect(port, '127.0.0.1');
    const waiting = new Map();
    let data = Buffer.alloc(0);
    let last = 0;
    socket.on('data', (more) => {
      for (data = Buffer.concat([data, more]); ;) {
        const colon = data.indexOf(':');
        const length = Number(data.subarray(0, colon));
        if (colon < 0 || data.length < colon + 1 + length) return;
        const message = JSON.parse(data.subarray(colon + 1, colon + 1 + length));
        data = data.subarray(colon + 1 + length);
        if (!Array.isArray(message)) continue; // the greeting
        const [, id, error, value] = message;
        const { resolve, reject } = waiting.get(id);
        waiting.delete(id);
        if (error) reject(new Error(`${error.error}: ${error.message}`));
        else resolve(value && 'value' in value ? value.value : value);
      }
    });
    const closed = () => { for (const { reject } of waiting.values()) reject(new Error('Firefox has closed its port')); };
    socket.on('error', closed).on('close', closed);
    const send = (command, method, path, parameters = {}) => limited(new Promise((resolve, reject) => {
      waiting.set(++last, { resolve, reject });
      const text = JSON.stringify([0, last, `WebDriver:${command}`, parameters]);
      socket.write(`${Buffer.byteLength(text)}:${text}`);
    }), command);
    await send('NewSession', '', '', {});
    return new Browser('Firefox', send, async () => { socket.destroy(); await stop(); });
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts WebKit's small browser. It needs a display, such as that of xvfb-run. */
export async function webkit(program, small) {
  const port = await new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => { const { port: free } = server.address(); server.close(() => done(free)); });
  });
  const { failed, stop } = await start(program, () => [`--port=${port}`, '--host=127.0.0.1'], { WEBKIT_DISABLE_COMPOSITING_MODE: '1' });
  try {
    let session = '/session';
    const send = async (command, method, path, parameters) => {
      const response = await limited(fetch(`http://127.0.0.1:${port}${session}${path}`, {
        method, body: parameters && JSON.stringify(parameters), headers: { 'Content-Type': 'application/json' },
      }), command);
      const { value } = await response.json();
      if (!response.ok) throw new Error(`${value.error}: ${value.message}`);
      return value;
    };
    const capabilities = { alwaysMatch: { 'webkitgtk:browserOptions': { binary: small, args: ['--automation'] } } };
    const begun = await Promise.race([failed, until(() => send('NewSession', 'POST', '', { capabilities }))]);
    session = `/session/${begun.sessionId}`;
    return new Browser('WebKit', send, async () => {
      await send('DeleteSession', 'DELETE', '').catch(() => {}); // closes the browser
      await stop();
    });
  } catch (error) {
    await stop();
    throw error;
  }
}
