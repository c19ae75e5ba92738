// The board: five views of one sandbox, selected by the fragment of the address.
import { Calls } from "./board/calls";
import { h } from "./board/dom";
import { Faults } from "./board/faults";
import { follow } from "./board/live";
import { Menu } from "./board/menu";
import { Orders } from "./board/orders";
import type { Board } from "./board/sandbox";
import { Settings } from "./board/settings";

interface View {
  title: string;
  root: HTMLElement;
  board(board: Board): void;
}

const orders = new Orders();
const views: Record<string, View> = {
  orders,
  menu: new Menu(),
  faults: new Faults(),
  settings: new Settings(),
  calls: new Calls(),
};
const main = document.getElementById("main")!;
const link = document.getElementById("link")!;
const links = Object.entries(views).map(([name, { title }]) => h("a", { href: `#${name}` }, title));
document.getElementById("views")!.append(...links);

function show(moved: boolean): void {
  const name = location.hash.slice(1);
  if (name === "main") return; // the skip link, not a view
  const view = views[name] ?? orders;
  document.title = `${view.title} · sandbox of larder`;
  for (const one of links) {
    if (one.textContent === view.title) one.setAttribute("aria-current", "page");
    else one.removeAttribute("aria-current");
  }
  main.replaceChildren(view.root);
  if (moved) main.focus();
}

window.addEventListener("hashchange", () => show(true));
show(false);

follow({
  orders: (changed, total, first) => orders.take(changed, total, first),
  board: (board) => Object.values(views).forEach((view) => view.board(board)),
  link: (live) => {
    link.textContent = live ? `Live at ${location.host}` : "The sandbox is unreachable; reconnecting…";
    link.classList.toggle("lost", !live);
  },
});
