// Every text that a guest reads, in each language. "{n}" stands for a parameter;
// a list is chosen from by the language's plural rules (one, few, many, other).

export const languages = ["en", "ru"] as const;
export type Language = (typeof languages)[number];

type Text = string | { one: string; few?: string; many?: string; other: string };

export const texts = {
  menu: { en: "Menu", ru: "Меню" },
  categories: { en: "Categories", ru: "Разделы" },
  search: { en: "Search the menu", ru: "Поиск по меню" },
  found: { en: { one: "{n} dish found", other: "{n} dishes found" }, ru: { one: "Найдено {n} блюдо", few: "Найдено {n} блюда", many: "Найдено {n} блюд", other: "Найдено {n} блюда" } },
  nothingFound: { en: "No dish matches. Try fewer or other words.", ru: "Ничего не найдено. Попробуйте другие слова." },
  loading: { en: "The menu is coming…", ru: "Загружаем меню…" },
  noMenu: { en: "The menu cannot be had just now.", ru: "Сейчас меню недоступно." },
  again: { en: "Try again", ru: "Повторить" },
  add: { en: "Add", ru: "Добавить" },
  addNamed: { en: "Add {name}", ru: "Добавить: {name}" },
  choose: { en: "Choose", ru: "Выбрать" },
  chooseNamed: { en: "Choose options: {name}", ru: "Выбрать состав: {name}" },
  soldOut: { en: "Sold out", ru: "Закончилось" },
  close: { en: "Close", ru: "Закрыть" },
  needs: { en: "Choose {n} more", ru: "Выберите ещё {n}" },
  full: { en: "Full: take one away to choose another", ru: "Больше нельзя: уберите, чтобы выбрать другое" },
  exactly: { en: "choose {min}", ru: "выберите {min}" },
  range: { en: "{min} to {max}", ru: "от {min} до {max}" },
  upTo: { en: "up to {max}", ru: "до {max}" },
  atLeast: { en: "at least {min}", ru: "не меньше {min}" },
  anyNumber: { en: "as many as you like", ru: "сколько угодно" },
  chosen: { en: "{n} chosen", ru: "выбрано: {n}" },
  partOf: { en: "For {name}", ru: "Для «{name}»" },
  stillNeeded: { en: "Still needed: {names}", ru: "Осталось выбрать: {names}" },
  goneOption: { en: "{name} has run out: choose something else", ru: "{name}: закончилось, выберите другое" },
  goneDish: { en: "{name} has sold out while you were choosing.", ru: "{name}: закончилось, пока вы выбирали." },
  quantity: { en: "Quantity", ru: "Количество" },
  quantityIn: { en: "Quantity, {unit}", ru: "Количество, {unit}" },
  fewer: { en: "Fewer: {name}", ru: "Меньше: {name}" },
  more: { en: "More: {name}", ru: "Больше: {name}" },
  addFor: { en: "Add for {price}", ru: "Добавить за {price}" },
  saveFor: { en: "Save, {price}", ru: "Сохранить, {price}" },
  added: { en: "{name} is in the basket", ru: "{name}: добавлено в корзину" },
  kg: { en: "kg", ru: "кг" },
  liter: { en: "l", ru: "л" },
  pcs: { en: "pcs", ru: "шт." },
  calories: { en: "{n} kcal", ru: "{n} ккал" },
  order: { en: "Your order", ru: "Ваш заказ" },
  empty: { en: "Nothing is in the basket yet.", ru: "В корзине пока пусто." },
  remove: { en: "Remove", ru: "Убрать" },
  removeNamed: { en: "Remove {name}", ru: "Убрать: {name}" },
  change: { en: "Change", ru: "Изменить" },
  changeNamed: { en: "Change {name}", ru: "Изменить: {name}" },
  total: { en: "Total", ru: "Итого" },
  lineGone: { en: "Sold out: remove it to order the rest", ru: "Закончилось: уберите, чтобы заказать остальное" },
  lineOptions: { en: "Its options have changed: choose again", ru: "Состав изменился: выберите заново" },
  linePrice: { en: "The price has changed from {was} to {now}", ru: "Цена изменилась: было {was}, стало {now}" },
  howToGet: { en: "How to get it", ru: "Как получить" },
  delivery: { en: "Delivery", ru: "Доставка" },
  pickup: { en: "Pickup", ru: "Самовывоз" },
  when: { en: "When", ru: "Когда" },
  soonest: { en: "As soon as possible", ru: "Как можно скорее" },
  atTime: { en: "At a time", ru: "Ко времени" },
  "expectedAt": { en: "Day and time", ru: "Дата и время" },
  who: { en: "You", ru: "Вы" },
  where: { en: "Where to", ru: "Куда" },
  "guest.firstName": { en: "Name", ru: "Имя" },
  "guest.phone": { en: "Phone", ru: "Телефон" },
  "address.street": { en: "Street", ru: "Улица" },
  "address.houseNumber": { en: "House", ru: "Дом" },
  "address.apartmentNumber": { en: "Flat", ru: "Квартира" },
  "address.entrance": { en: "Entrance", ru: "Подъезд" },
  "address.floor": { en: "Floor", ru: "Этаж" },
  "address.cityName": { en: "Town", ru: "Город" },
  comment: { en: "Comment", ru: "Комментарий" },
  payment: { en: "Payment", ru: "Оплата" },
  cash: { en: "Cash", ru: "Наличными" },
  card: { en: "Card on receipt", ru: "Картой при получении" },
  online: { en: "Online", ru: "Онлайн" },
  changeFrom: { en: "Change from", ru: "Сдача с" },
  optional: { en: "{name} (optional)", ru: "{name} (необязательно)" },
  fillIn: { en: "Please fill this in", ru: "Заполните это поле" },
  place: { en: "Order for {price}", ru: "Заказать за {price}" },
  sending: { en: "Your order is on its way to the restaurant…", ru: "Заказ отправляется в ресторан…" },
  wrong: { en: { one: "One thing needs another look:", other: "{n} things need another look:" }, ru: { one: "Нужно поправить {n} место:", few: "Нужно поправить {n} места:", many: "Нужно поправить {n} мест:", other: "Нужно поправить {n} места:" } },
  placed: { en: "Ordered. Your order's number is {id}.", ru: "Заказ принят. Номер заказа: {id}." },
  placedRejected: { en: "The restaurant has cancelled order {id}. Please call it.", ru: "Ресторан отменил заказ {id}. Пожалуйста, позвоните в ресторан." },
  refused: { en: "The restaurant's system has refused the order. Nothing was ordered.", ru: "Система ресторана отказала в заказе. Ничего не заказано." },
  unsent: { en: "Orders cannot be taken just now. Nothing was ordered.", ru: "Сейчас заказы не принимаются. Ничего не заказано." },
  unknown: { en: "The restaurant has not confirmed your order yet; it may have it. We are asking. Please do not order again: call the restaurant if it is urgent.", ru: "Ресторан ещё не подтвердил заказ; возможно, он его получил. Мы уточняем. Пожалуйста, не заказывайте второй раз; если срочно, позвоните в ресторан." },
  lost: { en: "The connection was lost, and your order may have been placed. Asking again is safe: it never makes a second order.", ru: "Связь прервалась; возможно, заказ принят. Спросить ещё раз безопасно: второго заказа не будет." },
  askAgain: { en: "Ask again", ru: "Спросить ещё раз" },
  sendAgain: { en: "Send again", ru: "Отправить ещё раз" },
  changeOrder: { en: "Change the order", ru: "Изменить заказ" },
  orderMore: { en: "New order", ru: "Новый заказ" },
  notTaken: { en: "This page may not place orders.", ru: "С этой страницы нельзя заказать." },
} satisfies Record<string, Record<Language, Text>>;

export type Key = keyof typeof texts;

/** languageOf is the language that is spoken for a language tag: "ru-RU" is Russian. */
export function languageOf(tag: string): Language {
  const first = tag.toLowerCase().split("-")[0];
  return languages.find((l) => l === first) ?? "en";
}

/** message gives a text; n chooses among plurals. */
export function message(language: Language, key: Key, params: Record<string, string | number> = {}): string {
  const text: Text = texts[key][language];
  const form = typeof text === "string" ? text
    : (text as Record<string, string>)[new Intl.PluralRules(language).select(Number(params.n))] ?? text.other;
  return form.replace(/\{(\w+)\}/g, (whole, name: string) => String(params[name] ?? whole));
}
