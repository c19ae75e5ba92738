// Where basket and order are kept: in localStorage, in sessionStorage where
// that is full or refused, and else as long as the page lives.

/** Store is the part of a Storage that is used; one that throws is as none. */
export type Store = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** Kept is a Store that never throws, and never gives what is older than what was set last. */
export class Kept implements Store {
  private readonly memory = new Map<string, string>();

  /** The places are tried in their order. */
  constructor(private readonly places: readonly Store[]) {}

  /** What stands in a later place was refused by the ones before it: it is newer. */
  getItem(name: string): string | null {
    const kept = [...this.places].reverse().map((place) => quietly(() => place.getItem(name)) ?? null);
    return this.memory.get(name) ?? kept.find((value) => value !== null) ?? null;
  }

  setItem(name: string, value: string): void {
    let taken = false;
    for (const place of this.places) {
      const put: boolean | undefined = !taken && quietly(() => (place.setItem(name, value), true));
      if (!put) quietly(() => place.removeItem(name)); // what stands here is older
      taken ||= put === true;
    }
    if (taken) this.memory.delete(name);
    else this.memory.set(name, value);
  }

  removeItem(name: string): void {
    this.memory.delete(name);
    for (const place of this.places) quietly(() => place.removeItem(name));
  }

  /** lasts tells whether what is kept under a name outlives a reload. */
  lasts(name: string): boolean { return !this.memory.has(name); }
}

/** storages are the page's own, as far as it may use them. */
export function storages(): Store[] {
  return [quietly(() => window.localStorage), quietly(() => window.sessionStorage)].filter((s) => s !== undefined && s !== null);
}

/** quietly gives undefined where storage is full or forbidden. */
export function quietly<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
