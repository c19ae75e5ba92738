// Work that may wait, done in slices while the browser has nothing else to do.

const slice = 8; // milliseconds of work at a time where the browser does not say
const longest = 500; // milliseconds until a slice comes, however busy the page is

/** Turns does jobs in their order. Jobs that are begun anew take the place of the old. */
export class Turns {
  private jobs: (() => void)[] = [];
  private next = 0;
  private round = 0;

  /** begin does the first of the jobs at once, and the rest in slices. */
  begin(jobs: (() => void)[], first: number): void {
    this.jobs = jobs;
    this.next = 0;
    this.round++;
    while (this.next < Math.min(first, jobs.length)) jobs[this.next++]!();
    this.soon();
  }

  /** finish does at once what is left. */
  finish(): void {
    while (this.next < this.jobs.length) this.jobs[this.next++]!();
  }

  private soon(): void {
    const round = this.round;
    if (this.next >= this.jobs.length) return;
    const work = (left: () => number): void => {
      if (round !== this.round) return;
      do this.jobs[this.next++]?.(); while (this.next < this.jobs.length && left() > 1);
      this.soon();
    };
    const timed = (): void => {
      const end = performance.now() + slice;
      work(() => end - performance.now());
    };
    if (typeof requestIdleCallback !== "function") setTimeout(timed, 1); // Safari
    else requestIdleCallback((idle) => (idle.didTimeout ? timed() : work(() => idle.timeRemaining())), { timeout: longest });
  }
}
