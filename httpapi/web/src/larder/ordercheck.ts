// Whether the order is valid: larder checks it after each change, and the form shows why not.

import type { Line } from "./basket";
import type { Note } from "./basketview";
import type { Formatter } from "./groups";
import type { Menu } from "./menu";
import { bodyOf, lineMessages, problemsOf, type Form } from "./order";
import type { Violation } from "./place";
import type { Shop } from "./shop";

const pause = 400; // milliseconds between the last change and the check

/** CheckedForm is the form whose order is checked. */
export interface CheckedForm {
  form(): Form;
  shop(): Shop | null;
  released(): Promise<void>; // when the response may be shown
  draw(): void;
}

/** OrderCheck keeps what is wrong with the order. */
export class OrderCheck {
  violations: Violation[] = [];
  private asked: string[] = []; // the keys of the checked lines; violations refer to them by index
  private timer = 0;
  private question: AbortController | null = null;

  constructor(private readonly host: CheckedForm) {}

  /** begin checks the order after a pause. The page does not move before the response. Call drop first. */
  begin(): void {
    this.timer = setTimeout(() => void this.ask(), pause);
  }

  /** stop ends the pause before a check. */
  stop(): void {
    clearTimeout(this.timer);
  }

  /** drop ends the pause before a check, and ignores the response to the last one. */
  drop(): void {
    this.stop();
    this.question?.abort();
  }

  /** ask checks the order now. It returns null if that is not known, or if the check was dropped or a newer one begun. */
  async ask(): Promise<boolean | null> {
    const shop = this.host.shop();
    if (!shop?.menu || shop.basket.lines.length === 0) return null;
    const question = (this.question = new AbortController());
    const asked = shop.basket.lines.map((l) => l.key);
    const verdict = await shop.api.validate(this.body(shop), question.signal);
    await this.host.released();
    if (question.signal.aborted || question !== this.question) return null;
    this.show(verdict?.violations ?? this.problems(), asked);
    this.host.draw();
    return verdict?.valid ?? null;
  }

  /** checkHere checks what can be checked without larder. */
  checkHere(): void {
    this.violations = this.problems();
  }

  private problems(): Violation[] {
    return problemsOf(this.host.form());
  }

  /** body returns the order as it is sent. The shop needs a menu. */
  body(shop: Shop): string {
    return bodyOf(shop.menu!, shop.basket.lines, this.host.form());
  }

  /** problemsOf returns what is wrong with a line of the basket. */
  problemsOf(line: Line, menu: Menu, wrong: boolean, f: Formatter): Note[] {
    return lineMessages(this.violations, this.indexOf(line), menu, line, wrong, f);
  }

  /** show sets the violations of an order with these lines. */
  show(violations: Violation[], keys: string[]): void {
    this.violations = violations;
    this.asked = keys;
  }

  /** indexOf returns the index of a line in the checked order, or -1. */
  private indexOf(line: Line): number {
    return this.asked.indexOf(line.key);
  }

  /** lineAt returns the line of the basket that had the index in the checked order. */
  lineAt(index: number): Line | undefined {
    return this.host.shop()?.basket.lines.find((line) => line.key === this.asked[index]);
  }
}
