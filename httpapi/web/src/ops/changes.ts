// Differences between two menus, in words.

import { pathOf, ResponseError, result } from "./api";
import { h } from "./dom";
import { count, number, price } from "./format";
import type { Changes } from "./model";

/** Shows what guests would see change with the quarantined menu of a restaurant. */
export async function quarantinedChanges(id: string, signal: AbortSignal): Promise<HTMLElement> {
  try {
    const changes = await result<Changes>(pathOf(id) + "/quarantined/changes", { signal });
    return h(
      "div",
      { class: "scroll", role: "region", "aria-label": "Changes for guests", tabindex: 0 },
      h("p", {}, "With the quarantined menu, guests would see these changes:"),
      describe(changes),
    );
  } catch (error) {
    if (!(error instanceof ResponseError) || error.status !== 404) throw error;
    return h("p", {}, "The quarantined menu is not kept, so its changes cannot be shown.");
  }
}

const fieldNames: Record<string, string> = {
  externalId: "external id",
  categoryId: "category",
  categoryIds: "categories",
  imageUrls: "photos",
  schemeId: "options",
  groups: "options",
  measure: "size",
};

/** Describes differences in words. */
export function describe(changes: Changes): HTMLElement {
  const { added, removed, changed, availability } = changes.counts;
  if (added + removed + changed + availability === 0) return h("p", {}, "No differences.");
  const list = (title: string, all: number, items: HTMLLIElement[]) =>
    all > 0 &&
    h(
      "section",
      {},
      h("h3", {}, `${title} (${number(all)})`),
      h("ul", {}, items),
      items.length < all && h("p", {}, `and ${number(all - items.length)} more`),
    );
  return h(
    "div",
    { class: "diff" },
    h(
      "p",
      {},
      `${count(added, "dish", "dishes")} added, ${number(removed)} removed, ${number(changed)} changed; ${number(availability)} now out of stock or back in stock.`,
    ),
    list(
      "Added",
      added,
      changes.added.map((dish) => h("li", {}, h("ins", { dir: "auto" }, dish.name || dish.id), " ", price(dish.price))),
    ),
    list(
      "Removed",
      removed,
      changes.removed.map((dish) =>
        h("li", {}, h("del", { dir: "auto" }, dish.name || dish.id), " ", price(dish.price)),
      ),
    ),
    list(
      "Changed",
      changed,
      changes.changed.map((dish) =>
        h(
          "li",
          {},
          h("b", { dir: "auto" }, dish.name || dish.id),
          h(
            "ul",
            {},
            dish.fields.map((one) =>
              h(
                "li",
                {},
                `${fieldNames[one.field] ?? one.field}: `,
                one.before === null && one.after === null
                  ? "changed"
                  : [h("del", {}, plain(one.field, one.before)), " → ", h("ins", {}, plain(one.field, one.after))],
              ),
            ),
          ),
        ),
      ),
    ),
    list(
      "Out of stock or back in stock",
      availability,
      changes.availability.map((dish) =>
        h("li", {}, h("bdi", {}, dish.name || dish.id), dish.available ? " is back in stock" : " is out of stock"),
      ),
    ),
  );
}

function plain(field: string, value: unknown): string {
  if (field === "categoryIds" && Array.isArray(value)) return value.join(", ") || "nothing";
  if (value === null || value === undefined || value === "") return "nothing";
  if (typeof value === "number") return price(value);
  if (Array.isArray(value)) return count(value.length, "photo");
  if (typeof value === "object" && "unit" in value && "value" in value) return `${value.value} ${value.unit}`;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
