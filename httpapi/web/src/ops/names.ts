// Names of restaurants, for lists whose entries only have the id.

import { pathOf, result } from "./api";
import { h, put, type Child } from "./dom";
import type { Restaurant } from "./model";
import { link } from "./view";

const names = new Map<string, Promise<string>>();

function nameOf(id: string): Promise<string> {
  let name = names.get(id);
  if (!name) {
    names.set(id, (name = result<Restaurant>(pathOf(id)).then((one) => one.name || id)));
    name.catch(() => names.delete(id));
  }
  return name;
}

/** Returns a link with the name and the id of a restaurant. If the name is not given, it is loaded; until then, the link shows the id alone. */
export function restaurantLink(id: string, name?: string | null): Child {
  const anchor = link("/restaurants/" + encodeURIComponent(id), {}, name ?? id),
    small = h("small", {}, name ? id : "");
  if (name === undefined && !id.startsWith("@"))
    nameOf(id).then(
      (name) => {
        // "@" and a connection: its default menu, which has no name
        if (name === id) return;
        put(anchor, name);
        put(small, id);
      },
      () => {
        /* removed from the configuration: the id stays */
      },
    );
  return [anchor, " ", small];
}
