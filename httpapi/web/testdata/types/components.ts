// A site that uses larder.d.ts. `make lint-ts` compiles it.
import type { LarderMenuAttributes, LarderTexts } from "../../dist/larder.js";

const texts: LarderTexts = { add: "Ajouter", found: { one: "{n} plat", other: "{n} plats" } };
const attributes: LarderMenuAttributes = { restaurant: "bistro", lang: "fr", theme: "dark" };

const menu = document.querySelector("larder-menu")!;
menu.texts = texts;
menu.open("dish-fries");
menu.addEventListener("larder:added", ({ detail }) => console.log(detail.name.toUpperCase(), attributes.lang));

const form = document.createElement("larder-order-form");
form.restaurant = attributes.restaurant;
form.addEventListener("larder:placed", ({ detail: { orderID, total } }) => console.log(orderID.length, total?.length));
form.addEventListener("larder:basket", ({ detail }) => detail.lines.map((line) => line.quantity));
document.addEventListener("larder:placed", ({ detail }) => console.log(detail.orderID.length));
window.addEventListener("larder:menu", ({ detail: { version, name } }) =>
  console.log(version?.toFixed(), name?.length),
);
// @ts-expect-error the total is a decimal string
document.addEventListener("larder:basket", ({ detail }) => detail.total?.toFixed());
// @ts-expect-error open needs the id of a dish
menu.open();
