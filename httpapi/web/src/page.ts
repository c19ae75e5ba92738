// The page at /. The server renders it with the menu as HTML and the two elements, for one
// restaurant and one language, or with a list of restaurants. This script searches the
// restaurants, and remembers the last one that the guest has opened. On a phone, it shows the
// order form as a screen of its own.

import type { components } from "./api/openapi";

type List = components["schemas"]["RestaurantList"];

const pageSize = 50;
const typing = 150; // milliseconds without a key before a search

const box = document.querySelector<HTMLElement>("#restaurants"); // a dialog, or a part of the page

if (box) {
  const search = box.querySelector("input")!;
  const status = box.querySelector<HTMLElement>("[role=status]")!;
  const list = box.querySelector("ul")!;
  const more = box.querySelector<HTMLButtonElement>(".more")!;
  let running = new AbortController();
  let timer = 0;
  let next: string | null = null;
  let listed: string | null = null; // the search whose result is shown
  let last: HTMLElement | null = null; // the restaurant that was opened last

  /** item is a link to the page of a restaurant. */
  const item = ({ id, name, address }: List["result"][number], note = ""): HTMLElement => {
    const link = document.createElement("a");
    link.href =
      "/?" +
      new URLSearchParams({ restaurant: id, lang: list.dataset.lang!, ...(document.dir === "rtl" && { dir: "rtl" }) });
    if (id === list.dataset.restaurant) link.setAttribute("aria-current", "page");
    for (const [tag, text] of [
      ["em", note],
      ["b", name],
      ["span", address],
    ] as const) {
      if (!text) continue;
      const part = document.createElement(tag);
      part.dir = "auto";
      part.textContent = text;
      link.append(part);
    }
    const element = document.createElement("li");
    element.append(link);
    return element;
  };

  /** load shows the restaurants that match the search, or adds the next page. A newer call ends an older one. */
  const load = async (cursor: string | null): Promise<void> => {
    clearTimeout(timer); // this call has the search that it would have
    running.abort();
    const { signal } = (running = new AbortController());
    const asked = search.value;
    const query = new URLSearchParams({ limit: String(pageSize), q: asked, ...(cursor && { cursor }) });
    try {
      const answer = await fetch("/v1/restaurants?" + query, { signal });
      if (!answer.ok) throw new Error(`GET /v1/restaurants: ${answer.status}`);
      const found = (await answer.json()) as List;
      if (!cursor) list.replaceChildren(...(last && !asked ? [last] : []));
      const shown = list.childElementCount;
      list.append(...found.result.map((one) => item(one)));
      next = found.next;
      listed = asked;
      status.textContent = list.childElementCount ? "" : status.dataset.none!;
      if (cursor) list.children[shown]?.querySelector("a")?.focus();
    } catch (error) {
      if (signal.aborted) return;
      console.error(error);
      status.textContent = status.dataset.error!;
    }
    more.hidden = next === null;
  };

  /** remembered returns the restaurant that the guest opened last, or null. */
  const remembered = async (): Promise<HTMLElement | null> => {
    const id = stored();
    const answer = id && (await fetch("/v1/restaurants/" + encodeURIComponent(id)).catch(() => null));
    return answer && answer.ok ? item((await answer.json()).result, list.dataset.last) : null;
  };

  if (box instanceof HTMLDialogElement) {
    if (list.dataset.restaurant) stored(list.dataset.restaurant);
    document.querySelector("#which")?.addEventListener("click", () => {
      box.showModal();
      search.focus();
      void load(null);
    });
    box.addEventListener("click", (event) => event.target === box && box.close()); // a click on the backdrop
  } else {
    void remembered().then((one) => {
      last = one;
      return load(null);
    });
  }
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => void load(null), typing);
  });
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "ArrowDown") return;
    event.preventDefault(); // Enter would close the dialog
    const first = (): void => list.querySelector("a")?.focus();
    if (search.value === listed) {
      first();
      return;
    }
    const asked = search.value; // its result is not there yet
    void load(null).then(() => {
      if (listed === asked && search.value === asked && document.activeElement === search) first();
    });
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const links = [...list.querySelectorAll("a")];
    (links[links.indexOf(event.target as HTMLAnchorElement) + step] ?? (step < 0 ? search : more)).focus();
  });
  more.addEventListener("click", () => void load(search.value === listed ? next : null));
}

const hours = document.querySelector<HTMLElement>("#hours");
const minute = 60_000; // milliseconds

let asked = 0;

/** showHours shows when the restaurant opens, or until when orders are paused. It shows nothing while the restaurant accepts an order of one type. */
async function showHours(place: HTMLElement): Promise<void> {
  const { restaurant, zone, closed, opens, paused, resumes } = place.dataset;
  const turn = ++asked;
  const answer = await fetch("/v1/restaurants/" + encodeURIComponent(restaurant!), { cache: "no-cache" }).catch(
    () => null,
  );
  if (!answer?.ok) return; // what is shown may still be true
  const { accepts } = ((await answer.json()) as components["schemas"]["RestaurantAnswer"]).result;
  if (turn !== asked) return; // a later answer is newer
  const kinds = [accepts.delivery, accepts.pickup];
  const next = kinds.map((kind) => Date.parse(kind.next ?? "")).filter((at) => at > 0);
  let text = "";
  if (kinds.every((kind) => !kind.now)) {
    const first = Math.min(...next);
    const timeZone = zone || "UTC";
    const isPaused = accepts.pickup.reason === "paused"; // as the page that the server has written
    const day = new Intl.DateTimeFormat("en", { timeZone });
    const at = new Intl.DateTimeFormat(document.documentElement.lang, {
      ...(!(isPaused && next.length && day.format(first) === day.format(Date.now())) && { weekday: "short" }),
      hour: "numeric",
      minute: "2-digit",
      hourCycle: "h23",
      timeZone,
    });
    if (next.length) text = `${isPaused ? resumes : opens} ${at.format(first)}`;
    else text = (isPaused ? paused : closed)!;
  }
  if (place.textContent !== text) place.textContent = text;
}

if (hours) {
  const look = (): void => {
    if (document.visibilityState === "visible") void showHours(hours);
  };
  look();
  document.addEventListener("visibilitychange", look);
  document.addEventListener("larder:menu", look); // operators may have paused orders
  setInterval(look, minute);
}

const order = document.querySelector("larder-order-form");
const narrow = matchMedia("(max-width: 59.99rem)"); // as in page.css

/** ordering shows the order form alone, or the whole page. */
function ordering(on: boolean): void {
  const before = document.documentElement.classList.contains("ordering");
  document.documentElement.classList.toggle("ordering", on);
  for (const one of document.querySelectorAll("header, footer, larder-menu, .skip")) one.toggleAttribute("inert", on);
  if (before && !on) focusBar();
}

/** focusBar moves the focus to the basket bar, which is invisible until it has noticed that the form is gone. */
function focusBar(frames = 10): void {
  const root = document.querySelector("larder-menu")?.shadowRoot;
  root?.querySelector<HTMLElement>("[part=basket-button]")?.focus({ preventScroll: true });
  if (frames && !root?.activeElement) requestAnimationFrame(() => focusBar(frames - 1));
}

if (order) {
  /** entry reports whether the current history entry is the one of the jump to the form. */
  const entry = (): boolean => history.state?.larder === "form";
  const follow = (): void => ordering(narrow.matches && entry());
  addEventListener("larder:basket-open", (event) => {
    if (narrow.matches && !event.defaultPrevented) ordering(true);
  });
  document.querySelector("#back button")!.addEventListener("click", () => (entry() ? history.back() : ordering(false)));
  addEventListener("popstate", follow);
  narrow.addEventListener("change", follow);
  follow();
}

/** stored returns the id of the restaurant that was opened last. With an id, it stores that. The browser may forbid both. */
function stored(id?: string): string | null {
  const name = "larder:restaurant";
  try {
    if (id) localStorage.setItem(name, id);
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}
