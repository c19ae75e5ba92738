// Two tabs of a restaurant share one event stream; the tab that had it closes,
// and the other takes it over. Both know what sells out, and of one basket.
import { addFries, bistro, fries, openShop, parts } from '../guest.mjs';
import { eventually, same, scenario, step } from '../scenario.mjs';
import { kitchen, larder as operator } from '../world.mjs';

/** The streams of menus that larder has open. */
async function streams(larder) {
  const text = await (await fetch(`${larder}/metrics`)).text();
  return Number(/^larder_event_streams\{kind="menu"\} (\d+)$/m.exec(text)[1]);
}

const sells = async (out) => {
  await kitchen.stop(bistro, { [fries.id]: out });
  await operator.resync(bistro);
};

await scenario({}, async ({ page: one, context, larder }) => {
  const button = (page) => page.locator(`larder-menu [data-dish=${fries.id}] [part=add]`);
  const becomes = (page, label) => eventually(async () => (await button(page).innerText()) === label, `the dish is shown as: ${label}`);
  try {
    await eventually(async () => (await streams(larder)) === 0, 'no stream is open');
    step('two tabs, one stream');
    await openShop(one, larder);
    await eventually(async () => (await streams(larder)) === 1, 'the first tab has a stream');
    const other = await context.newPage();
    const asked = [];
    other.on('request', (request) => { if (request.url().includes('/v1/events')) asked.push(request.url()); });
    await openShop(other, larder);
    step('what sells out is told to both');
    await sells(true);
    await becomes(one, 'Sold out');
    await becomes(other, 'Sold out');
    same([await streams(larder), asked.length], [1, 0], 'streams that are open, and asked for by the second tab');

    step('the leader closes, the other takes over');
    await one.close();
    await eventually(async () => asked.length === 1, 'the other tab asks for a stream');
    await eventually(async () => (await streams(larder)) === 1, 'one stream is open');
    await sells(false);
    await becomes(other, 'Choose');
    same([await streams(larder), asked.length], [1, 1], 'streams that are open, and asked for');

    step('a basket is that of both tabs');
    const third = await context.newPage();
    await openShop(third, larder);
    await addFries(other);
    await parts(third).line.waitFor();
    same(await streams(larder), 1, 'streams that are open');
  } finally {
    await sells(false);
  }
});
