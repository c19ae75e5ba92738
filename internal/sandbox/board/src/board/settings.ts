// The sandbox's settings: each is sent as soon as it is changed.
import { h, say, words } from './dom';
import { setSettings, type Board, type Value, type Values } from './sandbox';

interface Setting { name: string; title: string; about: string; values?: string[] }

const known: Setting[] = [
  { name: 'autoAccept', title: 'Orders move on by themselves', about: 'Off: only this board moves them.' },
  { name: 'autoAcceptDelay', title: 'Until the kitchen has an order', about: 'Accepted after half of it, at the cash station after twice of it.' },
  { name: 'rejectionReasons', title: 'Rejection reasons', about: 'Listed, and demanded of whoever rejects.' },
  { name: 'tokenLifetime', title: 'How long new tokens hold', about: 'At least 1s.' },
  { name: 'bodies', title: 'Bodies of requests', about: 'strict: as documented; tolerant: also what clients are seen to send.', values: ['strict', 'tolerant'] },
  { name: 'validators', title: 'Menus have an ETag', about: 'So that a client hears that nothing changed.' },
  { name: 'spelling', title: 'Spelling of ids in answers', about: 'orderID or orderId.', values: ['ID', 'Id'] },
  { name: 'prices', title: 'Prices in menus', about: 'As numbers or as text.', values: ['number', 'string'] },
  { name: 'nulls', title: 'What is absent in menus', about: 'null, empty, or left out.', values: ['null', 'empty', 'omit'] },
  { name: 'orderIDs', title: 'Ids of new orders', about: 'Text, or numbers above 2^53.', values: ['string', 'number'] },
  { name: 'paymentRefusedStatus', title: 'Status of a payment that is too small', about: '200, or 400 to 599.' },
  { name: 'capacity', title: 'Capacity for orders and changes', about: 'How many at a time (0: no limit) and how long each takes; further ones wait, and are executed even if the caller has gone.' },
  { name: 'currencies', title: 'Accepted payment codes', about: 'GUIDs of currencies, separated by commas. Empty: any.' },
];

type Input = HTMLInputElement | HTMLSelectElement;

/** The settings view. */
export class Settings {
  readonly title = 'Settings';
  readonly root: HTMLElement;
  private readonly form = h('div', { className: 'fields panel' });
  private readonly wrong = h('p', { className: 'wrong', role: 'alert' });
  private readonly inputs = new Map<string, Input>();
  private now: Values = {};

  constructor() {
    this.root = h('div', { className: 'view' }, h('h1', {}, 'Settings'),
      h('p', { className: 'faint' }, 'A change holds at once, until the sandbox ends.'), this.wrong, this.form);
  }

  board({ settings }: Board): void {
    this.now = settings;
    for (const [name, value] of Object.entries(settings)) {
      const input = this.inputs.get(name) ?? this.add(name, value);
      if (input !== document.activeElement || !(input instanceof HTMLInputElement)) write(input, value); // else somebody types
    }
  }

  /** The control of one setting; one that the board does not know goes by its name. */
  private add(name: string, value: Value): Input {
    const { title, about, values } = known.find((one) => one.name === name) ?? { title: name, about: '', values: undefined };
    const onchange = () => void this.change(name, input);
    const described = { onchange, 'aria-describedby': `about-${name}` };
    const type = { boolean: 'checkbox', number: 'number' }[typeof value as string] ?? 'text';
    const input: Input = values ? h('select', described, ...values.map((one) => h('option', {}, one))) : h('input', { ...described, type });
    const label = type === 'checkbox' ? h('label', { className: 'tick' }, input, title) : h('label', { className: 'field' }, title, input);
    this.form.append(h('div', {}, label, h('p', { className: 'faint', id: `about-${name}` }, about)));
    this.inputs.set(name, input);
    return input;
  }

  private async change(name: string, input: Input): Promise<void> {
    this.wrong.textContent = '';
    const was = this.now[name]!;
    try {
      this.now = await setSettings({ [name]: read(input, was) });
      write(input, this.now[name]!);
      say('Saved');
    } catch (error) {
      write(input, was);
      this.wrong.textContent = words(error);
    }
  }
}

function read(input: Input, like: Value): Value {
  if (Array.isArray(like)) return input.value.split(',').map((one) => one.trim()).filter(Boolean);
  if (typeof like === 'boolean') return (input as HTMLInputElement).checked;
  if (typeof like === 'object') return JSON.parse(input.value) as object;
  return typeof like === 'number' ? Number(input.value) : input.value;
}

function write(input: Input, value: Value): void {
  if (typeof value === 'boolean') (input as HTMLInputElement).checked = value;
  else if (Array.isArray(value)) input.value = value.join(', ');
  else input.value = typeof value === 'object' ? JSON.stringify(value) : String(value);
}
