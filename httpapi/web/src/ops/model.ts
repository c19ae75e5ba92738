// What larder answers, as far as the console shows it: the types of the API
// document (httpapi/openapi).

import type { components } from '../api/openapi';

type Schemas = components['schemas'];
type More<T, K extends keyof T> = Partial<Pick<T, K>>;

export interface Page<T> { result: T[]; next: string | null }

export type Session = Schemas['Session'];

export type State = Schemas['MenuState'];

/** A restaurant of the list; asked for by itself it also has its last run. */
export type Restaurant = Schemas['OpsRestaurant'] & More<Schemas['OpsRestaurantAnswer']['result'], 'hold' | 'lastRun' | 'phone' | 'address'>;

export type Summary = Schemas['SummaryAnswer']['result'];

export type Run = Schemas['Run'];

export type Progress = Schemas['Progress'];

export type Finding = Schemas['Finding'];

export type Version = Schemas['Version'];

export type Changes = Schemas['ComparisonAnswer']['result'];

/** An order of the list; asked for by itself it also has its calls. */
export type Order = Schemas['ListedOrder'] & More<Schemas['OpsOrderAnswer']['result'], 'calls' | 'restaurantPhone' | 'restaurantAddress'>;

export type Call = Schemas['Call'];

export type AuditEntry = Schemas['AuditEntry'];

export type Batch = Schemas['Batch'];
