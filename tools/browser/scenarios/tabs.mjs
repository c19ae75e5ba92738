// Two tabs of a restaurant share one event stream. When the tab with the stream closes, the
// other one opens a stream. Both show dishes that sell out, and share one basket.
import { addFries, bistro, fries, openShop, parts } from '../guest.mjs';
import { eventually, equal, scenario, step } from '../scenario.mjs';
import { sandbox, larder as operator } from '../services.mjs';

/** Returns the number of open event streams of menus. */
async function streams(larder) {
  const text = await (await fetch(`${larder}/metrics`)).text();
  return Number(/^larder_event_streams\{kind="menu"\} (\d+)$/m.exec(text)[1]);
}

const setSoldOut = async (out) => {
  await sandbox.stop(bistro, { [fries.id]: out });
  await operator.resync(bistro);
};

await scenario({ matrix: false }, async ({ page: one, context, problems, larder }) => {
  const button = (page) => page.locator(`larder-menu [data-dish=${fries.id}] [part=add]`);
  const waitForLabel = (page, label) => eventually(async () => (await button(page).innerText()) === label, `the dish is shown as: ${label}`);
  try {
    await eventually(async () => (await streams(larder)) === 0, 'no stream is open');
    step('two tabs, one stream');
    await openShop(one, larder);
    await eventually(async () => (await streams(larder)) === 1, 'the first tab has a stream');
    const other = await context.newPage();
    await problems.ready();
    const streamRequests = [];
    other.on('request', (request) => { if (request.url().includes('/v1/events')) streamRequests.push(request.url()); });
    await openShop(other, larder);
    step('both tabs show a dish that sells out');
    await setSoldOut(true);
    await waitForLabel(one, 'Sold out');
    await waitForLabel(other, 'Sold out');
    equal([await streams(larder), streamRequests.length], [1, 0], 'open streams, and streams requested by the second tab');

    step('the tab with the stream closes, and the other opens one');
    await one.close();
    await eventually(async () => streamRequests.length === 1, 'the other tab requests a stream');
    await eventually(async () => (await streams(larder)) === 1, 'one stream is open');
    await setSoldOut(false);
    await waitForLabel(other, 'Choose');
    equal([await streams(larder), streamRequests.length], [1, 1], 'open streams, and requested ones');

    step('both tabs share the basket');
    const third = await context.newPage();
    await problems.ready();
    await openShop(third, larder);
    await addFries(other);
    await parts(third).line.waitFor();
    equal(await streams(larder), 1, 'open streams');
  } finally {
    await setSoldOut(false);
  }
});
