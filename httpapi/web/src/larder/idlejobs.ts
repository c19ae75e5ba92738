// Work that can wait, done in slices while the browser is idle.

const slice = 8; // milliseconds of work at a time, if the browser sets no limit
const longest = 500; // milliseconds until a slice runs, even on a busy page

/** whenIdle runs work when the browser is idle, or after a time in milliseconds. In Safari, it runs after a fixed time. */
export function whenIdle(work: (idle?: IdleDeadline) => void, timeout: number, inSafari: number): void {
  if (typeof requestIdleCallback === "function") requestIdleCallback(work, { timeout });
  else setTimeout(work, inSafari);
}

/** IdleJobs runs jobs in order. New jobs replace the old ones. */
export class IdleJobs {
  private jobs: (() => void)[] = [];
  private next = 0;
  private round = 0;

  begin(jobs: (() => void)[]): void {
    this.jobs = jobs;
    this.next = 0;
    this.round++;
    this.soon();
  }

  private soon(): void {
    const round = this.round;
    if (this.next >= this.jobs.length) return;
    const work = (idle?: IdleDeadline): void => {
      if (round !== this.round) return;
      const end = performance.now() + (idle?.timeRemaining() || slice);
      do this.jobs[this.next++]?.(); while (this.next < this.jobs.length && performance.now() < end);
      this.soon();
    };
    whenIdle(work, longest, 1);
  }
}
