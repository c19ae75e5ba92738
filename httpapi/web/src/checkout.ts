// The basket and the fields of the order form, the receipt of an order, and the past orders. The order
// form loads this module when the browser is idle, or when the basket is not empty.

export { BasketView } from "./larder/basketview";
export { Fieldset } from "./larder/fieldset";
export { OrderCheck } from "./larder/ordercheck";
export { checkSettings } from "./larder/settings";
export { OrderFollower } from "./larder/orderfollower";
export { callTo, pastOrders, receipt, reorder } from "./larder/receipt";
export { soldOut } from "./larder/times";
export { default as css } from "./larder/checkout.css";
