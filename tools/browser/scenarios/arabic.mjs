// An Arabic shop: right to left, with its own texts, and dishes whose names are Latin,
// Cyrillic and Arabic (G11). Then the same page with English texts only.
import { axe } from '../axe.mjs';
import { fries } from '../guest.mjs';
import { repeated } from '../matrix.mjs';
import { equal, eventually, must, scenario, step } from '../scenario.mjs';
import { shot } from '../shot.mjs';

const arabic = {
  menu: 'القائمة', categories: 'الأقسام', search: 'ابحث في القائمة', add: 'أضف', addNamed: 'أضف {name}', choose: 'اختر', chooseNamed: 'اختر الإضافات: {name}',
  soldOut: 'نفد', close: 'إغلاق', exactly: 'اختر {min}', range: 'من {min} إلى {max}', upTo: 'حتى {max}', anyNumber: 'بلا حد', needs: 'اختر {n} بعد', chosen: 'تم اختيار {n}',
  quantity: 'الكمية', fewer: 'أقل: {name}', more: 'أكثر: {name}', addFor: 'أضف مقابل {price}', pcs: 'قطعة', calories: '{n} سعرة', order: 'طلبك', remove: 'إزالة', removeNamed: 'إزالة {name}',
  change: 'تغيير', changeNamed: 'تغيير {name}', total: 'المجموع', howToGet: 'التوصيل أو الاستلام', delivery: 'توصيل', pickup: 'استلام', when: 'متى', soonest: 'في أقرب وقت', atTime: 'في وقت لاحق',
  who: 'بياناتك', where: 'عنوان التوصيل', 'guest.firstName': 'الاسم', 'guest.phone': 'الهاتف', 'address.street': 'الشارع', 'address.houseNumber': 'رقم المبنى', 'address.cityName': 'المدينة',
  comment: 'ملاحظة', payment: 'الدفع', cash: 'نقدًا', cardOnDelivery: 'بطاقة عند التوصيل', cardAtPickup: 'بطاقة عند الاستلام', optional: '{name} (اختياري)', place: 'اطلب مقابل {price}',
  found: { zero: 'لا أطباق', one: 'طبق واحد', two: 'طبقان', few: '{n} أطباق', many: '{n} طبقًا', other: '{n} طبق' },
};

/** Returns the edges of the text of an element, and of the box that it is aligned in. */
const edges = (locator, box) => locator.evaluate((element, selector) => {
  const range = document.createRange();
  range.selectNodeContents(element);
  const text = range.getBoundingClientRect();
  const outer = element.closest(selector);
  const { paddingLeft, paddingRight } = getComputedStyle(outer);
  const around = outer.getBoundingClientRect();
  return { text: [text.left, text.right], box: [around.left + parseFloat(paddingLeft), around.right - parseFloat(paddingRight)] };
}, box);

const startsRight = async (locator, box, what) => {
  const { text, box: around } = await edges(locator, box);
  must(Math.abs(text[1] - around[1]) < 2, `${what}: the text ends at ${text[1]}, the box at ${around[1]}`);
};

await scenario({ locale: 'ar', matrix: { dirs: ['rtl'] } }, async ({ open, larder }) => {
  for (const size of repeated(['phone', 'desktop'])) {
    step(`${size}: Arabic texts`);
    const { page } = await open({ size });
    await page.goto(`${larder}/?lang=en&dir=rtl`);
    const menu = page.locator('larder-menu'), form = page.locator('larder-order-form');
    await menu.locator(`[data-dish=${fries.id}]`).waitFor();
    await page.evaluate((texts) => {
      document.documentElement.lang = 'ar-EG';
      for (const element of document.querySelectorAll('larder-menu, larder-order-form')) {
        element.texts = texts;
        element.setAttribute('lang', 'ar-EG');
      }
    }, arabic);
    await form.getByText('طلبك').waitFor();
    await menu.locator('[data-dish=dish-mezze]').evaluate((one) => one.scrollIntoView({ block: 'center', behavior: 'instant' }));
    for (const dish of [fries.id, 'dish-borscht', 'dish-mezze']) {
      const card = menu.locator(`[data-dish=${dish}]`).first();
      await card.evaluate((one) => one.scrollIntoView({ block: 'center', behavior: 'instant' }));
      for (const part of ['name', 'description', 'measure', 'price']) {
        await startsRight(card.locator(`[part~=${part}]`).first(), '.about', `${size}, ${dish}, ${part}`);
      }
    }
    const textOf = (part) => menu.locator(`[data-dish=${fries.id}] [part~=${part}]`).first().textContent(); // also off the screen
    must(/[٠-٩].*₺/.test(await textOf('price')), `the price has Arabic digits: ${await textOf('price')}`);
    must(/[٠-٩]\s?غ/.test(await textOf('measure')), `the measure has Arabic digits and unit: ${await textOf('measure')}`);
    await axe(page, `the Arabic menu, ${size}`, { whole: true });
    await page.evaluate(() => scrollTo(0, 0));
    await shot(page, `arabic-${size}`, { full: false });

    step(`${size}: a missing text is English, and its full stop is on the right (G11)`);
    const empty = form.getByText('Your basket is empty.');
    await empty.waitFor();
    const [letter, stop] = await empty.evaluate((element) => {
      const node = element.firstChild;
      return [0, node.data.length - 1].map((at) => {
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        return range.getBoundingClientRect().left;
      });
    });
    must(stop > letter, `the full stop is at ${stop}, the first letter at ${letter}`);

    step(`${size}: a dish and the order form`);
    await menu.locator(`[data-dish=${fries.id}]`).first().locator('[part~=add]').click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    await dialog.locator('input[type=radio], input[type=checkbox]').first().click();
    await startsRight(dialog.locator('[part=nutrition] caption'), '[part=nutrition]', `${size}, the heading of the nutrition`);
    await axe(page, `an Arabic dish, ${size}`);
    await shot(page, `dish-${size}`, { full: false });
    await dialog.locator('[part=dish-add]').click();
    await form.locator('[data-line]').waitFor();
    await axe(page, `the Arabic form, ${size}`);
    // A line may be replaced when the order has been checked.
    await form.locator('[data-line]').evaluate((line) => line.scrollIntoView({ block: 'center', behavior: 'instant' }));
    await shot(page, `form-${size}`, { full: false });

    step(`${size}: only English texts on the Arabic page`);
    await page.evaluate(() => {
      for (const element of document.querySelectorAll('larder-menu, larder-order-form')) element.texts = null;
    });
    await form.getByText('Your order', { exact: true }).waitFor();
    const languages = () => page.evaluate(() => [...document.querySelectorAll('larder-menu, larder-order-form')].map((element) => {
      const of = (selector) => element.shadowRoot.querySelector(selector)?.closest('[lang]')?.lang ?? '';
      return [of('[part=status], [part=order-name]'), of('[part~=name], [data-line] strong')];
    }));
    equal(await languages(), [['en', 'ar-EG'], ['en', 'ar-EG']], 'lang of texts and of names');
    await page.evaluate(() => {
      for (const element of document.querySelectorAll('larder-menu, larder-order-form')) element.setAttribute('menu-lang', 'pt');
    });
    await eventually(async () => JSON.stringify(await languages()) === '[["en","pt"],["en","pt"]]', 'names have the language of the attribute menu-lang');
    await axe(page, `English texts on an Arabic page, ${size}`);
    await page.evaluate(() => scrollTo(0, 0));
    await shot(page, `english-${size}`, { full: false });
  }
});
