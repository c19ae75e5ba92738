// What larder answers, as far as the console shows it (docs/http.md).

export interface Session { client: string; connection: string | null; expiresAt: string; version: string }

export interface Page<T> { result: T[]; next: string | null }

export interface Counts { categories: number; products: number; available: number; orderable: number }

export type State = 'missing' | 'failed' | 'quarantined' | 'stale' | 'held';

export interface Restaurant {
  id: string; name: string; connection: string; version: number | null; counts: Counts | null;
  syncedAt: string | null; checkedAt: string | null; lastOutcome: string | null; states: State[];
  freshness: { schedule: string; timeZone: string; ageSeconds: number | null; everySeconds: number | null; staleSeconds: number | null; nextAt: string | null };
  hold?: 'released' | 'next_change' | null; lastRun?: Run | null;
}

export interface Summary { restaurants: number; states: Record<string, number>; unknownOrders: number | null; moreUnknownOrders: boolean }

export interface Run {
  id: string; restaurant: string; trigger: string; by: string[]; force: boolean; rollback?: { version: number; hold: string };
  state: 'queued' | 'running' | 'finished'; startedAt: string | null; finishedAt: string | null; outcome: string | null;
  version: number; steps: Record<string, number>; bytes: number; products: number;
  changes: { added: number; removed: number; changed: number }; findings: number; error: string | null;
}

export interface Finding {
  code: string; severity: 'error' | 'warning'; msg: string; ids: Record<string, string>; products: string[]; truncated?: boolean;
  dishes: { id: string; name: string; orderable: boolean }[];
}

export interface Version { version: number; name: string; syncedAt: string; counts: Counts; bytes: number; current: boolean; held: boolean; hold: string | null }

export interface Changes {
  from: number; to: number;
  counts: { added: number; removed: number; changed: number; availability: number };
  added: { id: string; name: string; price: unknown }[];
  removed: { id: string; name: string; price: unknown }[];
  changed: { id: string; name: string; fields: { field: string; before: unknown; after: unknown }[] }[];
  availability: { id: string; name: string; available: boolean }[];
}

export interface Order {
  ref: string; orderID: string | null; restaurant: string | null; restaurantName: string | null; connection: string; client: string;
  state: string; paid: boolean; total: number | null; menuVersion: number | null; createdAt: string | null; updatedAt: string | null; expectedAt: string | null;
  adopted: boolean; calls?: Call[];
}

export interface Call {
  number: number; operation: string; outcome: string; client: string; requestId: string; startedAt: string | null; endedAt: string | null;
  answer: { status: number; code: string | null; msg: string | null; requestId: string | null } | null;
  settled: { by: string; at: string | null; outcome: string; note: string | null } | null;
  contradicted: string | null; sent: any;
}

export interface Deed {
  id: string; at: string; client: string; via: string; action: string; requestId: string; connection: string; restaurant: string | null;
  run: string | null; batch: string | null; ref: string | null; version: number | null; detail: string | null;
}

export interface Batch {
  batch: string; by: string; force: boolean; total: number; done: number; failed: number; outcomes: Record<string, number>;
  startedAt: string | null; finishedAt: string | null; faults: Run[];
}
