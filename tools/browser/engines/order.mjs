// A guest orders on a phone in Firefox and in WebKit: the menu, a dish with options, the form, no network, and the
// confirmation. LARDER_FIREFOX, LARDER_WEBKIT and LARDER_MINIBROWSER are the programs.
import { createServer, connect } from 'node:net';
import { env, exit } from 'node:process';
import { sandbox } from '../services.mjs';
import { firefox, webkit } from '../webdriver.mjs';

const equal = (got, want, what) => { if (JSON.stringify(got) !== JSON.stringify(want)) throw new Error(`${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`); };

/** Starts a proxy before larder whose network can be cut. */
async function network() {
  const { hostname, port } = new URL(env.LARDER_URL);
  const open = new Set();
  let cut = false;
  const server = createServer((guest) => {
    if (cut) return guest.destroy();
    const larder = connect(Number(port), hostname);
    for (const [one, other] of [[guest, larder], [larder, guest]]) {
      open.add(one);
      one.on('error', () => other.destroy()).on('close', () => { open.delete(one); other.destroy(); }).pipe(other);
    }
  });
  await new Promise((done) => { server.listen(0, '127.0.0.1', done); });
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    cut(now) {
      cut = now;
      if (now) open.forEach((one) => one.destroy());
    },
    close() {
      open.forEach((one) => one.destroy());
      server.close();
    },
  };
}

const inMenu = (selector) => `() => document.querySelector('larder-menu').shadowRoot.querySelector(${JSON.stringify(selector)})`;
const inForm = (selector) => `() => document.querySelector('larder-order-form').shadowRoot.querySelector(${JSON.stringify(selector)})`;
const state = `() => document.querySelector('larder-order-form').shadowRoot.querySelector('[data-state]')?.dataset.state`;
const text = (find) => `() => (${find})()?.innerText ?? ''`;

async function addFries(browser) {
  // A click while the menu moves can meet another place, so it is repeated until the dialog is open.
  for (let i = 0; i < 20 && !(await browser.run(`() => !!(${inMenu('dialog[open]')})()`)); i++) {
    await browser.click(inMenu('[data-dish=dish-fries] [part=add]'));
    await new Promise((done) => setTimeout(done, 500)); //testwaits:allow the time between two looks
  }
  await browser.click(inMenu('dialog[open] input[type=radio], dialog[open] input[type=checkbox]'));
  await browser.click(inMenu('dialog[open] button.main'));
  await browser.wait(`() => !document.querySelector('larder-menu').shadowRoot.querySelector('dialog[open]')`, true);
}

async function order(browser, net) {
  const step = (words) => console.log(`${browser.name}: ${words}`);
  await browser.resize(390, 844);

  step('the menu, and a dish with a sauce to choose');
  await browser.goto(`${net.url}/`);
  await addFries(browser);

  step('the bar opens the order form, which is a screen of its own');
  await browser.click(inMenu('[part=basket-button]'));
  await browser.wait(`() => document.documentElement.classList.contains('ordering')`, true);
  await browser.click(inForm('input[name=expeditionType][value=pickup]'));
  await browser.type(inForm('[id="f-guest.phone"]'), '+10005550100');

  step('without a network, nothing is sent, and the form says so; then it is sent by itself, once');
  const before = (await sandbox.orders()).length;
  await browser.run(`() => { Object.defineProperty(navigator, 'onLine', { configurable: true, get: () => false }); dispatchEvent(new Event('offline')); }`);
  net.cut(true);
  await browser.click(inForm('[part=place]'));
  await browser.wait(state, 'offline');
  equal((await sandbox.orders()).length, before, 'orders while offline');
  net.cut(false);
  await browser.run(`() => { delete navigator.onLine; dispatchEvent(new Event('online')); }`);
  await browser.wait(state, 'placed');
  equal((await sandbox.orders()).length, before + 1, 'orders afterwards');

  step('the confirmation, also after a reload');
  const { orderID, body } = (await sandbox.orders()).at(-1);
  equal([body.dishList.length, body.dishList[0].ingredients.length, body.guest.phone], [1, 1, '+10005550100'], 'the order');
  for (const again of [false, true]) {
    if (again) await browser.goto(`${net.url}/`);
    await browser.wait(state, 'placed');
    await browser.wait(`() => (${text(inForm('[part=outcome]'))})().includes(${JSON.stringify(orderID)})`, true);
  }

  step('a network that fails after the tap: the outcome is not known, and one order is placed when it is back');
  await browser.goto(`${net.url}/`);
  await browser.run(`() => { document.querySelector('larder-order-form').scrollIntoView(); }`);
  await browser.click(`() => [...document.querySelector('larder-order-form').shadowRoot.querySelectorAll('button')].find((one) => one.innerText === 'New order')`);
  if (await browser.run(`() => document.documentElement.classList.contains('ordering')`)) await browser.click(`() => document.querySelector('#back button')`); // a navigation to the same address can be a reload
  await browser.wait(`() => document.documentElement.classList.contains('ordering')`, false);
  await addFries(browser);
  await browser.click(inMenu('[part=basket-button]'));
  await browser.click(inForm('input[name=expeditionType][value=pickup]'));
  await sandbox.faults([{ match: { method: 'POST', path: '/orders/api/v1/orders' }, times: 1, do: 'latency', delay: '2s' }]);
  await browser.click(inForm('[part=place]'));
  await browser.wait(state, 'sending');
  for (let i = 0; (await sandbox.faults()).length && i < 100; i++) await new Promise((done) => setTimeout(done, 50)); //testwaits:allow the time between two looks
  net.cut(true);
  await new Promise((done) => setTimeout(done, 3000)); //testwaits:allow the order arrives after 2 s, its response does not
  equal(await browser.run(state) === 'placed', false, 'a confirmation without a response');
  net.cut(false);
  await browser.wait(state, 'placed');
  equal((await sandbox.orders()).length, before + 2, 'orders after the lost response');
}

try {
  for (const [begin, ...programs] of [[firefox, env.LARDER_FIREFOX], [webkit, env.LARDER_WEBKIT, env.LARDER_MINIBROWSER]]) {
    const net = await network();
    const browser = await begin(...programs);
    try {
      await order(browser, net);
    } finally {
      await browser.stop();
      net.close();
    }
  }
} catch (error) {
  console.log(error);
  exit(1);
}
