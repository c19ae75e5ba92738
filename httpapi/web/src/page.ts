// The page at /: the two components, and which restaurant and language they are
// for. ?restaurant= and ?lang= choose, and are kept in the address.

import { texts } from "./page/texts";

interface Restaurant { id: string; name: string }

const limit = 500; // restaurants to choose from; others are reached by ?restaurant=
const asked = new URLSearchParams(location.search);
const byName = <T extends Element>(selector: string): T => document.querySelector<T>(selector)!;

function language(): "en" | "ru" {
  const tag = (asked.get("lang") ?? navigator.language).toLowerCase();
  return tag.startsWith("ru") ? "ru" : "en";
}

function go(name: string, value: string): void {
  asked.set(name, value);
  location.search = asked.toString();
}

async function restaurants(): Promise<Restaurant[]> {
  const answer = await fetch(`/v1/restaurants?limit=${limit}`);
  if (!answer.ok) throw new Error(`GET /v1/restaurants: ${answer.status}`);
  return ((await answer.json()) as { result: Restaurant[] }).result;
}

function show(id: string, name: string): void {
  const { currency = "", orders, payments = "" } = document.body.dataset;
  const main = byName<HTMLElement>("main");
  const shared = { restaurant: id, currency, payments, lang: language() };
  const names = orders === "true" ? ["larder-menu", "larder-order-form"] : ["larder-menu"];
  main.replaceChildren(...names.map((tag) => {
    const element = document.createElement(tag);
    for (const [attribute, value] of Object.entries(shared)) if (value) element.setAttribute(attribute, value);
    return element;
  }));
  main.classList.toggle("orders", orders === "true");
  if (names.length > 1) main.lastElementChild!.id = "order";
  byName<HTMLElement>(".skip").hidden = names.length < 2;
  document.title = byName<HTMLElement>("h1").textContent = name;
}

async function start(): Promise<void> {
  const spoken = language();
  const words = texts[spoken];
  document.documentElement.lang = spoken;
  document.documentElement.dir = asked.get("dir") === "rtl" ? "rtl" : "ltr";
  byName(".skip").textContent = words.toOrder;
  const languages = byName<HTMLSelectElement>("#language select");
  languages.value = spoken;
  languages.addEventListener("change", () => go("lang", languages.value));
  const all = await restaurants().catch(() => []);
  const chosen = all.find((r) => r.id === asked.get("restaurant")) ?? (asked.has("restaurant") ? { id: asked.get("restaurant")!, name: words.menu } : all[0]);
  if (!chosen) {
    byName("h1").textContent = words.none;
    return;
  }
  show(chosen.id, chosen.name);
  if (all.length < 2) return;
  const which = byName<HTMLElement>("#which");
  const select = which.querySelector("select")!;
  which.querySelector("span")!.textContent = words.restaurant;
  select.append(...all.map((r) => new Option(r.name, r.id, false, r.id === chosen.id)));
  select.addEventListener("change", () => go("restaurant", select.value));
  which.hidden = false;
}

void start();
