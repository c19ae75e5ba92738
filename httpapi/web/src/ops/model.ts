// The types of the responses that the console shows, from the API document
// (httpapi/openapi).

import type { components } from "../api/openapi";

type Schemas = components["schemas"];
type More<T, K extends keyof T> = Partial<Pick<T, K>>;

export interface Page<T> {
  result: T[];
  next: string | null;
}

export type Session = Schemas["Session"];

export type State = Schemas["MenuState"];

/** A restaurant. The route for one restaurant also returns the optional fields. */
export type Restaurant = Schemas["OpsRestaurant"] &
  More<Schemas["OpsRestaurantAnswer"]["result"], "hold" | "lastRun" | "phone" | "address" | "availability">;

export type Restrictions = Schemas["Restrictions"];

export type Summary = Schemas["SummaryAnswer"]["result"];

export type Run = Schemas["Run"];

export type Progress = Schemas["Progress"];

export type Finding = Schemas["Finding"];

export type MenuChange = Schemas["ChangeList"]["result"][number];

export type Version = Schemas["Version"];

export type Changes = Schemas["ComparisonAnswer"]["result"];

/** An order. The route for one order also returns the optional fields. */
export type Order = Schemas["ListedOrder"] &
  More<Schemas["OpsOrderAnswer"]["result"], "calls" | "restaurantPhone" | "restaurantAddress">;

/** A page of orders, and what is missing in it. */
export type OrderPage = Page<Order> & Pick<Schemas["OrderList"], "unreadable" | "paused">;

export type Call = Schemas["Call"];

export type AuditEntry = Schemas["AuditEntry"];

export type Batch = Schemas["Batch"];
