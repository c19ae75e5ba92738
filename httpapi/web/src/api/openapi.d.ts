// Made of the API document by openapi-typescript 7.13.0: make api-types. DO NOT EDIT.
// openapi.yaml: 4b6bb97ae94ef5947cccb25d35406e1360646c5af805eebc5f1291350912e810
// what follows: 3b30a39b7459d1ab3b063610758be3a99e42e1b818a12675a2a3582afdbfc88f
export interface paths {
    "/connect/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get a bearer token
         * @description OAuth 2.0 client credentials. A wrong secret returns 429 after 10 failures per minute for a client from one address (`http.rate.token_failures`), or after 30 from one address (`http.rate.address_failures`). A correct secret is never rejected.
         */
        post: operations["getToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show this document as a page
         * @description `http.docs: false` removes the page. It loads no external resources.
         */
        get: operations["showDocument"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs/{file}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a file of the page
         * @description Scripts and style sheets.
         */
        get: operations["getDocsFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/livez": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Liveness check
         * @description Returns 200 while the process can respond.
         */
        get: operations["isAlive"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get metrics for Prometheus
         * @description `http.metrics` sets who can read metrics: clients with the scope `ops`, everyone, or nobody. If it is empty, a token is needed, unless `http.ops_listen` sets a separate listener.
         */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get this document as JSON
         * @description The same content as `/openapi.yaml`.
         */
        get: operations["getDocumentAsJSON"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.yaml": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get this document as YAML
         * @description The same content as `/openapi.json`.
         */
        get: operations["getDocumentAsYAML"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ops/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the current session
         * @description The browser sends the session as a cookie.
         */
        get: operations["getSession"];
        put?: never;
        /**
         * Sign in
         * @description The client needs the scope `ops`. The session lasts `auth.session_lifetime`. A wrong secret returns 429 after 5 failures per minute for a client from one address (`http.rate.sign_in_failures`), or after 30 from one address (`http.rate.address_failures`). A correct secret is never rejected.
         */
        post: operations["signIn"];
        /**
         * Sign out
         * @description Removes the session cookie from the browser.
         */
        delete: operations["signOut"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orders/api/v1/menu/view": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the menu view
         * @description The complete menu view that the ordering service published last, from memory.
         */
        get: operations["viewMenu"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orders/api/v1/orders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create an order
         * @description larder validates the order, then sends it to the ordering service. The body is read as JSON, whatever its `Content-Type`. Without an idempotency key, an order that is sent twice is placed twice.
         */
        post: operations["createOrder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orders/api/v1/orders/{orderID}/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Complete a paid order
         * @description The request has no body.
         */
        put: operations["completeCreatedOrder"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orders/api/v1/orders/{orderID}/pay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Pay an order
         * @description larder sends the payment once, also for an order that it did not place.
         */
        put: operations["payCreatedOrder"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orders/api/v1/orders/{orderID}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Reject an order
         * @description A `restaurantID` in the query or the body is accepted and not sent to the ordering service.
         */
        put: operations["rejectCreatedOrder"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/orders/api/v1/rejectionReasons": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List rejection reasons
         * @description The reasons of the ordering service, from the cache.
         */
        get: operations["viewRejectionReasons"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Readiness check
         * @description With `verbose`, the response lists each check.
         */
        get: operations["isReady"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream new versions of a menu
         * @description Server-sent events: `menu.updated` (read the menu again) and `menu.availability` (update `products` and `ingredients`). The data is a `MenuEvent` as JSON. The `id` is the version and 8 hex digits. Events describe the current state, not a history. A heartbeat comment is sent every 15 s (`http.events.heartbeat`). `retry` is the delay before a reconnect.
         */
        get: operations["followMenu"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ops/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the audit log
         * @description The last 10,000 actions, newest first. If a filter matches few entries, a page may be short.
         */
        get: operations["listAuditEntries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ops/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream runs and batches
         * @description Server-sent events without ids, from all instances. `reset` comes first, and whenever events may have been missed: read the lists again. `run.started` and `run.finished` contain a `Run`, `sync.progress` a `Progress`. At most 100 streams can be open.
         */
        get: operations["followRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ops/journal/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept restored data, so that new orders can be placed
         * @description New orders of a connection are paused (`journal_restored`) if Redis lacks orders that an instance remembers. Find out which orders are missing before you accept. If several connections are configured, name one in the query or in the body. If both are given, they must agree.
         */
        post: operations["acceptJournal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ops/orders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List orders
         * @description Newest first. The state `unknown` matches every order with an unknown outcome.
         */
        get: operations["listOrders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ops/orders/{ref}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an order with its calls
         * @description The calls with their requests (until these expire), their responses, and who resolved them.
         */
        get: operations["getOpsOrder"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ops/orders/{ref}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resolve an unknown outcome
         * @description Ask the restaurant, then record the outcome.
         */
        post: operations["resolveOrder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ops/restaurants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List restaurants with their freshness
         * @description Sorted by id. States come from the memory of this instance. They are at most `cache.poll` old; with thousands of restaurants, one second more. The rows are current.
         */
        get: operations["listOpsRestaurants"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ops/restaurants/{restaurant}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a restaurant with its last run
         * @description Also works for the default menu of a connection.
         */
        get: operations["getOpsRestaurant"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ops/restaurants/{restaurant}/hold": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Release a hold
         * @description Releases the hold, then syncs the menu.
         */
        delete: operations["releaseHold"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ops/restaurants/{restaurant}/lint": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the lint findings of a menu
         * @description The findings about the published menu, each with the products it affects.
         */
        get: operations["lintMenu"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ops/restaurants/{restaurant}/rollback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Roll back to an older version
         * @description Publishes the menu as a new version and holds it. The request waits for a current run, 10 s without `wait`.
         */
        post: operations["rollBack"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ops/restaurants/{restaurant}/sync": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sync a menu now
         * @description Joins the current run of the restaurant, or starts one.
         */
        post: operations["syncRestaurant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ops/restaurants/{restaurant}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List stored versions
         * @description The last version of each content, newest first.
         */
        get: operations["listVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ops/restaurants/{restaurant}/versions/{version}/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare two versions
         * @description The changes from this version to `to`, by default the current version.
         */
        get: operations["compareVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ops/restaurants/{restaurant}/versions/{version}/view": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a stored version
         * @description The last menu view that the ordering service published while this version was current.
         */
        get: operations["getVersionView"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ops/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List runs
         * @description Newest first. For a client with one connection, a page may be short.
         */
        get: operations["listRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ops/runs/{run}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a run
         * @description The duration of each step, the changes, and the error. Scheduled runs that found nothing changed share one record (`folded`), while it is among the latest `sync.run_index` runs of all restaurants.
         */
        get: operations["getRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ops/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count restaurants by state, and orders that need resolving
         * @description The number of restaurants in each state, and the number of orders that need resolving. States come from the memory of this instance. They are at most `cache.poll` old; with thousands of restaurants, one second more.
         */
        get: operations["getSummary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ops/sync": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sync all menus
         * @description Syncs all restaurants that the client can see. At most 8 batches can be open at a time.
         */
        post: operations["syncAll"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ops/sync/{batch}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the progress of a batch
         * @description A batch is stored for a day.
         */
        get: operations["getBatch"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an order record by its idempotency key
         * @description Returns only orders of the same client. Guests get `state`, `total` and `orderID` only.
         */
        get: operations["findOrder"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orders/{orderID}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an order record
         * @description Records are kept for 45 days, what is a guest's for 7.
         */
        get: operations["getOrder"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orders/{orderID}/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Complete a paid order
         * @description The request has no body.
         */
        put: operations["completeOrder"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orders/{orderID}/pay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Pay an order
         * @description An order is paid once. Without a key, a repeated identical payment returns the first response, unless that payment was refused.
         */
        put: operations["payOrder"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orders/{orderID}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Reject an order
         * @description The reason is one of `GET /v1/rejection-reasons`.
         */
        put: operations["rejectOrder"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/rejection-reasons": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List rejection reasons
         * @description As the ordering service lists them, from the cache.
         */
        get: operations["listRejectionReasons"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/restaurants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List restaurants
         * @description All restaurants that the client can see, sorted by id. The `ETag` depends on the body alone.
         */
        get: operations["listRestaurants"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/restaurants/{restaurant}/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the changes since a version
         * @description For pages that poll for changes. All lists are empty if nothing changed.
         */
        get: operations["getChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/restaurants/{restaurant}/menu": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a menu
         * @description The served menu, normalised for storefronts: each scheme and each ingredient occurs once. It is served from memory.
         */
        get: operations["getMenu"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/restaurants/{restaurant}/orders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Place an order
         * @description After any failure, send the same order again with the same key. A repeated response is identical to the first one. Guests can place orders if `auth.public_orders` is enabled.
         */
        post: operations["placeOrder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/restaurants/{restaurant}/orders/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Validate an order without placing it
         * @description Well-formed JSON always returns 200. The result lists all violations (the first 200), or contains the exact body for the ordering service. The limit is 20 requests per second from one address (`http.rate.validate`). An order counts as one request, plus one for every 8 KiB of its body and every 500 of its lines.
         */
        post: operations["validateOrder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/restaurants/{restaurant}/products": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List products by category, search words and availability
         * @description Sorted as in the menu. A cursor stays valid in newer versions.
         */
        get: operations["listProducts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/restaurants/{restaurant}/products/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a product with its groups and options
         * @description Everything that an order form needs: groups with their limits, options, and nested groups.
         */
        get: operations["getProduct"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @enum {string} */
        Action: "sync" | "force" | "sync_all" | "force_all" | "rollback" | "release" | "resolve" | "accept_restore" | "sign_in" | "sign_out";
        Address: {
            apartmentNumber?: string | null;
            cityID?: string | number | null;
            cityName?: string | null;
            comment?: string | null;
            entrance?: string | null;
            floor?: number | null;
            fullAddress?: string | null;
            houseNumber?: string | null;
            /** @description Latitude. */
            lat?: number | null;
            /** @description Longitude. */
            lon?: number | null;
            postcode?: string | null;
            street?: string | null;
            subway?: string | null;
        } & {
            [key: string]: unknown;
        };
        Alive: {
            /** @constant */
            status: "ok";
        };
        /** @description One try of a call, or its end where no try tells of it, or a person's resolution. What is not known is null. */
        Attempt: {
            /** Format: date-time */
            at: string | null;
            /** @description Who resolved it. */
            by: string | null;
            /** @description The ordering service's code. */
            code: string | null;
            /** @description How long it took. */
            ms: number | null;
            operation: components["schemas"]["Operation"];
            outcome: components["schemas"]["Outcome"];
            /** @description The status of the ordering service's answer. */
            status: number | null;
            /** @description Counts within the call; null where there was none. */
            try: number | null;
        };
        /** @description What somebody did. What does not apply is null. */
        AuditEntry: {
            action: components["schemas"]["Action"];
            at: components["schemas"]["Time"];
            batch: string | null;
            client: string;
            /** @description Whose; null of what concerns all of them, or none. */
            connection: string | null;
            detail: string | null;
            id: string;
            /** @description The order. */
            ref: string | null;
            requestId: string;
            restaurant: string | null;
            run: string | null;
            /** @description That a rollback went back to. */
            version: number | null;
            /** @enum {string} */
            via: "token" | "session";
        };
        AuditEntryList: {
            next: components["schemas"]["Next"];
            result: components["schemas"]["AuditEntry"][];
        };
        Availability: {
            available: boolean;
            id: string;
        };
        /** @description How far a sync of all restaurants is. */
        Batch: {
            batch: string;
            by: string;
            /** @description Of a client with one connection. */
            connection?: string;
            /** @description Runs that have ended. */
            done: number;
            /** @description Of these those that failed or were quarantined. */
            failed: number;
            /** @description The runs that failed or were quarantined, the first thousand. */
            faults: components["schemas"]["Run"][];
            /** Format: date-time */
            finishedAt: string | null;
            force: boolean;
            /** @description How many runs ended how. */
            outcomes: {
                [key: string]: number;
            };
            /** Format: date-time */
            startedAt: string | null;
            total: number;
        };
        BatchAnswer: {
            result: components["schemas"]["Batch"];
        };
        BatchBegun: {
            result: {
                batch: string;
                /** @description How many restaurants it is of. */
                total: number;
            };
        };
        /** @description One call of an order as an operator sees it. */
        Call: {
            /** @description The ordering service's last answer. */
            answer: {
                code: string | null;
                msg: string | null;
                requestId: string | null;
                status: number;
            } | null;
            client: string;
            /** @description What an answer said that came in after the call was resolved, where it said otherwise. */
            contradicted: components["schemas"]["Outcome"] | null;
            /** Format: date-time */
            endedAt: string | null;
            number: number;
            operation: components["schemas"]["Operation"];
            outcome: components["schemas"]["Outcome"];
            requestId: string;
            /** @description The body that the ordering service got; null of a completion, and when it is no longer kept. */
            sent: unknown;
            /** @description A person's resolution. */
            settled: {
                /** Format: date-time */
                at: string | null;
                by: string;
                note: string | null;
                /** @enum {string} */
                outcome: "done" | "not_done" | "send_again";
            } | null;
            /** Format: date-time */
            startedAt: string | null;
        };
        Category: {
            id: string;
            name: string;
            /** @description The category that it stands in. */
            parentId: string | null;
        };
        ChangedAnswer: {
            /** @description The order as it stood after the change. */
            result: {
                orderID: string;
                paid: boolean;
                ref: components["schemas"]["Ref"];
                /** @enum {string} */
                state: "placed" | "closed" | "rejected";
            };
        };
        ChangesAnswer: {
            /** @description What differs between two versions. What concerns no product is not named. */
            result: {
                /** @description Ids of products. */
                added: string[];
                /** @description Products that were stopped or released. */
                availability: components["schemas"]["Availability"][];
                changed: {
                    /** @description Named as in the menu; `groups` is anything in the product's groups. */
                    fields: string[];
                    id: string;
                }[];
                from: number;
                removed: string[];
                to: number;
            };
        };
        ComparedDish: {
            id: string;
            name: string;
            price: components["schemas"]["MenuPrice"];
        };
        ComparisonAnswer: {
            /** @description What differs between two versions, in words. Each list has the first 500. */
            result: {
                added: components["schemas"]["ComparedDish"][];
                availability: {
                    available: boolean;
                    id: string;
                    name: string;
                }[];
                changed: {
                    fields: {
                        /** @description The value in the newer one. */
                        after: unknown;
                        /** @description The value in the older version. */
                        before: unknown;
                        /** @description Named as in the menu; `groups` is all of a dish's choices, without values. */
                        field: string;
                    }[];
                    id: string;
                    name: string;
                }[];
                /** @description Of everything that differs. */
                counts: {
                    added: number;
                    availability: number;
                    changed: number;
                    removed: number;
                };
                from: number;
                removed: components["schemas"]["ComparedDish"][];
                to: number;
            };
        };
        /** @description An error in the ordering service's shape. larder's own `code`s are those of `Problem`. */
        CompatError: {
            code: string;
            errors: components["schemas"]["Violation"][] | null;
            /** @description There are more violations than the 200 in `errors`. Absent otherwise. */
            more?: boolean;
            /** @description What is wrong, for a person, and the order's ref. */
            msg: string;
            requestId: string;
        };
        /** @description How large a menu is. Orderable products are a part of the available ones. */
        Counts: {
            /** @description On no stop list. */
            available: number;
            categories: number;
            /** @description Can be ordered: available, with a price, and each group that needs a choice has one. */
            orderable: number;
            products: number;
        };
        Dish: {
            /** @description The menu's id of the dish, or its externalId. */
            ID: string | number;
            ingredients?: components["schemas"]["Ingredient"][] | null;
            measure?: components["schemas"]["SentMeasure"];
            /** @description Replaced by the menu's. */
            name?: string | null;
            /** @description Compared with the menu's where it is sent: `price_changed` tells of another one. */
            price?: number | null;
            /** @description Units of the dish; whole but for what is sold by weight. */
            quantity: number;
        } & {
            [key: string]: unknown;
        };
        /**
         * @description Stable. Each has one status.
         * @enum {string}
         */
        ErrorCode: "malformed_json" | "validation_failed" | "restaurant_not_found" | "restaurant_required" | "product_not_found" | "run_not_found" | "batch_not_found" | "version_not_found" | "version_gone" | "sync_busy" | "connection_not_found" | "connection_required" | "external_id_ambiguous" | "no_catalogue" | "no_rejection_reasons" | "idempotency_key_required" | "idempotency_key_reused" | "idempotency_key_in_flight" | "order_not_found" | "order_ambiguous" | "order_busy" | "outcome_unknown" | "order_state" | "order_id_taken" | "order_outcome_unknown" | "journal_unavailable" | "journal_restored" | "upstream_refused" | "upstream_unavailable" | "upstream_busy" | "storage_unavailable" | "streams_unavailable" | "rate_limited" | "unauthorized" | "forbidden" | "invalid_parameter" | "not_found" | "method_not_allowed" | "not_acceptable" | "request_timeout" | "payload_too_large" | "unsupported_media_type" | "internal";
        /** @description One thing that is wrong with a menu as it was published. */
        Finding: {
            /** @description One of docs/lint.md. */
            code: string;
            /** @description The same by name, as far as the menu that is served has them. */
            dishes: {
                id: string;
                name: string;
                orderable: boolean;
            }[];
            /** @description The ids that take part, by what they are. */
            ids: {
                [key: string]: string;
            };
            msg: string;
            /** @description The products that it touches. */
            products: string[] | null;
            /**
             * @description An error takes something from the guest.
             * @enum {string}
             */
            severity: "error" | "warning";
            /** @description There were too many products to list. */
            truncated?: boolean;
        };
        FindingList: {
            result: components["schemas"]["Finding"][];
        };
        Force: {
            /**
             * @description Skips the guard against menus that have shrunk.
             * @default false
             */
            force: boolean;
        };
        /** @description How old a menu is against its schedule. */
        Freshness: {
            /** @description How long ago the ordering service confirmed the menu. */
            ageSeconds: number | null;
            /** @description The time between two runs. */
            everySeconds: number | null;
            /**
             * Format: date-time
             * @description When the next run is due.
             */
            nextAt: string | null;
            schedule: string;
            /** @description The age from which the menu counts as stale. */
            staleSeconds: number | null;
            timeZone: string;
        };
        /** @description A group with what it offers, and its limits for one unit of the dish. */
        Group: {
            id: string;
            /** @description How many it takes at most; null = no limit. */
            max: number | null;
            /** @description How many one unit of the dish needs at least. */
            min: number;
            name: string;
            options: components["schemas"]["Option"][];
        };
        Guest: {
            email?: string | null;
            firstName?: string | null;
            lastName?: string | null;
            phone?: string | null;
        } & {
            [key: string]: unknown;
        };
        /** @description All that a guest's page may read of an order. */
        GuestOrder: {
            orderID: string | null;
            state: components["schemas"]["OrderState"];
            total: number | null;
        };
        /**
         * @description What ends a hold: another menu than the one that was published at the rollback, or only its release.
         * @enum {string}
         */
        Hold: "next_change" | "released";
        Ingredient: {
            /** @description The group that it is chosen from, where it stands in several. larder finds one itself. */
            groupId?: string | null;
            /** @description The menu's id of the ingredient, or its externalId. */
            ID: string | number;
            /** @description Of a part of a combo: what is chosen from its own groups. */
            ingredients?: components["schemas"]["Ingredient"][] | null;
            measure?: components["schemas"]["SentMeasure"];
            name?: string | null;
            price?: number | null;
            /** @description For one unit of the dish; 1 where it is missing. */
            quantity?: number | null;
        } & {
            [key: string]: unknown;
        };
        /** @description Which connection's new orders are placed again; the body may be left out. */
        JournalAccept: {
            /**
             * @description The name of a connection
             * @example main
             */
            connection?: string;
        };
        JournalAcceptance: {
            result: {
                /** @description False: new orders of the connection were not paused. */
                accepted: boolean;
                connection: string;
            };
        };
        KeptPayment: {
            amount: components["schemas"]["Money"];
            code: string;
            /**
             * Format: date-time
             * @description As it was sent.
             */
            paidAt: string;
        };
        /** @description One dish as it was priced. What could not be read or priced is null. */
        Line: {
            /** @description The menu's id; what was sent where the menu has no such dish. */
            id: string;
            name: string;
            /** @description A JSON Pointer into the body. */
            path: string;
            /** @description Of one unit of the dish alone, without its ingredients. */
            price: number | null;
            quantity: number | null;
            /** @description Of the line, with its ingredients. */
            total: number | null;
        };
        /** @description The record of an order as operators list it. */
        ListedOrder: {
            /** @description Placed by someone else; larder knows what was asked of it here. */
            adopted: boolean;
            attempts: components["schemas"]["Attempt"][];
            /** @description Whose order it is; `(public)` for a guest's page. */
            client: string;
            connection: string;
            /** Format: date-time */
            createdAt: string | null;
            /** Format: date-time */
            expectedAt: string | null;
            /** @description The version of the menu that it was checked against. */
            menuVersion: number | null;
            orderID: string | null;
            paid: boolean;
            payments: components["schemas"]["KeptPayment"][];
            ref: components["schemas"]["Ref"];
            restaurant: string | null;
            /** @description What people call the restaurant. */
            restaurantName: string | null;
            state: components["schemas"]["OrderState"];
            total: number | null;
            /** Format: date-time */
            updatedAt: string | null;
        };
        /** @description A serving. */
        Measure: {
            /** @description `kg`, `liter` or `pcs`; null where the menu has none. */
            unit: string | null;
            /** @description Its size. */
            value: number;
        };
        /** @description A whole menu, normalised. A scheme and an ingredient stand once; the body depends on the version alone. */
        Menu: {
            /** @description Parents stand before their children. */
            categories: components["schemas"]["Category"][];
            ingredients: components["schemas"]["MenuIngredient"][];
            /** @description The menu view's name. */
            name: string;
            products: components["schemas"]["Product"][];
            restaurant: {
                id: components["schemas"]["RestaurantID"];
                name: string;
            };
            schemes: components["schemas"]["Scheme"][];
            syncedAt: components["schemas"]["Time"];
            version: number;
        };
        MenuAnswer: {
            result: components["schemas"]["Menu"];
        };
        /** @description The data of `menu.updated` and `menu.availability`; both lists are empty in the first. */
        MenuEvent: {
            ingredients: components["schemas"]["Availability"][];
            products: components["schemas"]["Availability"][];
            restaurant: components["schemas"]["RestaurantID"];
            version: number;
        };
        /** @description An ingredient or modifier; with a scheme of its own it is a part of a combo. */
        MenuIngredient: {
            /** @description On no stop list. */
            available: boolean;
            description: string;
            externalId: string | null;
            id: string;
            imageUrls: string[];
            measure: components["schemas"]["Measure"] | null;
            name: string;
            /** @description Can be chosen as the menu stands. */
            orderable: boolean;
            price: components["schemas"]["MenuPrice"];
            /** @description Why it is not orderable. */
            reasons: components["schemas"]["Reason"][];
            schemeId: string | null;
        };
        /** @description Null where the ordering service sent no price that can be read; the product or option is then not orderable. */
        MenuPrice: components["schemas"]["Money"] | null;
        /**
         * @description `missing`: there is no menu. `failed`, `quarantined`: how the last run ended. `stale`: not confirmed for too long. `held`: a rollback holds it.
         * @enum {string}
         */
        MenuState: "missing" | "failed" | "quarantined" | "stale" | "held";
        /** @description The menu view as the ordering service published it last, with every field of it, known to larder or not. */
        MenuView: {
            result: {
                categories?: {
                    [key: string]: unknown;
                }[] | null;
                ingredients?: {
                    [key: string]: unknown;
                }[] | null;
                ingredientsGroups?: {
                    [key: string]: unknown;
                }[] | null;
                ingredientsSchemes?: {
                    [key: string]: unknown;
                }[] | null;
                name?: string;
                products?: {
                    [key: string]: unknown;
                }[] | null;
            } & {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        /**
         * @description An exact decimal in the restaurant's currency.
         * @example 199.9
         */
        Money: number;
        /** @description The `cursor` of the next page; null after the last. */
        Next: string | null;
        /** @description As the menu tells it, for one serving. */
        Nutrition: {
            /** @description kcal */
            calories: number | null;
            carbohydrates: number | null;
            /** @description kJ */
            energyValue: number | null;
            fats: number | null;
            proteins: number | null;
        };
        /** @enum {string} */
        Operation: "create" | "pay" | "complete" | "reject";
        OpsOrderAnswer: {
            /** @description The record with everything that resolving takes. */
            result: {
                adopted: boolean;
                attempts: components["schemas"]["Attempt"][];
                calls: components["schemas"]["Call"][];
                client: string;
                connection: string;
                /** Format: date-time */
                createdAt: string | null;
                /** Format: date-time */
                expectedAt: string | null;
                menuVersion: number | null;
                orderID: string | null;
                paid: boolean;
                payments: components["schemas"]["KeptPayment"][];
                ref: components["schemas"]["Ref"];
                restaurant: string | null;
                /** @description As `restaurants[].address` has it. */
                restaurantAddress: string | null;
                /** @description What people call the restaurant. */
                restaurantName: string | null;
                /** @description The number to call, as `restaurants[].phone` has it. */
                restaurantPhone: string | null;
                state: components["schemas"]["OrderState"];
                total: number | null;
                /** Format: date-time */
                updatedAt: string | null;
            };
        };
        /** @description A restaurant as an operator sees it. What a menu would tell is null until there is one. */
        OpsRestaurant: {
            /** Format: date-time */
            checkedAt: string | null;
            connection: string;
            counts: components["schemas"]["Counts"] | null;
            freshness: components["schemas"]["Freshness"];
            held: boolean;
            id: string;
            lastOutcome: string | null;
            name: string;
            stale: boolean;
            /** @description Empty where all is well. */
            states: components["schemas"]["MenuState"][];
            /** Format: date-time */
            syncedAt: string | null;
            version: number | null;
        };
        OpsRestaurantAnswer: {
            /** @description The same with its last run. */
            result: {
                /** @description As `restaurants[].address` has it. */
                address: string | null;
                /** Format: date-time */
                checkedAt: string | null;
                connection: string;
                /** @description The hash of the menu without its stop lists. */
                content: string | null;
                counts: components["schemas"]["Counts"] | null;
                freshness: components["schemas"]["Freshness"];
                held: boolean;
                hold: components["schemas"]["Hold"] | null;
                id: string;
                lastOutcome: string | null;
                lastRun: components["schemas"]["Run"] | null;
                name: string;
                /** @description As `restaurants[].phone` has it. */
                phone: string | null;
                stale: boolean;
                /** @description Empty where all is well. */
                states: components["schemas"]["MenuState"][];
                /** Format: date-time */
                syncedAt: string | null;
                version: number | null;
            };
        };
        OpsRestaurantList: {
            next: components["schemas"]["Next"];
            result: components["schemas"]["OpsRestaurant"][];
        };
        /** @description What a group offers. One with groups of its own is a part of a combo. */
        Option: {
            /** @description On no stop list. */
            available: boolean;
            description: string;
            externalId: string | null;
            groups: components["schemas"]["Group"][];
            id: string;
            imageUrls: string[];
            measure: components["schemas"]["Measure"] | null;
            name: string;
            /** @description Can be chosen as the menu stands. */
            orderable: boolean;
            price: components["schemas"]["MenuPrice"];
            /** @description Why it is not orderable. */
            reasons: components["schemas"]["Reason"][];
            schemeId: string | null;
        };
        /** @description An order as the ordering service's interface has it. Names are read in any spelling (`restaurantId`), identifiers also as numbers, numbers also in quotes. Mandatory for a pickup order are `dishList`, `expeditionType`, `paymentTypeID` and `expectedAt` or `soonest`; for a delivery also `guest.phone` and, of `address`, `street`, `cityName`, `houseNumber` and `fullAddress` (composed of the others where it is missing); `ordering.required` sets this. Unknown fields are passed on by the ordering service's own interface, and left out by `/v1`. */
        Order: {
            address?: components["schemas"]["Address"] | null;
            /** @description With `cash` alone: the sum to give change from. */
            changeFrom?: number | null;
            comment?: string | null;
            dishList: components["schemas"]["Dish"][];
            /**
             * Format: date-time
             * @description With its offset; not in the past, and at most 30 days ahead (`ordering.max_lead`).
             */
            expectedAt?: string | null;
            /** @enum {string} */
            expeditionType: "delivery" | "pickup";
            guest?: components["schemas"]["Guest"] | null;
            /** @enum {string} */
            paymentTypeID: "cash" | "card" | "online";
            persons?: number | null;
            /** @description The path names the restaurant on `/v1`; here it may be left out. */
            restaurantID?: string | number | null;
            /** @description As soon as can be, instead of `expectedAt`. */
            soonest?: boolean | null;
        } & {
            [key: string]: unknown;
        };
        OrderAnswer: {
            result: components["schemas"]["OrderRecord"];
        };
        OrderByKeyAnswer: {
            /** @description A guest's page gets the second. */
            result: components["schemas"]["OrderRecord"] | components["schemas"]["GuestOrder"];
        };
        OrderList: {
            next: components["schemas"]["Next"];
            result: components["schemas"]["ListedOrder"][];
        };
        /** @description The record of an order. What is not known is null. */
        OrderRecord: {
            /** @description Placed by someone else; larder knows what was asked of it here. */
            adopted: boolean;
            attempts: components["schemas"]["Attempt"][];
            /** @description Whose order it is; `(public)` for a guest's page. */
            client: string;
            connection: string;
            /** Format: date-time */
            createdAt: string | null;
            /** Format: date-time */
            expectedAt: string | null;
            /** @description The version of the menu that it was checked against. */
            menuVersion: number | null;
            orderID: string | null;
            paid: boolean;
            payments: components["schemas"]["KeptPayment"][];
            ref: components["schemas"]["Ref"];
            restaurant: string | null;
            state: components["schemas"]["OrderState"];
            total: number | null;
            /** Format: date-time */
            updatedAt: string | null;
        };
        /** @enum {string} */
        OrderState: "placing" | "placed" | "refused" | "unknown" | "not_sent" | "closed" | "rejected";
        /**
         * @description What is known of a call. Empty while it is open.
         * @enum {string}
         */
        Outcome: "" | "done" | "refused" | "not_sent" | "unknown";
        Part: {
            msg: string;
            ok: boolean;
        };
        /** @description What the ordering service answered, passed on with its status, type and body. Of one longer than 64 KiB, a success is `{"result": {}}`, with the `orderID` of a new order, and a refusal its code and message. */
        Passed: unknown;
        Payment: {
            amount: number;
            /** @description The GUID of the currency in the restaurant's till. */
            code: string | number;
            /** @description May be empty. */
            name?: string | null;
            /**
             * Format: date-time
             * @description With its offset.
             */
            paidAt: string;
        } & {
            [key: string]: unknown;
        };
        /** @description The payments, which must cover the order's total. */
        Payments: components["schemas"]["Payment"][];
        PlacedAnswer: {
            result: {
                /** @description The ordering service's id. */
                orderID: string;
                ref: components["schemas"]["Ref"];
                /** @constant */
                state: "placed";
                total: components["schemas"]["Money"];
            };
        };
        /** @description An error by RFC 9457, with the ordering service's four fields. */
        Problem: {
            code: components["schemas"]["ErrorCode"];
            /** @description What is wrong and what to do. */
            detail: string;
            /** @description All that is wrong with an order: the first 200; of other codes, one entry with the params. */
            errors: components["schemas"]["Violation"][] | null;
            /** @description The path of the request that it is the answer to. */
            instance: string;
            /** @description There are more violations than the 200 in `errors`. Absent otherwise. */
            more?: boolean;
            /** @description The same as `detail`. */
            msg: string;
            ref?: components["schemas"]["Ref"];
            /** @description Of the request that it is the answer to: of a replay, the first one's. */
            requestId: string;
            status: number;
            title: string;
            /** @description `urn:larder:problem:` and the code. */
            type: string;
            /** @description What the ordering service said. */
            upstream?: {
                code: string;
                /** @description What it found wrong, as it said it. */
                errors?: unknown;
                msg: string;
                requestId: string;
                status: number;
            };
        };
        /** @description A dish. */
        Product: {
            /** @description On no stop list. */
            available: boolean;
            /** @description The first of `categoryIds`; null where there is none. */
            categoryId: string | null;
            /** @description Every category that lists the dish; none of them twice. */
            categoryIds: string[];
            description: string;
            /** @description The id in the restaurant's till, which orders are sent with. */
            externalId: string | null;
            id: string;
            imageUrls: string[];
            measure: components["schemas"]["Measure"] | null;
            name: string;
            nutrition: components["schemas"]["Nutrition"] | null;
            /** @description Can be ordered as the menu stands. */
            orderable: boolean;
            price: components["schemas"]["MenuPrice"];
            /** @description Why it is not orderable. */
            reasons: components["schemas"]["Reason"][];
            /** @description The scheme with the groups that are chosen from. */
            schemeId: string | null;
        };
        ProductAnswer: {
            /** @description One dish, with everything that an order form needs to draw itself. */
            result: {
                available: boolean;
                /** @description The first of `categoryIds`; null where there is none. */
                categoryId: string | null;
                /** @description Every category that lists the dish; none of them twice. */
                categoryIds: string[];
                description: string;
                externalId: string | null;
                groups: components["schemas"]["Group"][];
                id: string;
                imageUrls: string[];
                measure: components["schemas"]["Measure"] | null;
                name: string;
                nutrition: components["schemas"]["Nutrition"] | null;
                orderable: boolean;
                price: components["schemas"]["MenuPrice"];
                reasons: components["schemas"]["Reason"][];
                schemeId: string | null;
                /** @description True where the dish's groups nest so far that not all of them are here. */
                truncated?: boolean;
                /** @description The version of the menu. */
                version: number;
            };
        };
        ProductList: {
            next: components["schemas"]["Next"];
            result: components["schemas"]["Product"][];
        };
        /** @description The data of `sync.progress`. */
        Progress: {
            batch: string;
            connection?: string;
            done: number;
            failed: number;
            total: number;
        };
        Readiness: {
            /** @description With `?verbose`, what larder stands on. */
            parts?: {
                catalogues: components["schemas"]["Part"];
                connections: {
                    [key: string]: components["schemas"]["Part"];
                };
                journal: components["schemas"]["Part"];
                redis: components["schemas"]["Part"];
            };
            /** @enum {string} */
            status: "ok" | "degraded" | "unready";
        };
        /** @description Why a product or an option cannot be ordered. */
        Reason: {
            /**
             * @description `stopped`: on the stop list. `group_unsatisfiable`: `group` needs a choice and none is available. `no_external_id`: the menu has no externalId to order it by. `price_invalid`: its price is missing or cannot be read.
             * @enum {string}
             */
            code: "stopped" | "group_unsatisfiable" | "no_external_id" | "price_invalid";
            /** @description The group, of `group_unsatisfiable`. */
            group?: string;
        };
        /** @description larder's own name of an order, 26 characters. */
        Ref: string;
        /** @description The reason, one of those that the ordering service lists; both empty where it lists none. */
        Rejection: {
            rejectionReasonID?: string | number | null;
            /** @description Words of one's own; a reason of the type `text` needs them. */
            rejectionReasonText?: string | null;
            /** @description Taken and passed over. */
            restaurantID?: string | number | null;
        } & {
            [key: string]: unknown;
        };
        RejectionReason: {
            ID: string;
            isPossibleDelete: boolean;
            reason: string;
            /** @description `simple`, or `text` for a reason that needs words of its own. */
            type: string;
        };
        RejectionReasons: {
            result: components["schemas"]["RejectionReason"][];
        };
        /** @description A person's resolution of an operation whose outcome is unknown. It cannot be taken back. */
        Resolution: {
            /** @description Kept with the order: who said so. */
            note?: string | null;
            operation: components["schemas"]["Operation"];
            /** @description Of a created order that is `done`: the ordering service's id. */
            orderID?: string | number | null;
            /**
             * @description `done`: it took effect. `not_done`: it did not, and shall not. `send_again`: it did not; larder sends it again, once, while what was sent is kept.
             * @enum {string}
             */
            outcome: "done" | "not_done" | "send_again";
        };
        /** @description A restaurant. What a menu would tell is null until there is one. */
        Restaurant: {
            /**
             * Format: date-time
             * @description When the ordering service confirmed it last.
             */
            checkedAt: string | null;
            /** @description The connection to the ordering service that it belongs to. */
            connection: string;
            counts: components["schemas"]["Counts"] | null;
            /** @description A rollback holds an older menu. */
            held: boolean;
            id: components["schemas"]["RestaurantID"];
            /**
             * @description How the last run ended.
             * @enum {string|null}
             */
            lastOutcome: "updated" | "unchanged" | "quarantined" | "held" | "failed" | "skipped" | null;
            /** @description As configured, else the menu view's name. */
            name: string;
            /** @description Not confirmed for longer than `sync.stale_after` intervals of its schedule. */
            stale: boolean;
            /**
             * Format: date-time
             * @description When the content changed last.
             */
            syncedAt: string | null;
            /** @description The version of the menu that is served. */
            version: number | null;
        };
        /** @description The id of a restaurant, as configured. */
        RestaurantID: string;
        RestaurantList: {
            next: components["schemas"]["Next"];
            result: components["schemas"]["Restaurant"][];
        };
        Rollback: {
            /** @default next_change */
            hold: components["schemas"]["Hold"];
            /** @description One that is kept. */
            version: number;
        };
        /** @description One pass over one restaurant. */
        Run: {
            /** @description Who asked for it or joined it, in that order. */
            by: string[];
            /** @description Of what was fetched; 0 where the ordering service answered that nothing had changed. */
            bytes: number;
            /** @description How many products an updated run added, removed and changed. */
            changes: {
                added: number;
                changed: number;
                removed: number;
            };
            /** @description For a person: what failed, and what was tried. */
            error: string | null;
            /** @description How many lint found. */
            findings: number;
            /** Format: date-time */
            finishedAt: string | null;
            /** @description Scheduled runs in a row that found nothing changed have one record together. The other fields are those of the last one. */
            folded?: {
                /** @description How many there are, with the last one. */
                count: number;
                /** @description The id of the first one. */
                first: string;
                /** Format: date-time */
                firstAt: string;
            };
            /** @description The guard was skipped. */
            force: boolean;
            /** @description 26 characters that sort by the time it was asked for. */
            id: string;
            outcome: components["schemas"]["RunOutcome"] | null;
            products: number;
            /** @description The restaurant, or `@` and a connection's name. */
            restaurant: string;
            /** @description Of a rollback, what it went back to. */
            rollback?: {
                hold: components["schemas"]["Hold"];
                version: number;
            };
            /**
             * Format: date-time
             * @description When it began; while it is queued, when it was asked for.
             */
            startedAt: string | null;
            /** @enum {string} */
            state: "queued" | "running" | "finished";
            /** @description Milliseconds that each step took; one that was not reached is not there. */
            steps: {
                compile?: number;
                decode?: number;
                fetch?: number;
                lint?: number;
                publish?: number;
            };
            /** @enum {string} */
            trigger: "cron" | "manual" | "startup";
            /** @description Served when it finished; 0 = none. */
            version: number;
        };
        RunAnswer: {
            result: components["schemas"]["Run"];
        };
        RunList: {
            next: components["schemas"]["Next"];
            result: components["schemas"]["Run"][];
        };
        /**
         * @description `updated`: a new version is served. `unchanged`: the ordering service confirmed what is served. `quarantined`: the guard kept back a menu that had shrunk too far. `held`: a rollback holds an older menu. `failed`: the last good menu goes on. `skipped`: another run did it, or is at it.
         * @enum {string}
         */
        RunOutcome: "updated" | "unchanged" | "quarantined" | "held" | "failed" | "skipped";
        Scheme: {
            groups: components["schemas"]["SchemeGroup"][];
            id: string;
        };
        /** @description A group of a scheme, with its limits for one unit of the dish. */
        SchemeGroup: {
            id: string;
            /** @description How many it takes at most; null = no limit. */
            max: number | null;
            /** @description How many one unit of the dish needs at least. */
            min: number;
            name: string;
            /** @description The ids of the ingredients to choose from. */
            options: string[];
        };
        /** @description Replaced by the menu's. */
        SentMeasure: ({
            unit?: string | null;
            value?: number | null;
        } & {
            [key: string]: unknown;
        }) | null;
        /** @description The exact body for the ordering service: the order with the menu's externalIds, names, prices and measures, and a combo's parts beside each other. Its names are spelt as `connections[].field_case` says. */
        SentOrder: {
            [key: string]: unknown;
        };
        /** @description Who is signed in. */
        Session: {
            client: string;
            /** @description The only connection that the client sees; null for all. */
            connection: string | null;
            expiresAt: components["schemas"]["Time"];
            /** @description larder's own. */
            version: string;
        };
        SessionAnswer: {
            /** @description Null where nobody is signed in. */
            result: components["schemas"]["Session"] | null;
        };
        SignIn: {
            /** @description The id of a client with the scope `ops`. */
            client: string;
            secret: string;
        };
        SummaryAnswer: {
            result: {
                /** @description There are more than were counted. */
                moreUnknownOrders: boolean;
                restaurants: number;
                /** @description How many restaurants are in which state; `attention` counts those in any of the first four, `ok` those in none. */
                states: {
                    [key: string]: number;
                };
                /** @description Orders to resolve; null while they cannot be listed. */
                unknownOrders: number | null;
            };
        };
        /**
         * Format: date-time
         * @description RFC 3339 in UTC with milliseconds.
         * @example 2026-05-01T15:30:00.000Z
         */
        Time: string;
        Token: {
            access_token: string;
            /** @description Seconds. */
            expires_in: number;
            scope: string;
            /** @constant */
            token_type: "Bearer";
        };
        /** @description By RFC 6749, section 5.2. */
        TokenError: {
            /** @enum {string} */
            error: "invalid_request" | "invalid_client" | "invalid_scope" | "unsupported_grant_type" | "rate_limited" | "storage_unavailable" | "internal";
            error_description: string;
        };
        /** @description Names are read without regard to case and underscores; the client may also be named by HTTP Basic. */
        TokenRequest: {
            client_ID?: string;
            client_secret?: string;
            /** @constant */
            grant_type: "client_credentials";
            /** @description Some of the client's scopes, parted by spaces or commas; `scope` does the same. All of them where it is missing. */
            scopes?: string;
        } & {
            [key: string]: unknown;
        };
        VerdictAnswer: {
            /** @description What is wrong with an order, and what it costs. */
            result: {
                lines: components["schemas"]["Line"][];
                /** @description There are more violations than those 200; checking ended there, and `lines` are those that were checked. Absent otherwise. */
                more?: boolean;
                /** @description What would be sent; null where the order is not valid. */
                order: components["schemas"]["SentOrder"] | null;
                /** @description The sum of the lines; null where one could not be priced. */
                total: number | null;
                /** @description It may be placed as `order` has it. */
                valid: boolean;
                /** @description The version of the menu that it was checked against. */
                version: number;
                /** @description All that is wrong, in the order of the body: the first 200. */
                violations: components["schemas"]["Violation"][];
            };
        };
        Version: {
            /** @description Of the menu view as it was published. */
            bytes: number;
            /** @description The hash of what the menu has without its stop lists. */
            content: string;
            counts: components["schemas"]["Counts"];
            current: boolean;
            held: boolean;
            hold: components["schemas"]["Hold"] | null;
            name: string;
            syncedAt: components["schemas"]["Time"];
            version: number;
        };
        VersionList: {
            next: components["schemas"]["Next"];
            result: components["schemas"]["Version"][];
        };
        /** @description One thing that is wrong with the request. */
        Violation: {
            /** @description Of `validation_failed` a violation's code; in the one entry of another refusal the code of that. */
            code: components["schemas"]["ViolationCode"] | components["schemas"]["ErrorCode"];
            /** @description A sentence for a person; of violations in the language that `Accept-Language` asks for. */
            msg: string;
            /** @description The facts of the code. */
            params: {
                [key: string]: unknown;
            };
            /** @description A JSON Pointer into the request's body, in its spelling; empty for the body as a whole, and for what is no field of it. */
            path: string;
        };
        /**
         * @description What is wrong with an order, a payment or a rejection; docs/violations.md has the params of each.
         * @enum {string}
         */
        ViolationCode: "dish_not_in_menu" | "dish_unavailable" | "dish_not_orderable" | "external_id_ambiguous" | "quantity_not_positive" | "quantity_not_whole" | "price_changed" | "dish_takes_no_ingredients" | "ingredient_not_in_menu" | "ingredient_not_allowed" | "ingredient_unavailable" | "group_min" | "group_max" | "group_pin_invalid" | "too_deep" | "field_required" | "value_not_allowed" | "type_mismatch" | "decimal_comma" | "phone_invalid" | "text_invalid" | "time_zone_missing" | "time_in_past" | "time_too_far" | "change_from" | "amount_insufficient" | "limit_exceeded";
    };
    responses: {
        /** @description Several products share this externalId; `errors[0].params` lists their ids. */
        AmbiguousProduct: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The body did not arrive in time. */
        BodyTimeout: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The first request with this key or another change is not finished, it is not known what became of the last change, or the order takes no such change as it stands (`state` and `paid` in `errors[0].params`). */
        ChangeConflict: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "Idempotent-Replayed": components["headers"]["Replayed"];
                "Retry-After": components["headers"]["RetryAfter"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Refused. */
        CompatRefusal: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "Content-Language": components["headers"]["ContentLanguage"];
                "Content-Security-Policy": components["headers"]["SandboxPolicy"];
                "Idempotent-Replayed": components["headers"]["Replayed"];
                "Larder-Order-Ref": components["headers"]["OrderRef"];
                "Retry-After": components["headers"]["RetryAfter"];
                "WWW-Authenticate": components["headers"]["MayChallenge"];
                "X-Content-Type-Options": components["headers"]["NoSniff"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["CompatError"];
            };
        };
        /** @description Several connections are configured: ask with `?connection=` for one of `errors[0].params.known`. */
        ConnectionRequired: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The token has not the scope that is needed, or a browser says that a page of another site asks. */
        Forbidden: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "WWW-Authenticate": components["headers"]["MayChallenge"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The first request with this key is not finished: ask again with the same one. */
        InFlight: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "Retry-After": components["headers"]["RetryAfter"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A fault of larder's own; the log has its cause under the `requestId`. An order may have been begun: send it again with the same key. */
        Internal: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Several connections are configured and none is named (`errors[0].params.known` lists them), query and body name different ones, or the body is not an object with the one optional field `connection`. */
        InvalidAcceptance: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A parameter is not valid, or the body is not well-formed JSON (with `line` and `column`) or has what does not belong there. */
        InvalidBody: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The Idempotency-Key is not a good one, the body is not well-formed JSON, or several connections have an order with this id: ask with `?connection=` for one of `errors[0].params.connections`. */
        InvalidChange: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no Idempotency-Key, or not a good one, or the body is not well-formed JSON. */
        InvalidOrder: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A parameter is not valid, or several connections have an order with this id: ask with `?connection=`. */
        InvalidOrderID: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A parameter is not valid; `errors[0].params.parameter` names it. */
        InvalidParameter: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no such batch, or it is no longer kept. */
        NoBatch: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no such connection; `errors[0].params.known` lists those that exist. */
        NoConnection: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no menu yet. */
        NoMenu: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "Retry-After": components["headers"]["RetryAfter"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no such order or connection, or the record is no longer kept. */
        NoOrder: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no such restaurant or product. */
        NoProduct: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There are no rejection reasons yet. */
        NoReasons: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "Retry-After": components["headers"]["RetryAfter"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no such restaurant; `errors[0].params.known` lists those that exist. */
        NoRestaurant: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no such run, or its record is no longer kept. */
        NoRun: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no such restaurant. */
        NoRunsOf: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description All places are taken, or larder is stopping. */
        NoStream: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "Retry-After": components["headers"]["RetryAfter"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `Accept-Encoding` refuses every coding that there is. */
        NotAcceptable: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is nothing at this path. */
        NotFound: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Nothing was placed or changed: there is no menu yet, the journal cannot keep the order, or the ordering service cannot be reached, or has too many requests waiting (send it again with the same key after Retry-After). */
        NotSent: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "Idempotent-Replayed": components["headers"]["Replayed"];
                "Retry-After": components["headers"]["RetryAfter"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no such restaurant, or the version is not kept. */
        NoVersion: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request breaks rules, all of them listed in `errors`; or the key stands for another request. Nothing was sent. */
        OrderRefused: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "Content-Language": components["headers"]["ContentLanguage"];
                "Idempotent-Replayed": components["headers"]["Replayed"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The ordering service may have done it. Send it again with the same key, never with another. */
        OutcomeUnknown: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "Idempotent-Replayed": components["headers"]["Replayed"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Done. The ordering service's answer, with its status. */
        Passed: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "Content-Security-Policy": components["headers"]["SandboxPolicy"];
                "Idempotent-Replayed": components["headers"]["Replayed"];
                "Larder-Order-Ref": components["headers"]["OrderRef"];
                "X-Content-Type-Options": components["headers"]["NoSniff"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "*/*": components["schemas"]["Passed"];
            };
        };
        /** @description Refused by the ordering service, whose answer it is, or by larder with a `CompatError`: with 422 (`http.compat.refusal_status`) where the request breaks rules, else with the statuses of /v1. */
        PassedRefusal: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "Content-Language": components["headers"]["ContentLanguage"];
                "Content-Security-Policy": components["headers"]["SandboxPolicy"];
                "Idempotent-Replayed": components["headers"]["Replayed"];
                "Larder-Order-Ref": components["headers"]["OrderRef"];
                "Retry-After": components["headers"]["RetryAfter"];
                "WWW-Authenticate": components["headers"]["MayChallenge"];
                "X-Content-Type-Options": components["headers"]["NoSniff"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "*/*": components["schemas"]["Passed"];
            };
        };
        /** @description Too many requests. */
        RateLimited: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "Retry-After": components["headers"]["RetryAfter"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is nothing to resolve, another change is not finished, or another order has this orderID. */
        ResolveConflict: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "Retry-After": components["headers"]["RetryAfter"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description No restaurant is named; `errors[0].params.known` lists those that exist. */
        RestaurantRequired: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request breaks rules; `errors` lists all that is wrong. */
        RulesBroken: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "Content-Language": components["headers"]["ContentLanguage"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The client has not the scope `ops`, or the request comes from a page of another site. */
        SiteForbidden: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "WWW-Authenticate": components["headers"]["MayChallenge"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Another run of the restaurant is not finished; nothing was changed. */
        SyncBusy: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "Retry-After": components["headers"]["RetryAfter"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The body is larger than 256 KiB. */
        TooLarge: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no token, or not a good one. */
        Unauthorized: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "WWW-Authenticate": components["headers"]["Challenge"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Redis does not answer, or refuses writes. */
        Unavailable: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "Retry-After": components["headers"]["RetryAfter"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The body is not said to be JSON in UTF-8, or has a content coding. */
        UnsupportedMedia: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The ordering service refused, with its own words in `upstream`; without them an operator found out that nothing came of it. */
        UpstreamRefused: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "Idempotent-Replayed": components["headers"]["Replayed"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The version is not kept, or has not been published: read the whole menu. */
        VersionGone: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /**
         * @description What the body may be sent in, by RFC 9110.
         * @example br, gzip
         */
        AcceptEncoding: string;
        /**
         * @description The name of a connection; needed where several have an order with this id, or reasons of their own.
         * @example main
         */
        Connection: string;
        /** @description The `next` of the page before; without it the list begins. */
        Cursor: string;
        /** @description 1 to 255 printable characters, bare or in quotes, best a random one. The request with the same key and body is answered as the first one was. */
        IdempotencyKey: string;
        /** @description The `Last-Modified` of what the caller has; counts where there is no `If-None-Match`. */
        IfModifiedSince: string;
        /** @description The `ETag` of what the caller has; 304 where nothing has changed. */
        IfNoneMatch: string;
        /**
         * @description The language of the sentences in `errors` and `violations`; English and Russian are there.
         * @example ru
         */
        Language: string;
        /** @description How many entries a page has at most. */
        Limit: number;
        /** @description The ordering service's id of the order. */
        OrderID: string;
        /** @description larder's own name of the order. */
        Ref: components["schemas"]["Ref"];
        /**
         * @description The id of a configured restaurant.
         * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
         */
        Restaurant: components["schemas"]["RestaurantID"];
        /**
         * @description The id of a configured restaurant, or `@` and a connection's name for that connection's own menu view.
         * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
         */
        Synced: string;
        /**
         * @description How long to wait for the end of the run, at most 60 s: a duration as `30s`, or whole seconds. Without it the answer is given at once.
         * @example 30s
         */
        Wait: string;
    };
    requestBodies: never;
    headers: {
        /** @description Who may keep the answer, and for how long; orders and pages of ops are `no-store`. */
        CacheControl: string;
        /** @description What a token must have, by RFC 6750; of the token endpoint by RFC 6749. */
        Challenge: string;
        /** @description What the body is sent in; missing where it is sent as it is. */
        ContentEncoding: "gzip" | "br" | "zstd";
        /** @description The language of the sentences. */
        ContentLanguage: "en" | "ru";
        /** @description What the page may load, which is what the same origin serves. */
        ContentSecurityPolicy: string;
        /** @description Names the body, for `If-None-Match`; compared for equality alone. */
        ETag: string;
        /** @description When the version was published. */
        LastModified: string;
        /** @description Where to ask what becomes of it. */
        Location: string;
        /** @description What a token must have, where one was sent or could have been. */
        MayChallenge: string;
        /** @description The version of the menu that the answer is of. */
        MenuVersion: number;
        /** @description For proxies that would collect the stream. */
        NoBuffering: "no";
        /** @description The `Content-Type` is meant as it stands. */
        NoSniff: "nosniff";
        /** @description larder's own name of the order, in every answer about one. */
        OrderRef: components["schemas"]["Ref"];
        /** @description Nobody is told where a reader comes from. */
        ReferrerPolicy: "no-referrer";
        /** @description `true` where this is the first answer again. */
        Replayed: "true";
        /** @description The id of the request, the caller's own if it sent a sane one (1 to 128 visible ASCII characters). */
        RequestID: string;
        /** @description Seconds after which to ask again. */
        RetryAfter: number;
        /** @description On answers that are passed on from the ordering service. A browser that opens one runs nothing in it. */
        SandboxPolicy: "default-src 'none'; sandbox";
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": components["schemas"]["TokenRequest"];
                "multipart/form-data": components["schemas"]["TokenRequest"];
            };
        };
        responses: {
            /** @description A token. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    /** @description For caches of HTTP/1.0. */
                    Pragma?: "no-cache";
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Token"];
                };
            };
            /** @description The form is not well-formed, or asks for what the client may not have. */
            400: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    /** @description For caches of HTTP/1.0. */
                    Pragma?: "no-cache";
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenError"];
                };
            };
            /** @description The client is unknown or its secret is wrong. */
            401: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    /** @description For caches of HTTP/1.0. */
                    Pragma?: "no-cache";
                    "WWW-Authenticate": components["headers"]["Challenge"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenError"];
                };
            };
            /** @description Too many refused requests. */
            429: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    /** @description For caches of HTTP/1.0. */
                    Pragma?: "no-cache";
                    "Retry-After": components["headers"]["RetryAfter"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenError"];
                };
            };
            /** @description A fault of larder's own. */
            500: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    /** @description For caches of HTTP/1.0. */
                    Pragma?: "no-cache";
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenError"];
                };
            };
            /** @description Redis does not answer. */
            503: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    /** @description For caches of HTTP/1.0. */
                    Pragma?: "no-cache";
                    "Retry-After": components["headers"]["RetryAfter"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenError"];
                };
            };
        };
    };
    showDocument: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of what the caller has; 304 where nothing has changed. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "Content-Encoding": components["headers"]["ContentEncoding"];
                    "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                    ETag: components["headers"]["ETag"];
                    "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                    "X-Content-Type-Options": components["headers"]["NoSniff"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description Nothing has changed. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "Content-Encoding": components["headers"]["ContentEncoding"];
                    "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                    ETag: components["headers"]["ETag"];
                    "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                    "X-Content-Type-Options": components["headers"]["NoSniff"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidParameter"];
        };
    };
    getDocsFile: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of what the caller has; 304 where nothing has changed. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description The name of the file.
                 * @example start.js
                 */
                file: "start.js" | "swagger-ui.css" | "swagger-ui-bundle.js";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "Content-Encoding": components["headers"]["ContentEncoding"];
                    "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                    ETag: components["headers"]["ETag"];
                    "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                    "X-Content-Type-Options": components["headers"]["NoSniff"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "text/css": string;
                    "text/javascript": string;
                };
            };
            /** @description Nothing has changed. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "Content-Encoding": components["headers"]["ContentEncoding"];
                    "Content-Security-Policy": components["headers"]["ContentSecurityPolicy"];
                    ETag: components["headers"]["ETag"];
                    "Referrer-Policy": components["headers"]["ReferrerPolicy"];
                    "X-Content-Type-Options": components["headers"]["NoSniff"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidParameter"];
            404: components["responses"]["NotFound"];
        };
    };
    isAlive: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It does. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alive"];
                };
            };
            400: components["responses"]["InvalidParameter"];
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The metrics. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            400: components["responses"]["InvalidParameter"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
        };
    };
    getDocumentAsJSON: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of what the caller has; 304 where nothing has changed. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Nothing has changed. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidParameter"];
        };
    };
    getDocumentAsYAML: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of what the caller has; 304 where nothing has changed. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/yaml": string;
                };
            };
            /** @description Nothing has changed. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidParameter"];
        };
    };
    getSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Who it is. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionAnswer"];
                };
            };
            400: components["responses"]["InvalidParameter"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    signIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignIn"];
            };
        };
        responses: {
            /** @description Signed in. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    /** @description The session, HttpOnly and SameSite=Strict; `Secure` over https. */
                    "Set-Cookie": string;
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionAnswer"];
                };
            };
            400: components["responses"]["InvalidBody"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["SiteForbidden"];
            408: components["responses"]["BodyTimeout"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    signOut: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Signed out. */
            204: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    /** @description The session, HttpOnly and SameSite=Strict; `Secure` over https. */
                    "Set-Cookie": string;
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidParameter"];
            403: components["responses"]["SiteForbidden"];
            500: components["responses"]["Internal"];
        };
    };
    viewMenu: {
        parameters: {
            query?: {
                /**
                 * @description The restaurant, its name read in any spelling. Without it the connection's own menu view counts, without that its only restaurant.
                 * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
                 */
                restaurantId?: string;
            };
            header?: {
                /**
                 * @description What the body may be sent in, by RFC 9110.
                 * @example br, gzip
                 */
                "Accept-Encoding"?: components["parameters"]["AcceptEncoding"];
                /** @description The `Last-Modified` of what the caller has; counts where there is no `If-None-Match`. */
                "If-Modified-Since"?: components["parameters"]["IfModifiedSince"];
                /** @description The `ETag` of what the caller has; 304 where nothing has changed. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": components["responses"]["CompatRefusal"];
            "5XX": components["responses"]["CompatRefusal"];
            /** @description The menu view. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "Content-Encoding": components["headers"]["ContentEncoding"];
                    ETag: components["headers"]["ETag"];
                    "Larder-Menu-Version": components["headers"]["MenuVersion"];
                    "Last-Modified": components["headers"]["LastModified"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MenuView"];
                };
            };
            /** @description Nothing has changed. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "Larder-Menu-Version": components["headers"]["MenuVersion"];
                    "Last-Modified": components["headers"]["LastModified"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    createOrder: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The language of the sentences in `errors` and `violations`; English and Russian are there.
                 * @example ru
                 */
                "Accept-Language"?: components["parameters"]["Language"];
                /** @description 1 to 255 printable characters, bare or in quotes, best a random one. The request with the same key and body is answered as the first one was. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Order"];
            };
        };
        responses: {
            "2XX": components["responses"]["Passed"];
            "4XX": components["responses"]["PassedRefusal"];
            "5XX": components["responses"]["PassedRefusal"];
        };
    };
    completeCreatedOrder: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The language of the sentences in `errors` and `violations`; English and Russian are there.
                 * @example ru
                 */
                "Accept-Language"?: components["parameters"]["Language"];
                /** @description 1 to 255 printable characters, bare or in quotes, best a random one. The request with the same key and body is answered as the first one was. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The ordering service's id of the order. */
                orderID: components["parameters"]["OrderID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "2XX": components["responses"]["Passed"];
            "4XX": components["responses"]["PassedRefusal"];
            "5XX": components["responses"]["PassedRefusal"];
        };
    };
    payCreatedOrder: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The language of the sentences in `errors` and `violations`; English and Russian are there.
                 * @example ru
                 */
                "Accept-Language"?: components["parameters"]["Language"];
                /** @description 1 to 255 printable characters, bare or in quotes, best a random one. The request with the same key and body is answered as the first one was. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The ordering service's id of the order. */
                orderID: components["parameters"]["OrderID"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Payments"];
            };
        };
        responses: {
            "2XX": components["responses"]["Passed"];
            "4XX": components["responses"]["PassedRefusal"];
            "5XX": components["responses"]["PassedRefusal"];
        };
    };
    rejectCreatedOrder: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The language of the sentences in `errors` and `violations`; English and Russian are there.
                 * @example ru
                 */
                "Accept-Language"?: components["parameters"]["Language"];
                /** @description 1 to 255 printable characters, bare or in quotes, best a random one. The request with the same key and body is answered as the first one was. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The ordering service's id of the order. */
                orderID: components["parameters"]["OrderID"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Rejection"];
            };
        };
        responses: {
            "2XX": components["responses"]["Passed"];
            "4XX": components["responses"]["PassedRefusal"];
            "5XX": components["responses"]["PassedRefusal"];
        };
    };
    viewRejectionReasons: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description What the body may be sent in, by RFC 9110.
                 * @example br, gzip
                 */
                "Accept-Encoding"?: components["parameters"]["AcceptEncoding"];
                /** @description The `ETag` of what the caller has; 304 where nothing has changed. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            "4XX": components["responses"]["CompatRefusal"];
            "5XX": components["responses"]["CompatRefusal"];
            /** @description The reasons. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RejectionReasons"];
                };
            };
            /** @description Nothing has changed. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    isReady: {
        parameters: {
            query?: {
                /**
                 * @description Names the parts; `false` and `0` do not.
                 * @example true
                 */
                verbose?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Ready, or degraded: menus are served, and something is not as it should be. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
            400: components["responses"]["InvalidParameter"];
            /** @description There is no menu at all, the start is not over, or larder drains. */
            503: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
        };
    };
    followMenu: {
        parameters: {
            query: {
                /**
                 * @description The id of the restaurant.
                 * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
                 */
                restaurant: components["schemas"]["RestaurantID"];
            };
            header?: {
                /** @description The `id` of the last event that was read; nothing comes for the version it names. */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Accel-Buffering": components["headers"]["NoBuffering"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["RestaurantRequired"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoRestaurant"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["NoStream"];
        };
    };
    listAuditEntries: {
        parameters: {
            query?: {
                /** @description Of this kind alone. */
                action?: components["schemas"]["Action"];
                /** @description Of this client alone. */
                client?: string;
                /** @description The `next` of the page before; without it the list begins. */
                cursor?: components["parameters"]["Cursor"];
                /** @description How many entries a page has at most. */
                limit?: components["parameters"]["Limit"];
                /** @description Of this restaurant alone. */
                restaurant?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of entries. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditEntryList"];
                };
            };
            400: components["responses"]["InvalidParameter"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    followRuns: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Accel-Buffering": components["headers"]["NoBuffering"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["InvalidParameter"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["Internal"];
            503: components["responses"]["NoStream"];
        };
    };
    acceptJournal: {
        parameters: {
            query?: {
                /**
                 * @description The name of a connection; needed where several have an order with this id, or reasons of their own.
                 * @example main
                 */
                connection?: components["parameters"]["Connection"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["JournalAccept"];
            };
        };
        responses: {
            /** @description New orders are not paused any more, on any instance. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JournalAcceptance"];
                };
            };
            400: components["responses"]["InvalidAcceptance"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoConnection"];
            408: components["responses"]["BodyTimeout"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            500: components["responses"]["Internal"];
            503: components["responses"]["NotSent"];
        };
    };
    listOrders: {
        parameters: {
            query?: {
                /**
                 * @description The name of a connection; needed where several have an order with this id, or reasons of their own.
                 * @example main
                 */
                connection?: components["parameters"]["Connection"];
                /** @description The `next` of the page before; without it the list begins. */
                cursor?: components["parameters"]["Cursor"];
                /** @description How many entries a page has at most. */
                limit?: components["parameters"]["Limit"];
                /**
                 * @description Of this state alone.
                 * @example placed
                 */
                state?: components["schemas"]["OrderState"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of orders. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderList"];
                };
            };
            400: components["responses"]["InvalidParameter"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoConnection"];
            500: components["responses"]["Internal"];
            503: components["responses"]["NotSent"];
        };
    };
    getOpsOrder: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description larder's own name of the order. */
                ref: components["parameters"]["Ref"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The order. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpsOrderAnswer"];
                };
            };
            400: components["responses"]["InvalidParameter"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoOrder"];
            500: components["responses"]["Internal"];
            503: components["responses"]["NotSent"];
        };
    };
    resolveOrder: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description larder's own name of the order. */
                ref: components["parameters"]["Ref"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Resolution"];
            };
        };
        responses: {
            /** @description The record, resolved. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderAnswer"];
                };
            };
            400: components["responses"]["InvalidBody"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoOrder"];
            408: components["responses"]["BodyTimeout"];
            409: components["responses"]["ResolveConflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["RulesBroken"];
            500: components["responses"]["Internal"];
            503: components["responses"]["NotSent"];
        };
    };
    listOpsRestaurants: {
        parameters: {
            query?: {
                /**
                 * @description The name of a connection; needed where several have an order with this id, or reasons of their own.
                 * @example main
                 */
                connection?: components["parameters"]["Connection"];
                /** @description The `next` of the page before; without it the list begins. */
                cursor?: components["parameters"]["Cursor"];
                /** @description How many entries a page has at most. */
                limit?: components["parameters"]["Limit"];
                /** @description Words that occur in the id or the name. */
                q?: string;
                /** @description In this state alone; `attention` is any of `missing`, `failed`, `quarantined` and `stale`. */
                state?: "attention" | "missing" | "failed" | "quarantined" | "stale" | "held" | "ok";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of restaurants. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpsRestaurantList"];
                };
            };
            400: components["responses"]["InvalidParameter"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getOpsRestaurant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of a configured restaurant, or `@` and a connection's name for that connection's own menu view.
                 * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
                 */
                restaurant: components["parameters"]["Synced"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The restaurant. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpsRestaurantAnswer"];
                };
            };
            400: components["responses"]["InvalidParameter"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoRestaurant"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    releaseHold: {
        parameters: {
            query?: {
                /**
                 * @description How long to wait for the end of the run, at most 60 s: a duration as `30s`, or whole seconds. Without it the answer is given at once.
                 * @example 30s
                 */
                wait?: components["parameters"]["Wait"];
            };
            header?: never;
            path: {
                /**
                 * @description The id of a configured restaurant, or `@` and a connection's name for that connection's own menu view.
                 * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
                 */
                restaurant: components["parameters"]["Synced"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description With `wait`, the finished run. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    Location: components["headers"]["Location"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunAnswer"];
                };
            };
            /** @description The run, not finished yet. */
            202: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    Location: components["headers"]["Location"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunAnswer"];
                };
            };
            400: components["responses"]["InvalidParameter"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoRestaurant"];
            500: components["responses"]["Internal"];
            503: components["responses"]["NoMenu"];
        };
    };
    lintMenu: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of a configured restaurant, or `@` and a connection's name for that connection's own menu view.
                 * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
                 */
                restaurant: components["parameters"]["Synced"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The findings. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FindingList"];
                };
            };
            400: components["responses"]["InvalidParameter"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoRestaurant"];
            500: components["responses"]["Internal"];
            503: components["responses"]["NoMenu"];
        };
    };
    rollBack: {
        parameters: {
            query?: {
                /**
                 * @description How long to wait for the end of the run, at most 60 s: a duration as `30s`, or whole seconds. Without it the answer is given at once.
                 * @example 30s
                 */
                wait?: components["parameters"]["Wait"];
            };
            header?: never;
            path: {
                /**
                 * @description The id of a configured restaurant, or `@` and a connection's name for that connection's own menu view.
                 * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
                 */
                restaurant: components["parameters"]["Synced"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Rollback"];
            };
        };
        responses: {
            /** @description The finished run. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    Location: components["headers"]["Location"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunAnswer"];
                };
            };
            400: components["responses"]["InvalidBody"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoVersion"];
            408: components["responses"]["BodyTimeout"];
            409: components["responses"]["SyncBusy"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            500: components["responses"]["Internal"];
            503: components["responses"]["NoMenu"];
        };
    };
    syncRestaurant: {
        parameters: {
            query?: {
                /**
                 * @description How long to wait for the end of the run, at most 60 s: a duration as `30s`, or whole seconds. Without it the answer is given at once.
                 * @example 30s
                 */
                wait?: components["parameters"]["Wait"];
            };
            header?: never;
            path: {
                /**
                 * @description The id of a configured restaurant, or `@` and a connection's name for that connection's own menu view.
                 * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
                 */
                restaurant: components["parameters"]["Synced"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Force"];
            };
        };
        responses: {
            /** @description With `wait`, the finished run. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    Location: components["headers"]["Location"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunAnswer"];
                };
            };
            /** @description The run, not finished yet. */
            202: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    Location: components["headers"]["Location"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunAnswer"];
                };
            };
            400: components["responses"]["InvalidBody"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoRestaurant"];
            408: components["responses"]["BodyTimeout"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listVersions: {
        parameters: {
            query?: {
                /** @description The `next` of the page before; without it the list begins. */
                cursor?: components["parameters"]["Cursor"];
                /** @description How many entries a page has at most. */
                limit?: components["parameters"]["Limit"];
            };
            header?: never;
            path: {
                /**
                 * @description The id of a configured restaurant, or `@` and a connection's name for that connection's own menu view.
                 * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
                 */
                restaurant: components["parameters"]["Synced"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of versions. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VersionList"];
                };
            };
            400: components["responses"]["InvalidParameter"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoRestaurant"];
            500: components["responses"]["Internal"];
            503: components["responses"]["NoMenu"];
        };
    };
    compareVersions: {
        parameters: {
            query?: {
                /** @description The other one; the current version where it is missing. */
                to?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The id of a configured restaurant, or `@` and a connection's name for that connection's own menu view.
                 * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
                 */
                restaurant: components["parameters"]["Synced"];
                /**
                 * @description A version that is kept.
                 * @example 1
                 */
                version: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What differs. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ComparisonAnswer"];
                };
            };
            400: components["responses"]["InvalidParameter"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoVersion"];
            500: components["responses"]["Internal"];
            503: components["responses"]["NoMenu"];
        };
    };
    getVersionView: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of a configured restaurant, or `@` and a connection's name for that connection's own menu view.
                 * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
                 */
                restaurant: components["parameters"]["Synced"];
                /**
                 * @description A version that is kept.
                 * @example 1
                 */
                version: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The menu view. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MenuView"];
                };
            };
            400: components["responses"]["InvalidParameter"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoVersion"];
            500: components["responses"]["Internal"];
            503: components["responses"]["NoMenu"];
        };
    };
    listRuns: {
        parameters: {
            query?: {
                /** @description The `next` of the page before; without it the list begins. */
                cursor?: components["parameters"]["Cursor"];
                /** @description How many entries a page has at most. */
                limit?: components["parameters"]["Limit"];
                /** @description Of this outcome alone. */
                outcome?: components["schemas"]["RunOutcome"];
                /** @description Of this restaurant alone. */
                restaurant?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of runs. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunList"];
                };
            };
            400: components["responses"]["InvalidParameter"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoRunsOf"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the run. */
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunAnswer"];
                };
            };
            400: components["responses"]["InvalidParameter"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoRun"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getSummary: {
        parameters: {
            query?: {
                /** @description Restaurants with these words in the id or the name alone. */
                q?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The numbers. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SummaryAnswer"];
                };
            };
            400: components["responses"]["InvalidParameter"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    syncAll: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Force"];
            };
        };
        responses: {
            /** @description The batch. */
            202: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    Location: components["headers"]["Location"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchBegun"];
                };
            };
            400: components["responses"]["InvalidBody"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["BodyTimeout"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getBatch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the batch. */
                batch: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The batch. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchAnswer"];
                };
            };
            400: components["responses"]["InvalidParameter"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoBatch"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    findOrder: {
        parameters: {
            query: {
                /**
                 * @description The name of a connection; needed where several have an order with this id, or reasons of their own.
                 * @example main
                 */
                connection?: components["parameters"]["Connection"];
                /**
                 * @description The Idempotency-Key.
                 * @example 9b1d8c3e-5f0a-4b5e-8a53-6d1b3f0c7e21
                 */
                key: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The record. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderByKeyAnswer"];
                };
            };
            400: components["responses"]["InvalidOrderID"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoOrder"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["NotSent"];
        };
    };
    getOrder: {
        parameters: {
            query?: {
                /**
                 * @description The name of a connection; needed where several have an order with this id, or reasons of their own.
                 * @example main
                 */
                connection?: components["parameters"]["Connection"];
            };
            header?: never;
            path: {
                /** @description The ordering service's id of the order. */
                orderID: components["parameters"]["OrderID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The record. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderAnswer"];
                };
            };
            400: components["responses"]["InvalidOrderID"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoOrder"];
            500: components["responses"]["Internal"];
            503: components["responses"]["NotSent"];
        };
    };
    completeOrder: {
        parameters: {
            query?: {
                /**
                 * @description The name of a connection; needed where several have an order with this id, or reasons of their own.
                 * @example main
                 */
                connection?: components["parameters"]["Connection"];
            };
            header?: {
                /**
                 * @description The language of the sentences in `errors` and `violations`; English and Russian are there.
                 * @example ru
                 */
                "Accept-Language"?: components["parameters"]["Language"];
                /** @description 1 to 255 printable characters, bare or in quotes, best a random one. The request with the same key and body is answered as the first one was. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The ordering service's id of the order. */
                orderID: components["parameters"]["OrderID"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "Idempotent-Replayed": components["headers"]["Replayed"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedAnswer"];
                };
            };
            400: components["responses"]["InvalidChange"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoOrder"];
            409: components["responses"]["ChangeConflict"];
            422: components["responses"]["OrderRefused"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            502: components["responses"]["UpstreamRefused"];
            503: components["responses"]["NotSent"];
            504: components["responses"]["OutcomeUnknown"];
        };
    };
    payOrder: {
        parameters: {
            query?: {
                /**
                 * @description The name of a connection; needed where several have an order with this id, or reasons of their own.
                 * @example main
                 */
                connection?: components["parameters"]["Connection"];
            };
            header?: {
                /**
                 * @description The language of the sentences in `errors` and `violations`; English and Russian are there.
                 * @example ru
                 */
                "Accept-Language"?: components["parameters"]["Language"];
                /** @description 1 to 255 printable characters, bare or in quotes, best a random one. The request with the same key and body is answered as the first one was. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The ordering service's id of the order. */
                orderID: components["parameters"]["OrderID"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Payments"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "Idempotent-Replayed": components["headers"]["Replayed"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedAnswer"];
                };
            };
            400: components["responses"]["InvalidChange"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoOrder"];
            408: components["responses"]["BodyTimeout"];
            409: components["responses"]["ChangeConflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["OrderRefused"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            502: components["responses"]["UpstreamRefused"];
            503: components["responses"]["NotSent"];
            504: components["responses"]["OutcomeUnknown"];
        };
    };
    rejectOrder: {
        parameters: {
            query?: {
                /**
                 * @description The name of a connection; needed where several have an order with this id, or reasons of their own.
                 * @example main
                 */
                connection?: components["parameters"]["Connection"];
            };
            header?: {
                /**
                 * @description The language of the sentences in `errors` and `violations`; English and Russian are there.
                 * @example ru
                 */
                "Accept-Language"?: components["parameters"]["Language"];
                /** @description 1 to 255 printable characters, bare or in quotes, best a random one. The request with the same key and body is answered as the first one was. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The ordering service's id of the order. */
                orderID: components["parameters"]["OrderID"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Rejection"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "Idempotent-Replayed": components["headers"]["Replayed"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedAnswer"];
                };
            };
            400: components["responses"]["InvalidChange"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoOrder"];
            408: components["responses"]["BodyTimeout"];
            409: components["responses"]["ChangeConflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["OrderRefused"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            502: components["responses"]["UpstreamRefused"];
            503: components["responses"]["NotSent"];
            504: components["responses"]["OutcomeUnknown"];
        };
    };
    listRejectionReasons: {
        parameters: {
            query?: {
                /**
                 * @description The name of a connection; needed where several have an order with this id, or reasons of their own.
                 * @example main
                 */
                connection?: components["parameters"]["Connection"];
            };
            header?: {
                /**
                 * @description What the body may be sent in, by RFC 9110.
                 * @example br, gzip
                 */
                "Accept-Encoding"?: components["parameters"]["AcceptEncoding"];
                /** @description The `ETag` of what the caller has; 304 where nothing has changed. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The reasons. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RejectionReasons"];
                };
            };
            /** @description Nothing has changed. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["ConnectionRequired"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoConnection"];
            406: components["responses"]["NotAcceptable"];
            500: components["responses"]["Internal"];
            503: components["responses"]["NoReasons"];
        };
    };
    listRestaurants: {
        parameters: {
            query?: {
                /** @description The `next` of the page before; without it the list begins. */
                cursor?: components["parameters"]["Cursor"];
                /** @description How many entries a page has at most. */
                limit?: components["parameters"]["Limit"];
                /**
                 * @description Words that occur in the id or the name; the first 8 distinct ones count.
                 * @example bistro
                 */
                q?: string;
            };
            header?: {
                /**
                 * @description What the body may be sent in, by RFC 9110.
                 * @example br, gzip
                 */
                "Accept-Encoding"?: components["parameters"]["AcceptEncoding"];
                /** @description The `ETag` of what the caller has; 304 where nothing has changed. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of restaurants. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RestaurantList"];
                };
            };
            /** @description Nothing has changed. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidParameter"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getChanges: {
        parameters: {
            query: {
                /**
                 * @description The version that the caller has.
                 * @example 1
                 */
                since: number;
            };
            header?: {
                /**
                 * @description What the body may be sent in, by RFC 9110.
                 * @example br, gzip
                 */
                "Accept-Encoding"?: components["parameters"]["AcceptEncoding"];
                /** @description The `Last-Modified` of what the caller has; counts where there is no `If-None-Match`. */
                "If-Modified-Since"?: components["parameters"]["IfModifiedSince"];
                /** @description The `ETag` of what the caller has; 304 where nothing has changed. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description The id of a configured restaurant.
                 * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
                 */
                restaurant: components["parameters"]["Restaurant"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What differs. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "Content-Encoding": components["headers"]["ContentEncoding"];
                    ETag: components["headers"]["ETag"];
                    "Larder-Menu-Version": components["headers"]["MenuVersion"];
                    "Last-Modified": components["headers"]["LastModified"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangesAnswer"];
                };
            };
            /** @description Nothing has changed. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "Larder-Menu-Version": components["headers"]["MenuVersion"];
                    "Last-Modified": components["headers"]["LastModified"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidParameter"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoRestaurant"];
            406: components["responses"]["NotAcceptable"];
            410: components["responses"]["VersionGone"];
            500: components["responses"]["Internal"];
            503: components["responses"]["NoMenu"];
        };
    };
    getMenu: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description What the body may be sent in, by RFC 9110.
                 * @example br, gzip
                 */
                "Accept-Encoding"?: components["parameters"]["AcceptEncoding"];
                /** @description The `Last-Modified` of what the caller has; counts where there is no `If-None-Match`. */
                "If-Modified-Since"?: components["parameters"]["IfModifiedSince"];
                /** @description The `ETag` of what the caller has; 304 where nothing has changed. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description The id of a configured restaurant.
                 * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
                 */
                restaurant: components["parameters"]["Restaurant"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The menu. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "Content-Encoding": components["headers"]["ContentEncoding"];
                    ETag: components["headers"]["ETag"];
                    "Larder-Menu-Version": components["headers"]["MenuVersion"];
                    "Last-Modified": components["headers"]["LastModified"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MenuAnswer"];
                };
            };
            /** @description Nothing has changed. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "Larder-Menu-Version": components["headers"]["MenuVersion"];
                    "Last-Modified": components["headers"]["LastModified"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidParameter"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoRestaurant"];
            406: components["responses"]["NotAcceptable"];
            500: components["responses"]["Internal"];
            503: components["responses"]["NoMenu"];
        };
    };
    placeOrder: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The language of the sentences in `errors` and `violations`; English and Russian are there.
                 * @example ru
                 */
                "Accept-Language"?: components["parameters"]["Language"];
                /**
                 * @description One for each order, made before the first try and kept until there is an answer: 1 to 255 printable characters, bare or in quotes; without a token 22 or more, of at least 128 random bits. `ordering.allow_missing_key` lets it be left out.
                 * @example 9b1d8c3e-5f0a-4b5e-8a53-6d1b3f0c7e21
                 */
                "Idempotency-Key": string;
            };
            path: {
                /**
                 * @description The id of a configured restaurant.
                 * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
                 */
                restaurant: components["parameters"]["Restaurant"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Order"];
            };
        };
        responses: {
            /** @description Placed. */
            201: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "Idempotent-Replayed": components["headers"]["Replayed"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlacedAnswer"];
                };
            };
            400: components["responses"]["InvalidOrder"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoRestaurant"];
            408: components["responses"]["BodyTimeout"];
            409: components["responses"]["InFlight"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["OrderRefused"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            502: components["responses"]["UpstreamRefused"];
            503: components["responses"]["NotSent"];
            504: components["responses"]["OutcomeUnknown"];
        };
    };
    validateOrder: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The language of the sentences in `errors` and `violations`; English and Russian are there.
                 * @example ru
                 */
                "Accept-Language"?: components["parameters"]["Language"];
            };
            path: {
                /**
                 * @description The id of a configured restaurant.
                 * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
                 */
                restaurant: components["parameters"]["Restaurant"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Order"];
            };
        };
        responses: {
            /** @description The verdict. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "Content-Language": components["headers"]["ContentLanguage"];
                    "Larder-Menu-Version": components["headers"]["MenuVersion"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VerdictAnswer"];
                };
            };
            400: components["responses"]["InvalidBody"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoRestaurant"];
            408: components["responses"]["BodyTimeout"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["NoMenu"];
        };
    };
    listProducts: {
        parameters: {
            query?: {
                /**
                 * @description `true` leaves out what is on a stop list.
                 * @example true
                 */
                available?: boolean;
                /** @description The id of a category; those beneath it count too. */
                category?: string;
                /** @description The `next` of the page before; without it the list begins. */
                cursor?: components["parameters"]["Cursor"];
                /** @description How many entries a page has at most. */
                limit?: components["parameters"]["Limit"];
                /**
                 * @description Words of names, descriptions, categories and options, blind to case and marks; one wrong letter is tolerated in long ones. The first 8 distinct ones count.
                 * @example fries
                 */
                q?: string;
            };
            header?: {
                /**
                 * @description What the body may be sent in, by RFC 9110.
                 * @example br, gzip
                 */
                "Accept-Encoding"?: components["parameters"]["AcceptEncoding"];
                /** @description The `Last-Modified` of what the caller has; counts where there is no `If-None-Match`. */
                "If-Modified-Since"?: components["parameters"]["IfModifiedSince"];
                /** @description The `ETag` of what the caller has; 304 where nothing has changed. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description The id of a configured restaurant.
                 * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
                 */
                restaurant: components["parameters"]["Restaurant"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of products. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "Larder-Menu-Version": components["headers"]["MenuVersion"];
                    "Last-Modified": components["headers"]["LastModified"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProductList"];
                };
            };
            /** @description Nothing has changed. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "Larder-Menu-Version": components["headers"]["MenuVersion"];
                    "Last-Modified": components["headers"]["LastModified"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidParameter"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoRestaurant"];
            406: components["responses"]["NotAcceptable"];
            500: components["responses"]["Internal"];
            503: components["responses"]["NoMenu"];
        };
    };
    getProduct: {
        parameters: {
            query?: {
                /** @description What `id` is. */
                by?: "id" | "externalId";
            };
            header?: {
                /**
                 * @description What the body may be sent in, by RFC 9110.
                 * @example br, gzip
                 */
                "Accept-Encoding"?: components["parameters"]["AcceptEncoding"];
                /** @description The `Last-Modified` of what the caller has; counts where there is no `If-None-Match`. */
                "If-Modified-Since"?: components["parameters"]["IfModifiedSince"];
                /** @description The `ETag` of what the caller has; 304 where nothing has changed. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description The id of the product, or with `by` its externalId.
                 * @example dish-fries
                 */
                id: string;
                /**
                 * @description The id of a configured restaurant.
                 * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
                 */
                restaurant: components["parameters"]["Restaurant"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The product. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "Content-Encoding": components["headers"]["ContentEncoding"];
                    ETag: components["headers"]["ETag"];
                    "Larder-Menu-Version": components["headers"]["MenuVersion"];
                    "Last-Modified": components["headers"]["LastModified"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProductAnswer"];
                };
            };
            /** @description Nothing has changed. */
            304: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "Larder-Menu-Version": components["headers"]["MenuVersion"];
                    "Last-Modified": components["headers"]["LastModified"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidParameter"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoProduct"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["AmbiguousProduct"];
            500: components["responses"]["Internal"];
            503: components["responses"]["NoMenu"];
        };
    };
}
