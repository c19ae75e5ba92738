// Every text for guests, in each language. "{n}" is a parameter. A text with
// plural forms (one, few, many, other) follows the plural rules of the language.

export const languages = ["en", "ru"] as const;
export type Language = (typeof languages)[number];

type Text = string | { one: string; few?: string; many?: string; other: string };

export const texts = {
  menu: { en: "Menu", ru: "Меню" },
  categories: { en: "Categories", ru: "Разделы" },
  search: { en: "Search the menu", ru: "Поиск по меню" },
  found: { en: { one: "{n} dish found", other: "{n} dishes found" }, ru: { one: "Найдено {n} блюдо", few: "Найдено {n} блюда", many: "Найдено {n} блюд", other: "Найдено {n} блюда" } },
  nothingFound: { en: "No dishes found. Try fewer or different words.", ru: "Ничего не найдено. Попробуйте другие слова." },
  loading: { en: "Loading menu…", ru: "Загружаем меню…" },
  noMenu: { en: "We can't load the menu right now.", ru: "Сейчас не удаётся загрузить меню." },
  again: { en: "Try again", ru: "Повторить" },
  add: { en: "Add", ru: "Добавить" },
  addNamed: { en: "Add {name}", ru: "Добавить: {name}" },
  choose: { en: "Choose", ru: "Выбрать" },
  chooseNamed: { en: "Choose options: {name}", ru: "Выбрать состав: {name}" },
  soldOut: { en: "Sold out", ru: "Закончилось" },
  close: { en: "Close", ru: "Закрыть" },
  needs: { en: "Choose {n} more", ru: "Выберите ещё {n}" },
  full: { en: "You've chosen the maximum. Remove one to pick another.", ru: "Выбрано максимальное количество. Уберите одно, чтобы выбрать другое." },
  exactly: { en: "choose {min}", ru: "выберите {min}" },
  range: { en: "{min} to {max}", ru: "от {min} до {max}" },
  upTo: { en: "up to {max}", ru: "до {max}" },
  atLeast: { en: "at least {min}", ru: "не меньше {min}" },
  anyNumber: { en: "as many as you like", ru: "сколько угодно" },
  chosen: { en: "{n} chosen", ru: "выбрано: {n}" },
  partOf: { en: "Options for {name}", ru: "Состав: {name}" },
  stillNeeded: { en: "Still needed: {names}", ru: "Осталось выбрать: {names}" },
  goneOption: { en: "{name} is sold out. Please choose something else.", ru: "{name}: закончилось. Выберите, пожалуйста, другое." },
  goneDish: { en: "{name} sold out while you were choosing.", ru: "{name}: закончилось, пока вы выбирали." },
  quantity: { en: "Quantity", ru: "Количество" },
  quantityIn: { en: "Quantity, {unit}", ru: "Количество, {unit}" },
  fewer: { en: "Fewer: {name}", ru: "Меньше: {name}" },
  more: { en: "More: {name}", ru: "Больше: {name}" },
  addFor: { en: "Add for {price}", ru: "Добавить за {price}" },
  saveFor: { en: "Save, {price}", ru: "Сохранить, {price}" },
  added: { en: "{name} was added to your basket", ru: "{name}: добавлено в корзину" },
  kg: { en: "kg", ru: "кг" },
  liter: { en: "l", ru: "л" },
  pcs: { en: "pcs", ru: "шт." },
  calories: { en: "{n} kcal", ru: "{n} ккал" },
  order: { en: "Your order", ru: "Ваш заказ" },
  empty: { en: "Your basket is empty.", ru: "Ваша корзина пуста." },
  remove: { en: "Remove", ru: "Убрать" },
  removeNamed: { en: "Remove {name}", ru: "Убрать: {name}" },
  change: { en: "Change", ru: "Изменить" },
  changeNamed: { en: "Change {name}", ru: "Изменить: {name}" },
  total: { en: "Total", ru: "Итого" },
  lineGone: { en: "Sold out. Remove it to order the rest.", ru: "Закончилось. Уберите, чтобы заказать остальное." },
  lineOptions: { en: "This dish's options changed. Please choose again.", ru: "Состав этого блюда изменился. Выберите, пожалуйста, заново." },
  linePrice: { en: "The price changed from {was} to {now}", ru: "Цена изменилась: было {was}, стало {now}" },
  howToGet: { en: "Delivery or pickup", ru: "Доставка или самовывоз" },
  delivery: { en: "Delivery", ru: "Доставка" },
  pickup: { en: "Pickup", ru: "Самовывоз" },
  when: { en: "When", ru: "Когда" },
  soonest: { en: "As soon as possible", ru: "Как можно скорее" },
  atTime: { en: "Schedule for later", ru: "К определённому времени" },
  "expectedAt": { en: "Date and time ({zone})", ru: "Дата и время ({zone})" },
  who: { en: "Your details", ru: "Ваши данные" },
  where: { en: "Delivery address", ru: "Адрес доставки" },
  "guest.firstName": { en: "Name", ru: "Имя" },
  "guest.phone": { en: "Phone", ru: "Телефон" },
  "address.street": { en: "Street", ru: "Улица" },
  "address.houseNumber": { en: "House number", ru: "Дом" },
  "address.apartmentNumber": { en: "Apartment", ru: "Квартира" },
  "address.entrance": { en: "Entrance", ru: "Подъезд" },
  "address.floor": { en: "Floor", ru: "Этаж" },
  "address.cityName": { en: "City", ru: "Город" },
  comment: { en: "Comment", ru: "Комментарий" },
  payment: { en: "Payment", ru: "Оплата" },
  cash: { en: "Cash", ru: "Наличными" },
  cardOnDelivery: { en: "Card on delivery", ru: "Картой при доставке" },
  cardAtPickup: { en: "Card at pickup", ru: "Картой при самовывозе" },
  online: { en: "Online", ru: "Онлайн" },
  changeFrom: { en: "Paying cash? I need change for …", ru: "Платите наличными? Нужна сдача с …" },
  optional: { en: "{name} (optional)", ru: "{name} (необязательно)" },
  fillIn: { en: "Please fill in this field", ru: "Заполните это поле" },
  place: { en: "Order for {price}", ru: "Заказать за {price}" },
  sending: { en: "Sending your order…", ru: "Отправляем ваш заказ…" },
  wrong: { en: { one: "Please fix {n} problem", other: "Please fix {n} problems" }, ru: { one: "Пожалуйста, исправьте {n} ошибку", few: "Пожалуйста, исправьте {n} ошибки", many: "Пожалуйста, исправьте {n} ошибок", other: "Пожалуйста, исправьте {n} ошибки" } },
  placed: { en: "Thank you! Order {id} is confirmed.", ru: "Спасибо! Заказ {id} принят." },
  placedRejected: { en: "The restaurant cancelled order {id}. Please call the restaurant.", ru: "Ресторан отменил заказ {id}. Пожалуйста, позвоните в ресторан." },
  refused: { en: "The restaurant didn't accept the order. Nothing was ordered.", ru: "Ресторан не принял заказ. Ничего не заказано." },
  unsent: { en: "We can't take orders right now. Nothing was ordered.", ru: "Сейчас заказы не принимаются. Ничего не заказано." },
  unknown: { en: "The restaurant hasn't confirmed your order yet, but may have received it. We're checking. Please don't order again. If it is urgent, call the restaurant.", ru: "Ресторан ещё не подтвердил заказ, но мог его получить. Мы проверяем. Пожалуйста, не заказывайте ещё раз. Если срочно, позвоните в ресторан." },
  lost: { en: "We lost the connection, and your order may have been placed. Tap “Check my order”: you won't be charged or served twice.", ru: "Связь прервалась, но заказ мог быть принят. Нажмите «Проверить заказ»: второго заказа и второй оплаты не будет." },
  askAgain: { en: "Check my order", ru: "Проверить заказ" },
  sendAgain: { en: "Send the order again", ru: "Отправить заказ ещё раз" },
  changeOrder: { en: "Change the order", ru: "Изменить заказ" },
  orderMore: { en: "New order", ru: "Новый заказ" },
  notTaken: { en: "Online ordering isn't available on this site.", ru: "На этом сайте нельзя сделать заказ." },
} satisfies Record<string, Record<Language, Text>>;

export type Key = keyof typeof texts;

/** languageOf returns the language for a language tag, such as Russian for "ru-RU". It falls back to English. */
export function languageOf(tag: string): Language {
  const first = tag.toLowerCase().split("-")[0];
  return languages.find((l) => l === first) ?? "en";
}

/** message returns a text. The parameter n selects the plural form. */
export function message(language: Language, key: Key, params: Record<string, string | number> = {}): string {
  const text: Text = texts[key][language];
  const form = typeof text === "string" ? text
    : (text as Record<string, string>)[new Intl.PluralRules(language).select(Number(params.n))] ?? text.other;
  return form.replace(/\{(\w+)\}/g, (whole, name: string) => String(params[name] ?? whole));
}
