// The content of the dialog of a dish, the search, and the controls of the categories. The elements load this module when
// the browser is idle, or when a guest opens a dish or searches.

export { DishView } from "./larder/dish";
export { rank } from "./larder/ranking";
export { Search } from "./larder/search";
export { controlStrip } from "./larder/stripcontrols";
