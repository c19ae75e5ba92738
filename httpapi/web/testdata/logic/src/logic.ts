// Tests without a browser: exact prices, limits of groups, the basket, intents.

import { reportTexts } from "../../../src/diagnose";
import { Basket, lineOf } from "../../../src/larder/basket";
import {
  groupProblems,
  knownPicks,
  least,
  linePrice,
  picked,
  groupStatus,
  unitPrice,
  weighed,
  type Pick,
} from "../../../src/larder/choice";
import { Decimal, decimal } from "../../../src/larder/decimal";
import type { Formatter } from "../../../src/larder/groups";
import { Menu, sameList, type MenuBody } from "../../../src/larder/menu";
import { History } from "../../../src/larder/history";
import { bodyOf, lineMessage, placeOf, problemsOf, withoutDuplicates } from "../../../src/larder/order";
import {
  newKey,
  Placing,
  repeatable,
  type Answer,
  type Intent,
  type Open,
  type OrderTransport,
  type Placed,
  type Refused,
} from "../../../src/larder/place";
import { Search } from "../../../src/larder/search";
import { Shop } from "../../../src/larder/shop";
import { FallbackStore, type Store } from "../../../src/larder/store";
import { measureText, moneyText, numberText } from "../../../src/larder/format";
import { addressOf } from "../../../src/larder/picture";
import pictures from "./pictures.json";
import english from "../../../src/texts.json";
import russian from "../../../src/texts.ru.json";
import {
  canonical,
  checked,
  inEnglish,
  message,
  wordingsOf,
  type Key,
  type Texts,
  type Wording,
} from "../../../src/larder/texts";
import { followOrder } from "../../../src/larder/stream";
import {
  bookable,
  clock,
  dayName,
  minutesOf,
  opens,
  openingsOf,
  resumes,
  slots,
  soldOut,
  soon,
  timeOf,
  zoneName,
  zoneOf,
} from "../../../src/larder/times";

declare const process: { getBuiltinModule(name: string): any };
const { test } = process.getBuiltinModule("node:test");
const assert = process.getBuiltinModule("node:assert/strict");

const item = {
  externalId: null,
  description: "",
  imageUrls: [],
  measure: null,
  available: true,
  orderable: true,
  reasons: [],
};
const dish = { ...item, nutrition: null };
const body = (): MenuBody => ({
  restaurant: { id: "r", name: "R" },
  name: "m",
  version: 1,
  syncedAt: "2026-05-01T18:30:00.000Z",
  categories: [
    { id: "c", name: "C", parentId: null },
    { id: "d", name: "D", parentId: "c" },
    { id: "none", name: "", parentId: null },
  ],
  products: [
    { ...dish, id: "combo", categoryId: "c", categoryIds: ["c"], name: "Combo", price: 199.9, schemeId: "s" },
    {
      ...dish,
      id: "cheese",
      categoryId: "d",
      categoryIds: ["d"],
      name: "Crème fraîche",
      price: 10.05,
      schemeId: null,
      measure: { value: 1, unit: "kg" },
    },
  ],
  schemes: [
    {
      id: "s",
      groups: [
        { id: "g", name: "Main", min: 1, max: 1, options: ["burger", "soup"] },
        { id: "x", name: "Sauce", min: 0, max: 3, options: ["red", "white"] },
      ],
    },
    { id: "b", groups: [{ id: "n", name: "Bread", min: 2, max: 2, options: ["rye", "wheat"] }] },
  ],
  ingredients: [
    { ...item, id: "burger", name: "Burger", price: 0.1, schemeId: "b" },
    { ...item, id: "soup", name: "Soup", price: 0, schemeId: null },
    { ...item, id: "red", name: "Red", price: 0.2, schemeId: null },
    { ...item, id: "white", name: "White", price: 5, schemeId: null },
    { ...item, id: "rye", name: "Rye", price: 0.01, schemeId: null },
    { ...item, id: "wheat", name: "Wheat", price: 0, schemeId: null },
  ],
});

/** plain formats for tests: money has a sign, measures have their unit. */
const plain: Formatter = {
  message: (key, params) => message([inEnglish], key, params),
  money: (amount, signed) => moneyText(amount, "en", "EUR", true, signed),
  number: (value) => numberText(decimal(value), "en"),
  measure: (value, unit) => measureText(value, unit, "en", (name) => name),
  soldOut: (id) => `${id} is away`,
};

class Drawer implements Store {
  all = new Map<string, string>();
  getItem(name: string): string | null {
    return this.all.get(name) ?? null;
  }
  setItem(name: string, value: string): void {
    this.all.set(name, value);
  }
  removeItem(name: string): void {
    this.all.delete(name);
  }
}

test("decimals are exact and round half up", () => {
  assert.equal(decimal(0.1).plus(decimal(0.2)).toString(), "0.3");
  assert.equal(decimal("10.05").times(decimal("0.1")).round(2).toString(), "1.01");
  assert.equal(decimal("-1.005").round(2).toString(), "-1.01");
  assert.equal(decimal(1e21).toString(), "1000000000000000000000");
  assert.equal(decimal(1.5e-7).toString(), "0.00000015");
  for (const wrong of ["", "1,5", "x", "1e9999", null, undefined, NaN])
    assert.equal(Decimal.of(wrong), null, String(wrong));
});

test("the status of a group follows the picks", () => {
  const menu = new Menu(body());
  const [main, sauce] = menu.groups("s") as any;
  let picks: Pick[] = [];
  assert.deepEqual(groupStatus(main, picks), { count: 0, missing: 1, full: false, over: false });
  picks = picked(picks, main, "soup", 1);
  assert.deepEqual(groupProblems(menu, "s", picks), []);
  picks = picked(picks, main, "burger", 1); // takes the place of the soup
  assert.deepEqual(
    picks.map((p) => p.id),
    ["burger"],
  );
  assert.deepEqual(
    groupProblems(menu, "s", picks).map((l) => [l.group.id, l.missing]),
    [["n", 2]],
  );
  picks = picked(picked(picks, sauce, "red", 2), sauce, "white", 1);
  assert.equal(groupStatus(sauce, picks).full, true);
  assert.equal(picked(picks, sauce, "white", 2).find((p) => p.id === "white")!.quantity, 1, "no more than the limit");
  const bread = menu.groups("b")[0]!;
  picks[0]!.picks = picked([], bread, "rye", 2);
  assert.deepEqual(groupProblems(menu, "s", picks), []);
  // 199.9 + (0.1 + 2 × 0.01) + 2 × 0.2 + 5
  assert.equal(unitPrice(menu, menu.product("combo")!, picks).toString(), "205.42");
  assert.equal(linePrice(unitPrice(menu, menu.product("combo")!, picks), decimal(3)).toString(), "616.26");
  menu.stop([{ id: "rye", available: false }]);
  assert.deepEqual(
    groupProblems(menu, "s", picks).map((l) => l.gone),
    [["rye"]],
  );
  menu.stop([{ id: "wheat", available: false }]);
  assert.equal(menu.usable("burger"), false, "what it demands has run out");
});

test("options and groups that the menu no longer has leave a choice, with their own options", () => {
  const menu = new Menu(body());
  const pick = (group: string, id: string, picks: Pick[] = []): Pick => ({ id, group, quantity: 1, picks });
  const lost: Pick[] = [];
  const picks = [
    pick("g", "burger", [pick("n", "rye"), pick("n", "removed"), pick("n", "rye")]),
    pick("removed", "red"),
    pick("x", "soup"),
    pick("x", "red"),
  ];
  menu.stop([{ id: "red", available: false }]); // sold out is not gone
  assert.deepEqual(knownPicks(menu, "s", picks, lost), [
    pick("g", "burger", [pick("n", "rye"), pick("n", "rye")]),
    pick("x", "red"),
  ]);
  assert.deepEqual(
    lost.map((p) => p.id),
    ["removed", "red", "soup"],
  );
  assert.equal(groupStatus(menu.groups("s")[0]!, [pick("g", "burger"), pick("g", "soup")]).over, true);
});

test("categories without dishes are omitted, and the search ignores accents", () => {
  const menu = new Menu(body());
  assert.deepEqual(
    menu.roots.map((c) => [c.id, c.children.map((d) => d.id)]),
    [["c", ["d"]]],
  );
  for (const query of ["creme", "FRAÎCHE cr", ""]) assert.ok(new Search(menu).found(query).has("cheese"), query);
  for (const query of ["remy", "creme soup"]) assert.equal(new Search(menu).found(query).size, 0, query);
  assert.deepEqual([...new Search(menu).found("burger")], ["combo"], "an option");
  assert.deepEqual([...new Search(menu).found("wheat")], ["combo"], "an option of a part");
  assert.deepEqual([...new Search(menu).found("fraihce")], ["cheese"], "two letters exchanged");
  assert.deepEqual([...new Search(menu).found("cre")], ["cheese"]);
  const options = new Set(["combo", "cheese"]); // as if both were found
  assert.deepEqual([...new Search(menu).named("fraihce", options)], ["cheese"], "the name, with a wrong letter");
  assert.deepEqual([...new Search(menu).named("burger", options)], [], "an option is not in the name");
  for (const [name, ...queries] of [
    ["Coca-Cola", "coca\u2013cola", "coca cola", "cocacola", "coca\u00adcola"],
    ["BŒUF", "boeuf", "bœuf"],
    ["Ispanaklı", "ISPANAKLI", "İspanakli"],
    ["كنافة", "كنافه"],
  ]) {
    const named = body();
    named.products[1]!.name = name!;
    for (const query of queries) assert.deepEqual([...new Search(new Menu(named)).found(query)], ["cheese"], query);
  }
});

test("the lowest price includes what must still be chosen", () => {
  const menu = new Menu(body());
  const rest = (picks: Pick[]): string => least(menu, "s", picks).toString();
  assert.equal(rest([]), "0", "soup costs nothing");
  const burger = (picks: Pick[]): Pick[] => [{ id: "burger", group: "g", quantity: 1, picks }];
  assert.equal(rest(burger([])), "0", "two slices of wheat");
  assert.equal(rest([{ id: "soup", group: "g", quantity: 1, picks: [] }]), "0");
  const dear = body();
  for (const id of ["wheat", "soup"]) dear.ingredients.find((i) => i.id === id)!.available = false;
  assert.equal(least(new Menu(dear), "s").toString(), "0.12", "a burger with two slices of rye");
  assert.equal(
    least(new Menu(dear), "s", burger([{ id: "rye", group: "n", quantity: 1, picks: [] }])).toString(),
    "0.01",
    "one more slice",
  );
  assert.deepEqual(body().products.map(weighed), [null, "kg"], "only the cheese is sold by weight");
  assert.deepEqual([...new Search(menu).found("c")].sort(), ["cheese", "combo"], "the category");
});

test("the basket survives a reload and reports changes of the menu", () => {
  const store = new Drawer();
  const menu = new Menu(body());
  const basket = new Basket(store, "b");
  basket.add(lineOf(menu, "cheese", decimal("0.5"), []));
  basket.add(lineOf(menu, "cheese", decimal("0.25"), []));
  assert.equal(new Basket(store, "b").lines[0]!.quantity, "0.75");
  assert.equal(basket.total(menu).toString(), "7.54");
  assert.deepEqual(basket.compareWith(menu), []);
  const dearer = body();
  dearer.products[1]!.price = 11;
  assert.deepEqual(
    basket.compareWith(new Menu(dearer)).map((n) => [n.kind, n.was, n.now]),
    [["price", "10.05", "11"]],
  );
  assert.deepEqual(basket.compareWith(new Menu(dearer)), [], "a price is reported once");
  dearer.products[1]!.available = false;
  assert.deepEqual(
    basket.compareWith(new Menu(dearer)).map((n) => n.kind),
    ["gone"],
  );
  basket.removeOrdered([{ key: basket.lines[0]!.key, quantity: "0.5" }]);
  assert.equal(new Basket(store, "b").lines[0]!.quantity, "0.25", "what came in meanwhile stays");
  for (const odd of [
    "{",
    `{"format":0,"lines":[]}`,
    `{"format":1,"lines":[{"id":1}]}`,
    `{"format":1,"lines":[{"id":"a","key":"a","quantity":"1","picks":[{}]}]}`,
  ]) {
    store.setItem("b", odd);
    assert.deepEqual(new Basket(store, "b").lines, [], odd);
  }
});

test("the body contains the groups, and violations are shown at their fields", () => {
  const menu = new Menu(body());
  const picks = picked([], menu.groups("s")[0]!, "soup", 1);
  const lines = [{ key: "k", ...lineOf(menu, "combo", decimal(2), picks) }];
  const made = JSON.parse(
    bodyOf(menu, lines, {
      expedition: "pickup",
      payment: "cash",
      soonest: true,
      at: "",
      fields: { "guest.phone": " +7 ", "address.street": "x", changeFrom: "500,5" },
    }),
  );
  assert.deepEqual(made, {
    expeditionType: "pickup",
    paymentTypeID: "cash",
    soonest: true,
    guest: { phone: "+7" },
    changeFrom: 500.5,
    dishList: [
      { ID: "combo", price: 199.9, quantity: 2, ingredients: [{ ID: "soup", groupId: "g", quantity: 1, price: 0 }] },
    ],
  });
  const at = (path: string) => placeOf({ path, code: "", msg: "" });
  assert.deepEqual(
    [at("/dishList/3/ingredients/0"), at("/guest/phone"), at("/address/fullAddress"), at("/dishList"), at("")],
    [{ line: 3 }, { field: "guest.phone" }, { field: "address.street" }, {}, {}],
  );
  const missing = (...paths: string[]) => paths.map((path) => ({ path, code: "field_required", msg: "" }));
  assert.deepEqual(
    withoutDuplicates(missing("/guest", "/guest/phone", "/address")),
    missing("/guest/phone", "/address"),
  );
  assert.equal(
    withoutDuplicates([{ path: "/guest", code: "field_type", msg: "" }, ...missing("/guest/phone")]).length,
    2,
  );
});

test("guests read names and formatted prices, no ids", () => {
  const sold = body();
  sold.products[0]!.available = false;
  const [menu, stopped, without] = [
    new Menu(body()),
    new Menu(sold),
    new Menu({ ...body(), products: body().products.slice(1) }),
  ];
  const line = { key: "k", ...lineOf(menu, "combo", decimal(1), []) };
  const said = (of: Menu, code: string, msg: string, path = "/dishList/0", params = {}): string =>
    lineMessage({ path, code, msg, params }, of, line, plain);
  assert.equal(
    said(without, "dish_not_in_menu", "The menu has no dish combo"),
    "This dish isn't on the menu any more.",
  );
  assert.equal(
    said(stopped, "dish_unavailable", "Combo is out of stock", "/dishList/0/ID"),
    "combo is away. Remove it to order the rest.",
  );
  assert.equal(
    said(menu, "price_changed", "Combo: the price is now 269, not 199.9", "/dishList/0/price", {
      sent: 199.9,
      current: 269,
    }),
    "The price changed from €199.90 to €269.00",
  );
  assert.equal(
    said(menu, "quantity_not_whole", "Combo: the quantity must be a whole number", "/dishList/0/quantity"),
    "the quantity must be a whole number",
  );
});

test("a dish that cannot be ordered is not in the total", () => {
  const sold = body();
  sold.products[0]!.available = false;
  const basket = new Basket(new Drawer(), "b");
  basket.add(lineOf(new Menu(body()), "combo", decimal(1), []));
  basket.add(lineOf(new Menu(body()), "cheese", decimal(2), []));
  assert.equal(basket.total(new Menu(body())).toString(), "220");
  assert.equal(basket.total(new Menu(sold)).toString(), "20.1");
});

test("the body says which parts have options, and equal parts are numbered", () => {
  const menu = new Menu(body());
  const burger = (group: string, picks: Pick[] = []): Pick => ({ id: "burger", group, quantity: 1, picks });
  const picks = [
    burger("g", [{ id: "rye", group: "n", quantity: 2, picks: [] }]),
    burger("x"),
    { id: "soup", group: "g", quantity: 1, picks: [] },
  ];
  const made = JSON.parse(
    bodyOf(menu, [{ key: "k", ...lineOf(menu, "combo", decimal(1), picks) }], {
      expedition: "pickup",
      payment: "card",
      soonest: true,
      at: "",
      fields: {},
    }),
  );
  assert.deepEqual(
    made.dishList[0].ingredients.map((i: any) => i.ingredients?.length),
    [1, 0, undefined],
  );
  const bread = (path: string, of: Pick[], name = "Burger"): string =>
    lineMessage(
      { path, code: "group_min", msg: `${name}, Bread: choose 2 more`, params: { parent: { id: "burger", name } } },
      menu,
      { key: "k", ...lineOf(menu, "combo", decimal(1), of) },
      plain,
    );
  assert.equal(bread("/dishList/0/ingredients/1/ingredients", picks), "Burger 2, Bread: choose 2 more");
  assert.equal(bread("/dishList/0/ingredients/0/ingredients", [burger("g")]), "Burger, Bread: choose 2 more");
  assert.equal(
    bread("/dishList/0/ingredients/0/ingredients/1/ingredients", [burger("g", [burger("n"), burger("n")])]),
    "Burger, Burger 2, Bread: choose 2 more",
  );
  assert.equal(bread("/dishList/0/ingredients", picks), "Burger, Bread: choose 2 more");
  assert.equal(
    lineMessage(
      { path: "/dishList/0/ingredients/1", code: "ingredient_unavailable", msg: "Red is out of stock" },
      menu,
      { key: "k", ...lineOf(menu, "combo", decimal(1), picks) },
      plain,
    ),
    "Red is out of stock",
  );
});

/** answer returns a response of larder; of its errors, a test gives the code. */
const answer = (status: number, body: Record<string, unknown> | null = null): Answer => ({
  status,
  body: body && { ...(body.code ? { type: `urn:larder:problem:${String(body.code)}` } : {}), ...body },
  retryAfter: 0,
});
const placedAnswer = answer(201, { result: { orderID: "765", total: 640 } });

/** Larder is a transport that responds from a list and counts the requests. */
class Larder implements OrderTransport {
  keys: string[] = [];
  bodies = new Set<string>();
  looks = 0;
  constructor(
    private readonly answers: Answer[],
    private readonly seen: Answer[] = [],
  ) {}
  place = async (key: string, sent: string): Promise<Answer> => {
    this.keys.push(key);
    this.bodies.add(sent);
    return this.answers.shift() ?? answer(0);
  };
  look = async (): Promise<Answer> => {
    this.looks++;
    return this.seen.shift() ?? answer(404, { code: "order_not_found" });
  };
}

const placing = (store: Store, larder: OrderTransport, online = () => true): Placing =>
  new Placing(
    store,
    "o",
    larder,
    async (ms) => {
      waited += ms;
    },
    online,
  );

/** shown returns the members of an intent that only some states have. */
const shown = (p: Placing): Partial<Omit<Open, "state"> & Omit<Refused, "state"> & Omit<Placed, "state">> =>
  p.intent as object;

let waited = 0; // the pauses of placing, which take no time
const now = Date.now;
Date.now = () => now() + waited;

test("a key has at least 128 random bits, in base64url", () => {
  const keys = new Set(Array.from({ length: 1000 }, newKey));
  assert.equal(keys.size, 1000);
  for (const key of keys) assert.match(key, /^[A-Za-z0-9_-]{24}$/);
});

test("the key is stored before the request, and a double click places one order", async () => {
  const store = new Drawer();
  const larder = new Larder([placedAnswer]);
  const send = larder.place;
  larder.place = (key, sent) => {
    assert.equal(JSON.parse(store.getItem("o")!).key, key, "not kept in time");
    return send(key, sent);
  };
  const p = placing(store, larder);
  await Promise.all([p.begin("a", []), p.begin("a", []), p.begin("b", [])]);
  assert.equal(larder.keys.length, 1);
  assert.deepEqual([p.intent!.state, shown(p).orderID, shown(p).total], ["placed", "765", "640"]);
});

test("after a lost response the order is sent again with the same key", async () => {
  const larder = new Larder([answer(0), answer(500), answer(502), placedAnswer]);
  const p = placing(new Drawer(), larder);
  await p.begin("a", []);
  assert.equal(p.intent!.state, "placed");
  assert.deepEqual([larder.keys.length, new Set(larder.keys).size, larder.bodies.size], [4, 1, 1]);
});

test("a reload during a request continues the intent", async () => {
  const store = new Drawer();
  let first!: Placing;
  await new Promise<void>((left) => {
    first = placing(store, {
      place: () => new Promise(() => left()),
      look: async () => answer(404, { code: "order_not_found" }),
    });
    void first.begin("a", []);
  });
  const larder = new Larder(
    [],
    [
      answer(200, { result: { state: "placing" } }),
      answer(200, { result: { state: "placed", orderID: "7", total: 1 } }),
    ],
  );
  const second = placing(store, larder);
  await second.wake();
  assert.deepEqual([second.intent!.state, second.intent!.key, larder.keys.length], ["placed", first.intent!.key, 0]);
});

test("an order in progress is looked up, not sent again", async () => {
  const larder = new Larder(
    [answer(409, { code: "idempotency_key_in_flight" })],
    [answer(200, { result: { state: "placed", orderID: "7", total: 1 } })],
  );
  const p = placing(new Drawer(), larder);
  await p.begin("a", []);
  assert.deepEqual([p.intent!.state, larder.keys.length, larder.looks], ["placed", 1, 1]);
});

test("an order with an unknown outcome is looked up and never sent again", async () => {
  const larder = new Larder([answer(504, { code: "order_outcome_unknown" })]); // its record: 404 from then on
  const p = placing(new Drawer(), larder);
  await p.begin("a", []);
  assert.deepEqual([p.intent!.state, larder.keys.length], ["unknown", 1]);
  await p.begin("another order", []);
  assert.deepEqual([p.intent!.state, larder.keys.length, larder.bodies.size], ["unknown", 1, 1]);
  p.forget();
  assert.equal(p.intent!.state, "unknown", "what is open is not forgotten");
});

test("after a certain refusal the next order has a new key", async () => {
  const larder = new Larder([answer(502, { code: "upstream_refused", upstream: { msg: "no" } }), placedAnswer]);
  const p = placing(new Drawer(), larder);
  await p.begin("a", []);
  assert.deepEqual([p.intent!.state, shown(p).message], ["refused", "no"]);
  await p.begin("a", []);
  assert.equal(p.intent!.state, "placed");
  assert.equal(new Set(larder.keys).size, 2);
});

test("after a 503 the same order keeps its key, and a changed order gets a new one", async () => {
  const larder = new Larder([
    answer(503, { code: "journal_unavailable" }),
    answer(503, { code: "journal_unavailable" }),
    placedAnswer,
  ]);
  const p = placing(new Drawer(), larder);
  await p.begin("a", []);
  assert.equal(p.intent!.state, "unsent");
  await p.wake();
  assert.equal(larder.keys.length, 1, "nothing is sent without the guest");
  await p.resume();
  await p.begin("b", []);
  assert.equal(p.intent!.state, "placed");
  assert.deepEqual([larder.keys[0] === larder.keys[1], larder.keys[1] === larder.keys[2]], [true, false]);
});

test("a 503 of a gateway proves nothing: the same order is sent again", async () => {
  for (const type of [undefined, "about:blank"]) {
    const larder = new Larder([answer(503, { type, code: "UPSTREAM_TIMEOUT" }), placedAnswer]);
    const p = placing(new Drawer(), larder);
    await p.begin("a", []);
    assert.deepEqual([p.intent!.state, larder.keys.length, new Set(larder.keys).size], ["placed", 2, 1]);
  }
});

test("violations are reported, and no intent is left", async () => {
  const store = new Drawer();
  const p = placing(
    store,
    new Larder([
      answer(422, { code: "validation_failed", errors: [{ path: "/guest/phone", code: "field_required", msg: "?" }] }),
    ]),
  );
  let detail: any;
  p.addEventListener("wrong", (event) => {
    detail = (event as CustomEvent).detail;
  });
  await p.begin("a", [{ id: "combo", key: "combo:", name: "Combo", price: "1", quantity: "1", picks: [] }]);
  assert.deepEqual(
    [p.intent, store.getItem("o"), detail.violations.length, detail.status, detail.lines],
    [null, null, 1, 422, ["combo:"]],
  );
});

test("an intent of yesterday is not sent automatically", async () => {
  const store = new Drawer();
  const old = (minutes: number, state: string): void =>
    store.setItem(
      "o",
      JSON.stringify({ format: 1, key: "k", body: "a", lines: [], state, at: Date.now() - minutes * 60_000 }),
    );
  old(30, "sending");
  const larder = new Larder([placedAnswer]);
  const p = placing(store, larder);
  await p.wake();
  assert.deepEqual([p.intent!.state, larder.keys.length, larder.looks], ["unsent", 0, 1]);
  old(13 * 60, "sending");
  assert.equal(placing(store, larder).intent, null);
  old(13 * 60, "unknown");
  assert.equal(placing(store, larder).intent!.state, "unknown");
  old(49 * 60, "unknown");
  assert.equal(placing(store, larder).intent, null, "nobody waits for that dinner: it is not in the way of another");
});

test("an old order that was refused or not sent is shown as such, without sending it", async () => {
  for (const [record, want] of [
    ["refused", "refused"],
    ["not_sent", "unsent"],
  ]) {
    const store = new Drawer();
    store.setItem(
      "o",
      JSON.stringify({ format: 1, key: "k", body: "a", lines: [], state: "unknown", at: Date.now() - 30 * 60_000 }),
    );
    let sent = 0;
    const p = new Placing(
      store,
      "o",
      {
        place: async () => {
          sent++;
          return placedAnswer;
        },
        look: async () => answer(200, { result: { state: record } }),
      },
      async () => {},
    );
    await p.wake();
    assert.deepEqual([p.intent!.state, sent], [want, 0]);
  }
});

test("a 404 that is not larder's says nothing about an order", async () => {
  for (const [code, want] of [
    ["order_not_found", "unsent"],
    ["not_found", "lost"],
  ] as const) {
    const store = new Drawer();
    store.setItem(
      "o",
      JSON.stringify({ format: 1, key: "k", body: "a", lines: [], state: "sending", at: Date.now() - 30 * 60_000 }),
    );
    const larder = new Larder([]);
    larder.look = async () => answer(404, { code });
    const p = placing(store, larder);
    await p.wake();
    assert.deepEqual([p.intent!.state, larder.keys], [want, []], code);
  }
});

test("an order that was certainly not placed can always be sent again by the guest", async () => {
  for (const look of [async () => answer(404, { code: "order_not_found" }), () => null]) {
    // larder itself, and the site's own backend
    const store = new Drawer();
    store.setItem(
      "o",
      JSON.stringify({ format: 1, key: "k", body: "a", lines: [], state: "unsent", at: Date.now() - 30 * 60_000 }),
    );
    const larder = new Larder([answer(0), placedAnswer]);
    larder.look = look as typeof larder.look;
    const p = placing(store, larder);
    await p.resume();
    assert.deepEqual([p.intent!.state, larder.keys], ["placed", ["k", "k"]]);
  }
});

test("an order is sent if another tab has ended the previous one", async () => {
  const store = new Drawer();
  let late!: (answer: Answer) => void;
  const larder = new Larder([placedAnswer]);
  const send = larder.place;
  larder.place = () =>
    new Promise((done) => {
      late = done;
    });
  const p = placing(store, larder);
  const first = p.begin("a", []);
  await new Promise((done) => setTimeout(done));
  store.setItem("o", JSON.stringify({ ...p.intent!, state: "placed", orderID: "1" })); // by another tab
  p.read();
  p.forget();
  larder.place = send;
  await p.begin("b", []);
  late(answer(0));
  await first;
  assert.deepEqual([p.intent!.state, p.intent!.body, larder.keys.length], ["placed", "b", 1]);
});

test("ordered dishes leave the basket, whatever elements are on the page", async () => {
  const shop = Shop.of("https://larder.example", "r");
  shop.basket.add(
    lineOf(new Menu(body()), "combo", decimal(2), picked([], new Menu(body()).groups("s")[0]!, "soup", 1)),
  );
  const lines = shop.basket.lines.map((line) => ({ ...line }));
  const real = globalThis.fetch;
  globalThis.fetch = async () => new Response(JSON.stringify(placedAnswer.body), { status: 201 });
  try {
    await shop.placing.begin("a", lines);
  } finally {
    globalThis.fetch = real;
  }
  assert.deepEqual([shop.placing.intent!.state, shop.basket.lines], ["placed", []]);
});

test("only a page with an order form continues an order", async () => {
  const page = {
    navigator: {},
    addEventListener() {},
    document: new EventTarget(),
    EventSource: class extends EventTarget {
      close() {}
    },
  };
  const real = globalThis.fetch;
  const asked: string[] = [];
  Object.assign(globalThis, page, {
    fetch: async (url: string) => {
      asked.push(url);
      return new Response("{}", { status: 404 });
    },
  });
  const shop = Shop.of("https://larder.example", "menu-alone");
  try {
    shop.placing.intent = { format: 1, key: "k", body: "a", lines: [], state: "lost", at: Date.now() };
    shop.enter();
    await new Promise((done) => setTimeout(done));
    const path = "https://larder.example/v1/restaurants/menu-alone";
    assert.deepEqual(asked, [path + "/menu", path]);
  } finally {
    shop.leave();
    globalThis.fetch = real;
  }
});

test("events of operators count at once: pauses without a request, snoozes without a new version", async () => {
  const at = "https://larder.example/v1/restaurants/events";
  const open = { now: true, reason: null, next: null, leadTime: "60m" };
  const paused = { ...open, now: false, reason: "paused" as const };
  let snoozed: object[] = [];
  let menu = body();
  const asked: string[] = [];
  let source = new EventTarget();
  const real = globalThis.fetch;
  Object.assign(globalThis, {
    navigator: {},
    addEventListener() {},
    document: new EventTarget(),
    EventSource: class extends EventTarget {
      constructor() {
        super();
        source = this;
      }
      close() {}
    },
    fetch: async (url: string) => {
      asked.push(url.slice(at.length));
      const result = url === at ? { accepts: { delivery: open, pickup: open }, snoozed } : menu;
      return new Response(JSON.stringify({ result }));
    },
  });
  const pause = (done?: unknown): Promise<void> => new Promise((end) => setTimeout(() => end(done as undefined)));
  const shop = Shop.of("https://larder.example", "events");
  const send = async (type: string, data: object): Promise<string[]> => {
    asked.length = 0;
    source.dispatchEvent(new MessageEvent(type, { data: JSON.stringify({ restaurant: "events", ...data }) }));
    await pause();
    return [...asked].sort();
  };
  try {
    shop.enter();
    await pause();
    assert.deepEqual([shop.menu?.body.version, shop.details.accepts?.delivery.now], [1, true]);
    assert.deepEqual(
      await send("menu.updated", { version: 1, products: [], ingredients: [] }),
      [],
      "the known version",
    );
    const accepts = { delivery: paused, pickup: open };
    const request = send("restaurant.availability", { accepts });
    await null;
    assert.equal(shop.details.accepts?.delivery.reason, "paused", "before the responses");
    assert.deepEqual(await request, ["", "/menu"]);
    assert.equal(shop.details.accepts?.delivery.reason, "paused", "the response of another instance may be older");

    const stopped = [{ id: "combo", available: false }];
    assert.deepEqual(await send("menu.availability", { version: 1, products: stopped, ingredients: [] }), []);
    assert.equal(shop.menu!.buyable(shop.menu!.product("combo")), false);
    snoozed = [{ id: "combo", until: "2026-05-01T19:00:00Z" }];
    menu = body();
    menu.products[0]!.available = menu.products[0]!.orderable = false;
    await send("restaurant.availability", { accepts });
    assert.deepEqual(shop.details.snoozed, snoozed);
    menu = body();
    await send("restaurant.availability", { accepts });
    assert.equal(shop.menu!.buyable(shop.menu!.product("combo")), true, "the response has the same version");
  } finally {
    shop.leave();
    globalThis.fetch = real;
  }
});

test("an invalid price does not count as zero", () => {
  const menu = new Menu(body());
  const basket = new Basket(new Drawer(), "b");
  basket.add(
    lineOf(menu, "combo", decimal(1), [
      { id: "soup", group: "g", quantity: 1, picks: [] },
      { id: "white", group: "x", quantity: 1, picks: [] },
    ]),
  );
  basket.add(lineOf(menu, "cheese", decimal(1), []));
  const broken = body();
  const white = broken.ingredients.find((i) => i.id === "white")!;
  Object.assign(white, { price: null, orderable: false, reasons: [{ code: "price_invalid" }] });
  Object.assign(broken.products[1]!, { price: null, orderable: false, reasons: [{ code: "price_invalid" }] });
  const now = new Menu(broken);
  assert.equal(now.usable("white"), false);
  assert.deepEqual(
    basket.compareWith(now).map(({ line, kind }) => [line.id, kind]),
    [
      ["combo", "options"],
      ["cheese", "gone"],
    ],
  );
  assert.deepEqual(
    basket.lines.map((l) => l.price),
    ["204.9", "10.05"],
    "the prices that the guest saw stay",
  );
  assert.equal(basket.total(now).toString(), "0");
});

test("a dish is listed in each of its categories", () => {
  const two = body();
  two.products[1]!.categoryIds = ["d", "none"];
  two.products[0]!.categoryIds = [];
  const listed = (menu: Menu): unknown =>
    menu.roots.map(function shown(c): unknown {
      return [c.id, c.products.map((p) => p.id), c.children.map(shown)];
    });
  assert.deepEqual(listed(new Menu(two)), [
    ["c", [], [["d", ["cheese"], []]]],
    ["none", ["cheese"], []],
    ["", ["combo"], []],
  ]);
  const other = structuredClone(two);
  assert.ok(sameList(two, other));
  other.products[1]!.categoryIds = ["d"];
  assert.ok(!sameList(two, other));
});

test("an order that may have been placed is not shown as not placed", async () => {
  for (const [status, code] of [
    [429, "rate_limited"],
    [503, "journal_unavailable"],
    [403, "forbidden"],
    [404, "not_found"],
  ] as const) {
    const first = placing(new Drawer(), new Larder([answer(status, { code })]));
    await first.begin("a", []);
    assert.ok(first.intent === null || first.intent.state === "unsent", `${status} at once: ${first.intent?.state}`);
    const larder = new Larder([answer(0), ...Array.from({ length: 9 }, () => answer(status, { code }))]);
    const p = placing(new Drawer(), larder);
    await p.begin("a", []);
    assert.deepEqual([p.intent!.state, new Set(larder.keys).size], ["lost", 1], `${status} after a lost answer`);
    await p.begin("b", []);
    assert.equal(new Set(larder.keys).size, 1, "no other order meanwhile");
  }
  const unavailable = answer(503, { code: "upstream_unavailable" });
  const p = placing(new Drawer(), new Larder([answer(0), unavailable, unavailable]));
  await p.begin("a", []);
  assert.equal(p.intent!.state, "unsent", "larder has looked for the key, and sent nothing");
});

const invalid = answer(422, { code: "validation_failed", errors: [{ path: "", code: "sold_out", msg: "x" }] });

test("a refusal is certain only if no earlier request can still arrive", async () => {
  for (const placedAfter of [0, 3]) {
    // looks until the lost request has been placed; 0: it never is
    const store = new Drawer();
    const began = Date.now();
    const refusals: number[] = [],
      states = new Set<string>();
    const looks = placedAfter
      ? [
          answer(404, { code: "order_not_found" }),
          answer(404, { code: "order_not_found" }),
          answer(200, { result: { state: "placed", orderID: "7", total: 1 } }),
        ]
      : [];
    const larder = new Larder([answer(0), invalid, invalid], looks);
    const p = placing(store, larder);
    p.addEventListener("wrong", () => refusals.push(Date.now() - began));
    p.addEventListener("change", () => {
      states.add(p.intent?.state ?? "none");
      if (p.intent?.state === "checking" && refusals.length === 0) void placing(store, larder).forget();
    });
    await p.begin("a", []);
    assert.ok(states.has("checking"));
    assert.equal(new Set(larder.keys).size, 1, "one key");
    if (placedAfter) {
      assert.deepEqual(
        [shown(p).orderID, refusals, larder.keys.length, larder.looks],
        ["7", [], 2, 3],
        "the lost request was placed",
      );
    } else {
      assert.deepEqual(
        [p.intent, refusals.length, larder.keys.length],
        [null, 1, 3],
        "asked again before it is called certain",
      );
      assert.ok(refusals[0]! >= 75_000 && refusals[0]! < 120_000, `after ${refusals[0]} ms`);
    }
  }
});

test("an order without a route to look for it is asked for by sending it again, until a refusal is certain", async () => {
  const began = Date.now();
  const larder = new Larder([answer(0), ...Array.from({ length: 20 }, () => invalid)]);
  const p = placing(new Drawer(), { place: larder.place, look: () => null });
  await p.begin("a", []);
  assert.deepEqual([p.intent, new Set(larder.keys).size, new Set(larder.bodies)], [null, 1, new Set(["a"])]);
  assert.ok(Date.now() - began >= 75_000 && larder.keys.length < 12);
});

test("a reload counts the request whose response was lost with the page", async () => {
  const store = new Drawer();
  void placing(store, {
    place: () => new Promise(() => {}),
    look: async () => answer(404, { code: "order_not_found" }),
  }).begin("a", []);
  await new Promise((done) => setTimeout(done));
  const began = Date.now();
  const larder = new Larder([invalid, invalid]);
  const p = placing(store, larder);
  await p.wake();
  assert.deepEqual([p.intent, larder.keys.length], [null, 2]);
  assert.ok(Date.now() - began >= 75_000);
});

test("an order that is placed after all is shown, whatever the guest has begun meanwhile", async () => {
  const begin = async (online: boolean): Promise<{ late: () => Promise<Placed[]>; second: Placing; sent: Larder }> => {
    const store = new Drawer();
    let arrive!: (answer: Answer) => void;
    const first = placing(store, {
      place: () =>
        new Promise((done) => {
          arrive = done;
        }),
      look: async () => answer(404, { code: "order_not_found" }),
    });
    const ends: Placed[] = [];
    first.addEventListener("ended", (event) => ends.push((event as CustomEvent<Placed>).detail));
    const sending = first.begin("a", []);
    await new Promise((done) => setTimeout(done));
    waited += 80_000; // a proxy holds the request for very long
    const sent = new Larder([invalid, answer(201, { result: { orderID: "9", total: 1 } })]);
    const second = placing(store, sent, () => online || sent.keys.length === 0);
    await second.wake();
    assert.equal(second.intent, null);
    await second.begin("b", []);
    return {
      second,
      sent,
      late: async () => {
        arrive(placedAnswer);
        await sending;
        second.read();
        return ends;
      },
    };
  };
  const waiting = await begin(false);
  assert.equal(waiting.second.intent!.state, "offline");
  assert.deepEqual(
    (await waiting.late()).map((i) => i.orderID),
    ["765"],
  );
  assert.deepEqual(
    [waiting.second.intent!.state, shown(waiting.second).orderID, waiting.sent.bodies],
    ["placed", "765", new Set(["a"])],
    "the other order is not sent",
  );

  const both = await begin(true);
  assert.deepEqual([shown(both.second).orderID, both.second.intent!.also], ["9", undefined]);
  assert.deepEqual(
    (await both.late()).map((i) => i.orderID),
    ["765"],
    "it is in the history too",
  );
  assert.deepEqual(
    [shown(both.second).orderID, both.second.intent!.also!.map((i) => i.orderID)],
    ["9", ["765"]],
    "the guest learns that there are two",
  );
});

const tick = (): Promise<void> => new Promise((done) => setTimeout(done));

/** hold returns a transport whose first request waits for its response, and a function that delivers it. The other responses are from a list. */
function hold(answers: Answer[] = []): { held: Larder; arrive: (answer: Answer) => void } {
  const held = new Larder(answers);
  const send = held.place;
  let arrive!: (answer: Answer) => void;
  held.place = (key, sent) => {
    if (held.keys.length) return send(key, sent);
    held.keys.push(key);
    return new Promise((done) => {
      arrive = done;
    });
  };
  return { held, arrive: (answer) => arrive(answer) };
}

/** endsOf returns a list that gets the order of each event "ended". */
function endsOf(p: Placing): (string | undefined)[] {
  const ends: (string | undefined)[] = [];
  p.addEventListener("ended", (event) =>
    ends.push((event as CustomEvent<Placed>).detail.orderID ?? (event as CustomEvent<Intent>).detail.state),
  );
  return ends;
}

const found = answer(200, { result: { state: "placed", orderID: "765", total: 640 } });
const nine = answer(201, { result: { orderID: "9", total: 1 } });

test("an order that the guest has seen and dismissed is not late, whatever was begun after it", async () => {
  for (const [forgets, next, state] of [
    [true, null, undefined],
    [true, false, "offline"],
    [true, true, "placed"],
    [false, true, "placed"],
  ] as const) {
    const store = new Drawer();
    const { held, arrive } = hold();
    const first = placing(store, held);
    const ends = endsOf(first);
    const sending = first.begin("a", []);
    await tick();
    const second: Placing = placing(
      store,
      new Larder([nine], [found]),
      () => next !== false || second.intent?.body === "a",
    );
    await second.wake();
    assert.equal(shown(second).orderID, "765");
    if (forgets) await second.forget();
    if (next !== null) await second.begin("b", []);
    arrive(placedAnswer);
    await sending;
    second.read();
    assert.deepEqual(
      [second.intent?.state, second.intent?.body, second.intent?.also, ends],
      [state, state && "b", undefined, []],
    );
  }
});

test("an order does not wait for the request of the last one, and is not sent after a late order", async () => {
  const begin = async (): Promise<{ store: Drawer; p: Placing; held: Larder; late: () => Promise<void> }> => {
    const store = new Drawer();
    const { held, arrive } = hold([nine]);
    const p = placing(store, held);
    const sending = p.begin("a", []);
    await tick();
    waited += 80_000;
    const other = placing(store, new Larder([invalid]));
    let missed = 0;
    p.addEventListener("missed", () => missed++);
    await other.wake();
    p.read();
    p.read();
    assert.deepEqual(
      [other.intent, p.intent, missed, p.asking],
      [null, null, 1, false],
      "the other tab learns the refusal, and this one is told",
    );
    return {
      store,
      p,
      held,
      late: () => {
        arrive(placedAnswer);
        return sending;
      },
    };
  };
  const { p, held, late } = await begin();
  const ends = endsOf(p);
  await p.begin("b", []);
  assert.deepEqual(
    [shown(p).orderID, held.keys.length, p.asking],
    ["9", 2, false],
    "sent while the first request hangs",
  );
  await late();
  assert.deepEqual([shown(p).orderID, p.intent!.also!.map((i) => i.orderID), ends], ["9", ["765"], ["9", "765"]]);
  await p.forget();
  assert.equal(p.intent, null, "the guest has seen both");

  const next = await begin();
  next.store.setItem(
    "o",
    JSON.stringify({ format: 1, key: "k", body: "b", lines: [], state: "sending", at: Date.now() }),
  ); // begun by another tab, not sent yet
  await next.late();
  await next.p.wake();
  assert.deepEqual([shown(next.p).orderID, next.p.intent!.state, next.held.keys.length], ["765", "placed", 1]);
});

test("a tab is not told that a late order was not placed, when another tab dismisses it", async () => {
  const store = new Drawer();
  const { held, arrive } = hold();
  const p = placing(store, held);
  const sending = p.begin("a", []);
  await tick();
  waited += 80_000;
  const other = placing(store, new Larder([invalid]));
  await other.wake();
  p.read();
  let missed = 0;
  p.addEventListener("missed", () => missed++);
  arrive(placedAnswer);
  await sending;
  other.read();
  assert.equal(shown(other).orderID, "765");
  await other.forget();
  p.read();
  assert.deepEqual([p.intent, missed], [null, 0]);
});

test("an order that was placed late is shown after the next one was refused", async () => {
  for (const [response, state] of [
    [invalid, "placed"],
    [answer(502, { code: "upstream_refused" }), "refused"],
    [answer(429), "unsent"],
  ] as const) {
    const store = new Drawer();
    const one = hold();
    const first = placing(store, one.held);
    const ends = endsOf(first);
    const sending = first.begin("a", []);
    await tick();
    waited += 80_000;
    await placing(store, new Larder([invalid])).wake();
    const two = hold();
    const second = placing(store, two.held);
    const others = endsOf(second);
    const next = second.begin("b", []);
    await tick();
    one.arrive(placedAnswer);
    await sending;
    two.arrive(response);
    await next;
    assert.equal(second.intent!.state, state);
    if (state !== "placed") await second.forget();
    assert.deepEqual([second.intent!.state, shown(second).orderID, second.intent!.body], ["placed", "765", "a"]);
    assert.deepEqual([ends, others], [["765"], state === "refused" ? ["refused"] : []], "each order ends once");
    await second.forget();
    assert.equal(second.intent, null);
  }
});

test("an order that was sent again, and then certainly not placed, can be sent once more", async () => {
  const store = new Drawer();
  store.setItem(
    "o",
    JSON.stringify({
      format: 1,
      key: "k",
      body: "a",
      lines: [],
      state: "unknown",
      idle: true,
      at: Date.now() - 30 * 60_000,
    }),
  );
  const larder = new Larder([answer(503, { code: "upstream_unavailable" }), placedAnswer]);
  const p = placing(store, { place: larder.place, look: () => null });
  await p.resume();
  assert.equal(p.intent!.state, "unsent");
  waited += 11 * 60_000;
  await p.resume();
  assert.deepEqual([p.intent!.state, larder.keys], ["placed", ["k", "k"]]);
});

test("a changed clock or a sleeping computer makes no refusal certain too early, or much too late", async () => {
  const run = async (
    store: Store,
    larder: OrderTransport,
    start: (p: Placing) => Promise<void>,
  ): Promise<{ after: number; states: Set<string> }> => {
    const began = Date.now();
    const states = new Set<string>();
    let after = 0;
    const p = placing(store, larder);
    p.addEventListener("change", () => states.add(p.intent?.state ?? "none"));
    p.addEventListener("wrong", () => {
      after = Date.now() - began;
    });
    await start(p);
    assert.equal(p.intent, null);
    return { after, states };
  };
  const ahead = new Drawer();
  const future = Date.now() + 3 * 3_600_000;
  ahead.setItem(
    "o",
    JSON.stringify({
      format: 1,
      key: "k",
      body: "a",
      lines: [],
      state: "sending",
      maybe: true,
      at: future,
      sent: [future],
    }),
  );
  const { after } = await run(ahead, new Larder([invalid, invalid]), (p) => p.wake());
  assert.ok(after >= 75_000 && after < 120_000, `the clock was set back: after ${after} ms`);

  const asleep = new Larder([answer(0), invalid, invalid]);
  const send = asleep.place;
  asleep.place = (key, sent) => {
    if (!asleep.keys.length) waited += 300_000;
    return send(key, sent);
  };
  const slept = await run(new Drawer(), asleep, (p) => p.begin("a", []));
  assert.ok(
    slept.states.has("checking") && slept.after >= 315_000,
    `asleep during the request: after ${slept.after} ms`,
  );

  const store = new Drawer();
  const put = store.setItem.bind(store);
  let naps = 2;
  store.setItem = (name, value) => {
    put(name, value);
    if (value.includes('"sent"') && naps-- > 0) waited += 5000; // between the mark and the request
  };
  const larder = new Larder([invalid, invalid, invalid]);
  const place = larder.place;
  larder.place = (key, sent) => {
    assert.ok(
      Date.now() - Math.max(...JSON.parse(store.getItem("o")!).sent) < 1000,
      "the request is sent when it is marked",
    );
    return place(key, sent);
  };
  await run(store, larder, (p) => p.begin("a", []));
});

test("what a tab finds out alone does not replace what another tab has stored", async () => {
  for (const lookable of [true, false])
    for (const placed of [true, false]) {
      const store = new Drawer();
      const larder = new Larder([answer(0)]);
      let online = true;
      const p = new Placing(
        store,
        "o",
        { place: larder.place, look: lookable ? larder.look : () => null },
        async () => {
          // during the pause
          if (placed) store.setItem("o", JSON.stringify({ ...p.intent!, state: "placed", orderID: "1" }));
          else store.removeItem("o");
          if (lookable) online = false;
          else waited += 11 * 60_000;
        },
        () => online,
      );
      await p.begin("a", []);
      const { state } = JSON.parse(store.getItem("o") ?? "{}");
      assert.deepEqual(
        [state, p.intent?.state, larder.keys.length],
        placed ? ["placed", "placed", 1] : [undefined, undefined, 1],
      );
    }
});

test("an outcome that is known after many looks is stored, not counted as a failed try", async () => {
  const unknown = Array.from({ length: 20 }, () => answer(200, { result: { state: "unknown" } }));
  const larder = new Larder(
    [answer(504, { code: "order_outcome_unknown" }), answer(502, { code: "upstream_refused" })],
    [...unknown, answer(200, { result: { state: "refused" } })],
  );
  const p = placing(new Drawer(), larder);
  await p.begin("a", []);
  assert.deepEqual([p.intent!.state, larder.keys.length], ["refused", 2]);
});

test("without a route to look for an order, it is not said to be checked for ever, and can be sent again with its key", async () => {
  for (const [hours, sends] of [
    [0.5, 1],
    [11.5, 1],
    [13, 0],
  ] as const) {
    const store = new Drawer();
    store.setItem(
      "o",
      JSON.stringify({
        format: 1,
        key: "k",
        body: "a",
        lines: [],
        state: "unknown",
        at: Date.now() - hours * 3_600_000,
      }),
    );
    const larder = new Larder([placedAnswer]);
    const p = placing(store, { place: larder.place, look: () => null });
    await p.wake();
    await p.wake();
    assert.deepEqual(
      [p.intent!.state, shown(p).idle, repeatable(p.intent!), larder.keys],
      ["unknown", true, sends === 1, []],
    );
    await p.resume();
    assert.deepEqual([p.intent!.state, larder.keys], sends ? ["placed", ["k"]] : ["unknown", []], `after ${hours} h`);
  }
});

test("if the stream of an order cannot be opened, its state is asked for, less and less often", async () => {
  const real = { fetch: globalThis.fetch, timeout: globalThis.setTimeout };
  const run = async (
    stream: () => Response,
    looks: Answer[],
    states: string[],
  ): Promise<{ seen: string[]; pauses: number[]; most: number }> => {
    const seen: string[] = [],
      pauses: number[] = [];
    const stop = new AbortController();
    let listeners = 0,
      most = 0;
    const { addEventListener: add, removeEventListener: remove } = stop.signal;
    stop.signal.addEventListener = (...args: any[]) => {
      most = Math.max(most, ++listeners);
      (add as any).apply(stop.signal, args);
    };
    stop.signal.removeEventListener = (...args: any[]) => {
      listeners--;
      (remove as any).apply(stop.signal, args);
    };
    Object.assign(globalThis, {
      fetch: async () => stream(),
      setTimeout: (work: () => void, ms: number) => {
        if (ms === 45_000) return real.timeout(() => {}, 0); // the silence of a stream
        pauses.push(ms);
        return real.timeout(work, 0);
      },
    });
    try {
      await followOrder(
        "/v1/orders/events",
        "k",
        stop.signal,
        async () => looks.shift() ?? answer(404, { code: "order_not_found" }),
        async ({ state }) => {
          seen.push(state);
          return state !== states.at(-1);
        },
      );
    } finally {
      Object.assign(globalThis, { fetch: real.fetch, setTimeout: real.timeout });
    }
    assert.deepEqual(seen, states);
    return { seen, pauses, most };
  };
  const state = (name: string): Answer => answer(200, { result: { state: name } });
  const full = await run(
    () => new Response("{}", { status: 429, headers: { "Retry-After": "5" } }),
    [...Array.from({ length: 8 }, () => state("placed")), state("closed")],
    [...Array.from({ length: 8 }, () => "placed"), "closed"],
  );
  assert.equal(full.pauses.length, 8);
  assert.ok(
    full.pauses.every((ms) => ms >= 5000 && ms <= 90_000) && full.pauses.at(-1)! >= 30_000,
    `pauses ${full.pauses}`,
  );
  assert.ok(full.most <= 2, `${full.most} listeners at the same time`);
  const unknown = await run(() => new Response("{}", { status: 404 }), [], []);
  assert.equal(unknown.pauses.length, 2, "larder does not know the order: three attempts");
  await run(
    () => new Response("{}", { status: 403 }),
    [answer(403), answer(0), answer(403), state("rejected")],
    ["rejected"],
  );
  await run(() => new Response('retry: 3000\n\nevent: order.updated\ndata: {"state":"closed"}\n\n'), [], ["closed"]);
});

test("an order of another tab is shown, and not placed again", async () => {
  const store = new Drawer();
  const larder = new Larder([placedAnswer, placedAnswer]);
  const [one, other] = [placing(store, larder), placing(store, larder)];
  await one.begin("a", []);
  await other.begin("a", []);
  assert.deepEqual([other.intent!.state, other.intent!.key, larder.keys.length], ["placed", one.intent!.key, 1]);
  await other.begin("a", []);
  assert.equal(larder.keys.length, 2, "whoever has seen it may order again");
});

test("a full or forbidden storage loses no order and returns no older value", async () => {
  const full = new Drawer();
  full.setItem("o", "older");
  full.setItem = () => {
    throw new Error("QuotaExceededError");
  };
  const session = new Drawer();
  const kept = new FallbackStore([full, session]);
  kept.setItem("o", "newer");
  assert.deepEqual(
    [kept.getItem("o"), full.getItem("o"), kept.survivesReload("o")],
    ["newer", "older", true],
    "other tabs still know of the order",
  );
  full.setItem = (name, value) => {
    full.all.set(name, value);
  };
  kept.setItem("o", "newest");
  assert.deepEqual([kept.getItem("o"), session.getItem("o")], ["newest", null]);
  full.setItem = session.setItem = () => {
    throw new Error("QuotaExceededError");
  };
  kept.setItem("o", "last");
  assert.deepEqual([kept.getItem("o"), full.getItem("o"), kept.survivesReload("o")], ["last", "newest", false]);
  const refused = new FallbackStore([
    {
      getItem: () => {
        throw new Error("SecurityError");
      },
      setItem: () => {
        throw new Error("SecurityError");
      },
      removeItem: () => {
        throw new Error("SecurityError");
      },
    },
  ]);
  const larder = new Larder([answer(0), placedAnswer]);
  const p = placing(refused, larder);
  await Promise.all([p.begin("a", []), p.begin("a", [])]);
  assert.deepEqual([p.intent!.state, new Set(larder.keys).size, refused.survivesReload("o")], ["placed", 1, false]);
});

test("typed numbers are sent as numbers only if they are exact", () => {
  const menu = new Menu(body());
  const change = (typed: string): unknown =>
    JSON.parse(
      bodyOf(menu, [], { expedition: "pickup", payment: "cash", soonest: true, at: "", fields: { changeFrom: typed } }),
    ).changeFrom;
  assert.deepEqual(["1000", " 12,50 ", "0x10", "1e400", "12345678901234567890", "-5", "five"].map(change), [
    1000,
    12.5,
    "0x10",
    "1e400",
    "12345678901234567890",
    -5,
    "five",
  ]);
});

const spelt = (text: unknown): string[] =>
  Object.values(typeof text === "string" ? { text } : (text as object)) as string[];

test("every text exists in each language, with the same parameters", () => {
  const tables: Record<string, Texts> = { en: english, ru: russian }; // the compiler finds missing keys
  assert.deepEqual(Object.keys(russian), Object.keys(english));
  for (const key of Object.keys(english) as Key[]) {
    const params = Object.entries(tables).map(([language, table]) => {
      const forms = spelt(table[key]);
      assert.ok(forms.length > 0 && forms.every((f) => f.trim() !== ""), `${key} in ${language}`);
      for (const n of [0, 1, 2, 5, 21])
        assert.ok(message([{ language, texts: table }], key, { n }).length > 0, `${key} in ${language} for ${n}`);
      return [...new Set(forms.join(" ").match(/\{\w+\}/g))]
        .filter((p) => p !== "{n}")
        .sort()
        .join();
    });
    assert.equal(new Set(params).size, 1, `${key} has other parameters in another language`);
  }
  assert.equal(message([{ language: "ru", texts: russian }], "found", { n: 22 }), "Найдено 22 блюда");
});

test("texts of a site replace larder's, and missing ones are English", async () => {
  const warnings: string[] = [];
  console.warn = (text: string) => warnings.push(text);
  const arabic = { add: "أضف", found: { zero: "لا أطباق", two: "طبقان", few: "{n} أطباق", other: "{n} طبق" } };
  const wordings = await wordingsOf("ar-EG", arabic);
  assert.deepEqual(
    [
      message(wordings, "add"),
      message(wordings, "choose"),
      message(wordings, "found", { n: 2 }),
      message(wordings, "found", { n: 1 }),
    ],
    ["أضف", "Choose", "طبقان", "١ طبق"],
  );
  assert.equal(message(await wordingsOf("ar", JSON.stringify(arabic)), "found", { n: 3 }), "3 أطباق");
  assert.deepEqual(warnings, []);
  for (let i = 0; i < 2; i++) {
    // each fault is reported once
    const faulty = { add: "x {n}", adds: "y", toString: "z", total: 5, found: { one: "1" }, addNamed: "{name}" };
    assert.deepEqual(checked(faulty, "test"), { add: "x {n}", addNamed: "{name}" });
    reportTexts(faulty, "test");
    reportTexts({ add: "x", found: { one: "1", other: "{n}" } }, "no faults");
    assert.deepEqual(await wordingsOf("fr", "{add"), [inEnglish] satisfies Wording[]);
  }
  const told = warnings.filter((text) => !text.includes("diagnose.js")); // the tests are one file
  assert.equal(told.length, 2);
  for (const part of ['"adds"', '"toString"', '"total"', '"found"', '"add" has no parameter {n}', "texts.json"])
    assert.ok(told[0]!.includes(part), told[0]);
  assert.ok(!told[0]!.includes("addNamed"), told[0]);
  assert.deepEqual(["RU-ru", "zz-", "", "de-at"].map(canonical), ["ru-RU", "en", "en", "de-AT"]);
});

test("an order is not sent while the browser is offline, and is sent once when it is online", async () => {
  const store = new Drawer();
  const larder = new Larder([placedAnswer]);
  let online = false;
  const p = placing(store, larder, () => online);
  await p.begin("a", []);
  const key = p.intent!.key;
  await p.wake();
  await p.resume();
  assert.deepEqual([p.intent!.state, shown(p).maybe, larder.keys, larder.looks], ["offline", undefined, [], 0]);
  const other = placing(store, larder, () => online); // another tab
  online = true;
  await Promise.all([p.wake(), p.wake(), other.wake()]);
  p.read();
  assert.deepEqual([p.intent!.state, new Set(larder.keys)], ["placed", new Set([key])]);
});

test("an order that waits for the network can be changed: only the changed one is sent", async () => {
  const store = new Drawer();
  const larder = new Larder([placedAnswer]);
  let online = false;
  const [one, other] = [placing(store, larder, () => online), placing(store, larder, () => online)];
  await one.begin("a", []);
  const old = one.intent!.key;
  other.read();
  assert.deepEqual([await other.forget(), await other.forget()], ["offline", null]);
  online = true;
  await one.wake(); // has not heard of it yet
  assert.deepEqual([one.intent, larder.keys], [null, []]);
  await other.begin("b", []);
  assert.deepEqual([other.intent!.state, larder.bodies, larder.keys.includes(old)], ["placed", new Set(["b"]), false]);
});

test("an order that was being sent when the network was lost may have been placed", async () => {
  let online = true;
  const larder = new Larder([], [answer(404, { code: "order_not_found" })]);
  const send = larder.place;
  larder.place = async (key, sent) => {
    online = false;
    return send(key, sent);
  };
  const p = placing(new Drawer(), larder, () => online);
  await p.begin("a", []);
  assert.deepEqual([p.intent!.state, shown(p).maybe, larder.keys.length], ["lost", true, 1]);
  const key = p.intent!.key;
  await p.begin("b", []);
  await p.forget();
  await p.wake();
  assert.deepEqual(
    [p.intent!.state, p.intent!.key, larder.keys.length, larder.looks],
    ["lost", key, 1, 0],
    "no other order, and no request while offline",
  );
  online = true;
  larder.place = async (again, sent) => {
    await send(again, sent);
    return placedAnswer;
  };
  await p.wake();
  assert.deepEqual(
    [p.intent!.state, larder.looks, larder.keys, larder.bodies],
    ["placed", 1, [key, key], new Set(["a"])],
  );
});

test("the network returns after the last try: the order continues by itself", async () => {
  const larder = new Larder([], [answer(200, { result: { state: "placed", orderID: "7", total: 1, paid: true } })]);
  const p = placing(new Drawer(), larder);
  await p.begin("a", []);
  assert.deepEqual([p.intent!.state, larder.keys.length], ["lost", 6]);
  await p.wake();
  assert.deepEqual([p.intent!.state, shown(p).paid, larder.keys.length], ["placed", true, 6]);
});

test("an order that waited for the network for too long is not sent automatically", async () => {
  const store = new Drawer();
  store.setItem(
    "o",
    JSON.stringify({ format: 1, key: "k", body: "a", lines: [], state: "offline", at: Date.now() - 11 * 60_000 }),
  );
  const larder = new Larder([placedAnswer]);
  const p = placing(store, larder);
  await p.wake();
  assert.deepEqual([p.intent!.state, larder.keys], ["offline", []]);
  await p.resume();
  assert.deepEqual([p.intent!.state, larder.keys], ["placed", ["k"]]);
});

test("an order of unknown outcome stays unknown while offline", async () => {
  const store = new Drawer();
  store.setItem("o", JSON.stringify({ format: 1, key: "k", body: "a", lines: [], state: "unknown", at: Date.now() }));
  let online = false;
  const larder = new Larder([], [answer(200, { result: { state: "closed", orderID: "7", total: 1 } })]);
  const p = placing(store, larder, () => online);
  await p.wake();
  assert.deepEqual([p.intent!.state, larder.looks, p.asking], ["unknown", 0, false]);
  online = true;
  await p.wake();
  assert.deepEqual([p.intent!.state, shown(p).closed, larder.looks, larder.keys], ["placed", true, 1, []]);
});

test("a 503 can be retried offline: it waits for the network with the same key", async () => {
  let online = true;
  const larder = new Larder([answer(503, { code: "journal_unavailable" }), placedAnswer]);
  const p = placing(new Drawer(), larder, () => online);
  await p.begin("a", []);
  online = false;
  await p.resume();
  assert.equal(p.intent!.state, "offline");
  online = true;
  await p.wake();
  assert.deepEqual([p.intent!.state, new Set(larder.keys).size], ["placed", 1]);
});

test("while another tab sends an order, a rate limit does not mean that nothing was placed", async () => {
  const store = new Drawer();
  store.setItem("o", JSON.stringify({ format: 1, key: "k", body: "a", lines: [], state: "offline", at: Date.now() }));
  let late!: (answer: Answer) => void;
  const first = placing(store, {
    place: () =>
      new Promise((done) => {
        late = done;
      }),
    look: async () => answer(404, { code: "order_not_found" }),
  });
  const sending = first.wake();
  await new Promise((done) => setTimeout(done));
  const second = placing(store, new Larder(Array.from({ length: 9 }, () => answer(429, { code: "rate_limited" }))));
  await second.wake();
  assert.equal(second.intent!.state, "lost", "not unsent");
  await second.begin("b", []);
  assert.equal(second.intent!.key, "k");
  late(placedAnswer);
  await sending;
  second.read();
  assert.deepEqual([second.intent!.state, second.intent!.key], ["placed", "k"]);
});

test("the event stream shows what becomes of a placed order, and starts a look at an unknown one", async () => {
  const store = new Drawer();
  const larder = new Larder([placedAnswer]);
  const p = placing(store, larder);
  await p.begin("a", []);
  const key = p.intent!.key;
  assert.deepEqual([await p.observe(key, { state: "placed", paid: true }), shown(p).paid], [true, true]);
  assert.deepEqual([await p.observe(key, { state: "closed", paid: true }), shown(p).closed], [false, true]);
  await p.observe(key, { state: "rejected", reason: "No gas" });
  assert.equal(shown(p).reason, "No gas");
  await p.observe(key, { state: "closed" });
  assert.equal(shown(p).reason, undefined);
  assert.deepEqual([await p.observe("other", { state: "rejected" }), shown(p).rejected], [false, false]);
  const other = placing(store, {
    place: () => new Promise(() => {}),
    look: async () => answer(404, { code: "order_not_found" }),
  });
  await other.forget();
  void other.begin("b", []);
  await new Promise((done) => setTimeout(done));
  await p.observe(key, { state: "rejected" });
  assert.equal(JSON.parse(store.getItem("o")!).body, "b", "the order of the other tab stays");

  store.setItem("o", JSON.stringify({ format: 1, key: "k", body: "a", lines: [], state: "unknown", at: Date.now() }));
  const looked = new Larder([], [answer(200, { result: { state: "placed", orderID: "7", total: 1 } })]);
  const waiting = placing(store, looked);
  await waiting.observe("k", { state: "unknown" });
  assert.equal(looked.looks, 0);
  await waiting.observe("k", { state: "placed" });
  await new Promise((done) => setTimeout(done));
  assert.deepEqual([waiting.intent!.state, shown(waiting).orderID, looked.looks], ["placed", "7", 1]);
});

test("a new order does not wait for the pause of the last one", async () => {
  const store = new Drawer();
  const larder = new Larder([answer(504, { code: "order_outcome_unknown" }), placedAnswer]);
  const p = new Placing(
    store,
    "o",
    larder,
    () => new Promise(() => {}),
    () => true,
  ); // endless pauses
  void p.begin("a", []);
  await new Promise((done) => setTimeout(done));
  assert.deepEqual([p.intent!.state, p.asking], ["unknown", true]);
  store.setItem("o", JSON.stringify({ ...p.intent!, state: "placed", orderID: "1" })); // by another tab
  p.read();
  await p.begin("b", []);
  await new Promise((done) => setTimeout(done));
  assert.deepEqual([p.intent!.state, p.asking, larder.looks, larder.bodies], ["placed", false, 0, new Set(["a", "b"])]);
});

test("an outcome is shown for a day after the time of the order", () => {
  const shown = (hours: number, expected?: number): boolean => {
    const store = new Drawer();
    const sent =
      expected === undefined
        ? "a"
        : JSON.stringify({ expectedAt: new Date(Date.now() + expected * 3_600_000).toISOString() });
    store.setItem(
      "o",
      JSON.stringify({
        format: 1,
        key: "k",
        body: sent,
        lines: [],
        state: "placed",
        at: Date.now() - hours * 3_600_000,
      }),
    );
    return placing(store, new Larder([])).intent !== null;
  };
  assert.deepEqual(
    [shown(23), shown(25), shown(25, 48), shown(72, -23), shown(72, -25)],
    [true, false, true, true, false],
  );
});

test("the fields are checked without larder", () => {
  const codes = (fields: Record<string, string>, expedition: "delivery" | "pickup" = "pickup"): string[] =>
    problemsOf({ expedition, payment: "cash", soonest: true, at: "", fields }).map((v) => v.path + " " + v.code);
  assert.deepEqual(codes({}), ["/guest/phone field_required"]);
  assert.deepEqual(codes({ "guest.phone": " 12 " }), ["/guest/phone phone_invalid"]);
  for (const phone of ["00000", "7777 77-77", "٠٠٠٠٠", "1234567890123456"])
    assert.deepEqual(codes({ "guest.phone": phone }), ["/guest/phone phone_invalid"], phone);
  assert.deepEqual(codes({ "guest.phone": "123456789012345" }), []);
  assert.deepEqual(codes({ "guest.phone": "12345", changeFrom: "abc" }), ["/changeFrom type_mismatch"]);
  assert.deepEqual(codes({ "guest.phone": "12345", changeFrom: " 12,5 " }), []);
  assert.deepEqual(codes({ "guest.phone": "٠١٢٣٤" }), []);
  assert.deepEqual(
    codes({ "guest.phone": "+1 (0) 00-0", "address.street": "x", "address.cityName": "y" }, "delivery"),
    ["/address/houseNumber field_required"],
  );
});

test("times are quarters of an hour in the restaurant's time zone", () => {
  const now = Date.parse("2026-10-24T21:50:00Z"); // Lisbon: 22:50 in summer time, which ends at 02:00 on the next day
  assert.equal(clock("Asia/Kolkata")(now), "2026-10-25T03:20:00+05:30");
  assert.equal(clock("America/St_Johns")(now), "2026-10-24T19:20:00-02:30");
  assert.equal(clock("UTC")(now), "2026-10-24T21:50:00+00:00");
  const all = slots(now, { lead: 60, days: 30, openings: null, zone: "Europe/Lisbon" });
  assert.equal(all[0], "2026-10-25T00:00:00+01:00");
  assert.equal(all.at(-1), "2026-11-23T21:45:00+00:00");
  assert.deepEqual(
    all.filter((s) => s.includes("T01:30")).slice(0, 2),
    ["2026-10-25T01:30:00+01:00", "2026-10-25T01:30:00+00:00"],
    "the hour that occurs twice",
  );
  assert.equal(
    slots(Date.parse("2026-03-28T12:00:00Z"), { lead: 60, days: 1, openings: null, zone: "Europe/Lisbon" }).some((s) =>
      s.includes("03-29T01:"),
    ),
    false,
    "the hour that is skipped",
  );
  const openings = [
    { from: "2026-10-25T10:00:00Z", to: "2026-10-25T10:30:00Z" },
    { from: "2026-01-01T00:00:00Z", to: "2026-10-24T23:10:00Z" },
  ];
  assert.deepEqual(
    slots(now, { lead: 60, days: 30, openings, zone: "UTC" }).map((s) => s.slice(5, 16)),
    ["10-24T23:00", "10-25T10:00", "10-25T10:15", "10-25T10:30"],
  );
  assert.deepEqual(slots(now, { lead: 60, days: 30, openings: [], zone: "UTC" }), []);
  const times = { lead: 60, days: 1, openings: null, zone: "UTC" };
  assert.deepEqual(
    ["22:49", "22:50", "23:00"].map((t) => bookable(`2026-10-24T${t}:00Z`, now, times)),
    [false, true, true],
  );
  assert.deepEqual(
    [bookable("2026-10-25T22:00:00Z", now, times), bookable("2026-10-24T23:30:00Z", now, { ...times, openings })],
    [false, false],
  );
  const zones = ["2026-10-24", "2026-10-26"].map((d) => zoneName("en", d + "T12:00:00Z", "Europe/Lisbon"));
  assert.ok(zones[0] === "GMT+1" && /^GMT(\+0)?$/.test(zones[1]!), `the zone at the time: ${zones}`);
  assert.equal(zoneOf("Nowhere/Land"), zoneOf(""));
  assert.deepEqual(
    ["2026-10-24", "2026-10-25", "2026-10-26"].map((d) => dayName("en", d, "2026-10-24")),
    ["Today, Oct 24", "Tomorrow, Oct 25", "Mon, Oct 26"],
  );
});

test("lead times and hours of a restaurant are read as larder writes them", () => {
  const lead = (text: string | undefined): number => Math.round(minutesOf(text) * 1000) / 1000;
  assert.deepEqual(
    ["60m", "0m", "90m", "1h30m0s", "45s", "1m30s", "1.5s", "500ms"].map(lead),
    [60, 0, 90, 90, 0.75, 1.5, 0.025, 0],
  );
  assert.ok(Number.isNaN(minutesOf(undefined)) && Number.isNaN(minutesOf("")));
  const hours = [{ from: "2026-05-01T10:00:00+02:00", to: "2026-05-01T10:30:00+02:00" }];
  const times = { lead: 60, days: 30, openings: openingsOf(hours), zone: "UTC" };
  const at = Date.parse("2026-05-01T06:00:00Z");
  assert.deepEqual(slots(at, times), ["2026-05-01T08:00:00+00:00", "2026-05-01T08:15:00+00:00"]); // not the end
  assert.equal(openingsOf(null), null);
  assert.equal(openingsOf(undefined), null);
});

test("O23: no time in a pause can be ordered", () => {
  const accepts = { now: false, reason: "paused" as const, next: "2026-05-01T19:10:00+02:00", leadTime: "60m" };
  const end = Date.parse(accepts.next);
  assert.deepEqual(
    [
      resumes(accepts),
      resumes({ ...accepts, next: null }),
      resumes({ ...accepts, reason: "closed" }),
      resumes({ ...accepts, now: true, reason: null, next: null }),
      resumes(undefined),
    ],
    [end, Infinity, 0, 0, 0],
  );
  const now = Date.parse("2026-05-01T12:00:00Z");
  const times = { lead: 60, days: 1, openings: null, zone: "UTC" };
  assert.equal(slots(now, times)[0], "2026-05-01T13:00:00+00:00");
  assert.equal(slots(now, { ...times, from: end })[0], "2026-05-01T17:15:00+00:00");
  assert.equal(slots(now, { ...times, from: now })[0], "2026-05-01T13:00:00+00:00", "the lead time is longer");
  assert.deepEqual(slots(now, { ...times, from: Infinity }), []);
  assert.deepEqual(
    ["2026-05-01T17:09:59Z", accepts.next].map((at) => bookable(at, now, { ...times, from: end })),
    [false, true],
  );
  assert.equal(bookable(accepts.next, now, { ...times, from: Infinity }), false);
  const minutes = (n: number): number => Date.now() + n * 60_000;
  assert.deepEqual(
    [0, minutes(59), minutes(61), Infinity].map((from) => soon({ ...times, from })),
    [true, true, false, false],
  );
});

test("O23: guests see when a snoozed dish returns, in the restaurant's time zone", () => {
  const now = Date.parse("2026-05-01T20:00:00Z"); // Friday; in Lisbon 21:00
  const shown = (at: string, zone = "Europe/Lisbon", language = "en-GB"): string =>
    timeOf(language, Date.parse(at), zone, now);
  assert.equal(shown("2026-05-01T22:30:00Z"), "23:30");
  assert.equal(shown("2026-05-01T23:30:00Z"), "Sat 00:30");
  assert.equal(shown("2026-05-01T23:30:00Z", "UTC"), "23:30");
  assert.match(shown("2026-05-08T22:30:00Z"), /Fri,? 8 May,? (at )?23:30/);
  assert.match(shown("2026-05-02T22:30:00Z", "UTC", "ru"), /^сб,? 22:30$/);
  const until = (at: string | null): string | undefined =>
    soldOut(
      "combo",
      {
        details: {
          snoozed: [
            { id: "soup", until: null },
            { id: "combo", until: at },
          ],
        },
        locale: "en-GB",
        timeZone: "Europe/Lisbon",
        formatter: plain,
      },
      now,
    );
  assert.equal(until("2026-05-01T22:30:00Z"), "Sold out until 23:30");
  assert.equal(until("2026-05-01T19:59:00Z"), undefined, "it has returned");
  assert.equal(until(null), undefined);
});

test("the next opening is the first one after the lead time", () => {
  const at = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString();
  const opening = (minutes: number): { from: string; to: string } => ({ from: at(minutes), to: at(minutes + 30) });
  const openings = [opening(-60), opening(30), opening(300), opening(120)];
  assert.equal(opens({ lead: 60, days: 30, openings, zone: "UTC" }), Date.parse(openings[3]!.from));
  for (const none of [null, [], [opening(30)]])
    assert.ok(Number.isNaN(opens({ lead: 60, days: 30, openings: none, zone: "UTC" })));
});

test("the history has the last ten orders, without address and phone number", async () => {
  const store = new Drawer();
  const history = new History(store, "h");
  for (let i = 1; i <= 12; i++) history.add({ orderID: String(i), at: i, total: "1", lines: [] });
  history.add({ orderID: "12", at: 12, total: "1", lines: [] });
  assert.deepEqual(
    history.list().map((p) => p.orderID),
    ["12", "11", "10", "9", "8", "7", "6", "5", "4", "3"],
  );
  history.end({ orderID: "12", at: 12, end: "rejected", reason: "No gas" });
  history.end({ orderID: "12", at: 11, end: "rejected" }); // another order with this number
  history.end({ orderID: "11", at: 11, end: "closed" });
  assert.deepEqual(
    history.list().map((p) => p.end),
    ["rejected", "closed", ...Array(8).fill(undefined)],
  );
  assert.equal(history.list()[0]!.reason, "No gas");
  history.clear();
  assert.deepEqual([history.list(), store.all.size], [[], 0]);
  store.setItem("h", "{");
  assert.deepEqual(history.list(), []);

  const shop = Shop.of("https://larder.example", "r");
  const real = globalThis.fetch;
  globalThis.fetch = async () => new Response(JSON.stringify(placedAnswer.body), { status: 201 });
  try {
    await shop.placing.forget();
    await shop.placing.begin(JSON.stringify({ guest: { phone: "+35120000000" }, address: { street: "Rua" } }), [
      { key: "k", ...lineOf(new Menu(body()), "cheese", decimal(2), []) },
    ]);
  } finally {
    globalThis.fetch = real;
  }
  const [latest] = shop.history.list();
  assert.deepEqual(
    [latest!.orderID, latest!.total, latest!.lines.map((l) => l.name)],
    ["765", "640", ["Crème fraîche"]],
  );
  assert.doesNotMatch(JSON.stringify(latest), /2000|Rua/);
});

test("numbers, money and measures have the form of the reader's language", () => {
  const plain = (text: string): string => text.replace(/[\u00a0\u202f]/g, " ");
  const money = (amount: string, language: string, currency: string, cents = true): string =>
    plain(moneyText(decimal(amount), language, currency, cents));
  assert.deepEqual(
    [
      money("489", "en", "RUB"),
      money("179.9", "en", "RUB"),
      money("489", "en", "RUB", false),
      money("472.5", "en", "RUB", false),
    ],
    ["₽489.00", "₽179.90", "₽489", "₽472.50"],
  );
  assert.deepEqual(
    [money("179.9", "ru", "RUB"), money("1234.5", "de", "EUR"), money("7", "en", "")],
    ["179,90 ₽", "1.234,50 €", "7.00"],
  );
  assert.equal(money("123456789012345678.99", "en", "EUR"), "€123,456,789,012,345,678.99"); // exact
  assert.equal(money("5", "en", "euro"), "5 euro");
  const measure = (value: number, unit: string, language: string): string =>
    plain(measureText(value, unit, language, (name) => name + "!"));
  assert.deepEqual(
    [
      measure(0.15, "kg", "en"),
      measure(1, "kg", "en"),
      measure(0.0005, "kg", "en"),
      measure(0.33, "liter", "en"),
      measure(1.5, "liter", "en"),
    ],
    ["150 g", "1 kg", "0.5 g", "330 mL", "1.5 L"],
  );
  assert.deepEqual(
    [measure(0.15, "kg", "ru"), measure(1.25, "kg", "ru"), measure(0.15, "liter", "ru"), measure(8, "pcs", "ru")],
    ["150 г", "1,25 кг", "150 мл", "8 pcs!"],
  );
  assert.deepEqual([numberText(decimal("0.5"), "ru"), numberText(decimal("1.5"), "ar-EG")], ["0,5", "١٫٥"]);
  const wording: Wording = { language: "ar-EG", texts: { found: "{n}", addNamed: "أضف {name}" } };
  assert.deepEqual(
    [
      message([wording], "found", { n: 12 }),
      message([wording], "addNamed", { name: "Latte" }),
      message([], "addNamed", { name: "שווארמה" }),
      message([], "addNamed", { name: "Latte" }),
    ],
    ["١٢", "أضف \u2068Latte\u2069", "Add \u2068שווארמה\u2069", "Add Latte"],
  );
});

test("H13: a picture has an http(s) address without credentials, or a path", () => {
  for (const { address, shown } of pictures) {
    const got = addressOf(address, "https://larder.example");
    assert.equal(got !== "", shown, JSON.stringify(address));
    if (got) assert.equal(new URL(got).username, "");
  }
});
