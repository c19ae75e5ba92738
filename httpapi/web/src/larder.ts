// The module that storefronts load: <larder-menu> and <larder-order-form>. A
// page that loads it twice has each element once.

import { LarderMenu } from "./larder/menu-element";
import { LarderOrderForm } from "./larder/order-element";

if (!customElements.get("larder-menu")) customElements.define("larder-menu", LarderMenu);
if (!customElements.get("larder-order-form")) customElements.define("larder-order-form", LarderOrderForm);

export { LarderMenu, LarderOrderForm };
