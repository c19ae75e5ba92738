// Work that can wait, done in slices while the browser is idle.

const slice = 32; // milliseconds of work at a time. After each slice, the browser updates the page, which takes time too.
const longest = 500; // milliseconds until a slice runs, even on a busy page

/** whenIdle runs work when the browser is idle, or after a time in milliseconds. In Safari, it runs after a fixed time. */
export function whenIdle(work: () => void, timeout: number, inSafari: number): void {
  if (typeof requestIdleCallback === "function") requestIdleCallback(work, { timeout });
  else setTimeout(work, inSafari);
}

/** IdleJobs runs jobs in order. New jobs replace the old ones. */
export class IdleJobs {
  private jobs: (() => void)[] = [];

  begin(jobs: (() => void)[]): void {
    this.jobs.length = 0;
    this.jobs = jobs;
    const work = (): void => {
      const end = performance.now() + slice;
      while (jobs.length && performance.now() < end) jobs.shift()!();
      if (jobs.length) whenIdle(work, longest, 1);
    };
    whenIdle(work, longest, 1);
  }
}
