// Orders as the kitchen sees them: a column for each state, and in it tickets
// that wander on by themselves or by a person's hand.
import { h, refill, say, words } from './dom';
import { setSettings, type Board, type State, type Ticket } from './sandbox';
import { TicketCard } from './ticket';

const columns: { name: string; title: string; holds: State[] }[] = [
  { name: 'new', title: 'New', holds: ['new'] },
  { name: 'accepted', title: 'Accepted', holds: ['accepted'] },
  { name: 'kitchen', title: 'Kitchen', holds: ['kitchen'] },
  { name: 'cash_station', title: 'Cash station', holds: ['cash_station'] },
  { name: 'ended', title: 'Ended', holds: ['closed', 'rejected'] },
];

/** How many tickets are shown; the sandbox tells of as many. */
const most = 200;

/** How often the age of tickets is written anew, in milliseconds. */
const aging = 10_000;

/** The orders view. */
export class Orders {
  readonly title = 'Orders';
  readonly root: HTMLElement;
  private readonly cards = new Map<string, TicketCard>();
  private readonly lists = new Map<State, { list: HTMLOListElement; count: HTMLElement }>();
  private readonly told = h('p', { className: 'faint' });
  private readonly empty = h('p', { className: 'note' }, 'No order has arrived yet. Place one through larder, and it appears here.');
  private readonly auto = h('input', { type: 'checkbox', onchange: () => void this.switchAuto() });
  private readonly autoWords = h('span', {}, 'Orders move on by themselves');
  private readonly refusals = h('ol', { className: 'list' });
  private readonly refused = h('section', { className: 'panel', hidden: true }, h('h2', {}, 'Refused orders, the newest first'), this.refusals);
  private readonly wrong = h('p', { className: 'wrong', role: 'alert' });

  constructor() {
    const board = h('div', { className: 'columns' });
    for (const { name, title, holds } of columns) {
      const count = h('span', { className: 'count' }, '0');
      const list = h('ol', { 'aria-label': `${title} orders` });
      for (const state of holds) this.lists.set(state, { list, count });
      board.append(h('section', { className: 'column', 'data-state': name }, h('h2', {}, title, count), list));
    }
    this.root = h('div', { className: 'view' },
      h('div', { className: 'bar' }, h('h1', {}, 'Orders'), this.told, h('label', { className: 'tick' }, this.auto, this.autoWords)),
      this.wrong, this.empty, board, this.refused);
    setInterval(() => this.cards.forEach((card) => card.age()), aging);
  }

  /** Takes in what is new or changed. After a lost connection the first of them replace everything. */
  take(changed: Ticket[], total: number, first: boolean): void {
    const arrived: string[] = [];
    if (first) {
      const known = new Set(changed.map((ticket) => ticket.orderID));
      for (const id of [...this.cards.keys()]) if (!known.has(id)) this.drop(id);
    }
    for (const ticket of changed) {
      let card = this.cards.get(ticket.orderID);
      if (!card) {
        card = new TicketCard(ticket, (text) => { this.wrong.textContent = text; });
        this.cards.set(ticket.orderID, card);
        if (!first) arrived.push(ticket.orderID);
      }
      card.show(ticket, !first);
      this.place(card);
    }
    for (const id of [...this.cards.keys()].slice(0, Math.max(0, this.cards.size - most))) this.drop(id);
    this.empty.hidden = total > 0;
    this.told.textContent = total > this.cards.size ? `the newest ${this.cards.size} of ${total}` : `${total} in all`;
    for (const { list, count } of this.lists.values()) count.textContent = String(list.childElementCount);
    if (arrived.length > 0) say(arrived.length === 1 ? `Order ${arrived[0]} arrived` : `${arrived.length} orders arrived`);
  }

  private drop(id: string): void {
    this.cards.get(id)?.root.remove();
    this.cards.delete(id);
  }

  /** Puts a card into the list of its state, the newest on top, and leaves the focus on it. */
  private place(card: TicketCard): void {
    const list = this.lists.get(card.ticket.state)?.list;
    if (!list || card.root.parentElement === list) return;
    const focused = card.root.contains(document.activeElement);
    const older = [...list.children].find((other) => (other as HTMLElement).dataset.at! < card.ticket.createdAt);
    list.insertBefore(card.root, older ?? null);
    if (focused) card.focus();
  }

  board({ settings, refused }: Board): void {
    this.auto.checked = settings.autoAccept === true;
    this.autoWords.textContent = `Orders move on by themselves, in the kitchen after ${settings.autoAcceptDelay}`;
    this.refused.hidden = refused.length === 0;
    refill(this.refusals, ...refused.map(({ at, requestId, reasons }) => h('li', {}, h('div', {},
      h('p', {}, h('strong', {}, new Date(at).toLocaleTimeString()), ` request ${requestId}`),
      h('ul', {}, ...(reasons ?? []).map((reason) => h('li', { className: 'wrong' }, reason)))))));
  }

  private async switchAuto(): Promise<void> {
    this.wrong.textContent = '';
    try {
      await setSettings({ autoAccept: this.auto.checked });
    } catch (error) {
      this.wrong.textContent = words(error);
    }
  }
}
