// The module that storefronts load. It defines <larder-menu> and
// <larder-order-form>; loading it twice is harmless.

import { LarderMenu } from "./larder/menu-element";
import { LarderOrderForm } from "./larder/order-element";

if (!customElements.get("larder-menu")) customElements.define("larder-menu", LarderMenu);
if (!customElements.get("larder-order-form")) customElements.define("larder-order-form", LarderOrderForm);

export { LarderMenu, LarderOrderForm };
