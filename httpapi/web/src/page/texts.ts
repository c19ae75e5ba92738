// What the page says around its components.
export const texts = {
  en: { menu: "Menu", toOrder: "To the order", restaurant: "Restaurant", none: "There is no restaurant to show yet." },
  ru: { menu: "Меню", toOrder: "К заказу", restaurant: "Ресторан", none: "Пока нет ни одного ресторана." },
} as const;
