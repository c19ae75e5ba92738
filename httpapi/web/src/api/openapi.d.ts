// Made of the API document by openapi-typescript 7.13.0: make api-types. DO NOT EDIT.
// openapi.yaml: 90cb07dc7542852e0a915b867f0fd670a1d2a18d4f1c4d77e6c8262b7d1828fb
// what follows: a5487ce3f41967f55e23186761ab8e5700e213d6bf3810b92dc260fec2ddbc46
export interface paths {
    "/.well-known/oauth-authorization-server": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the metadata of the token endpoint
         * @description The metadata of RFC 8414, with which OAuth clients configure themselves. Addresses begin with the scheme and host of the request.
         */
        get: operations["getTokenMetadata"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
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
         * @description OAuth 2.0 client credentials. After 10 failures per minute of a client from an address (`http.rate.token_failures`), or 30 from an address (`http.rate.address_failures`), a wrong secret is answered 429. A correct secret is never rejected.
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
         * @description Absent if `http.docs` is false. The page loads no external resources.
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
         * @description The scripts and styles of the page.
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
         * @description Answers while the process is running.
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
         * @description `http.metrics` sets who may read it: tokens with the scope `ops`, everyone, or nobody. The default is `ops`, or everyone if `http.ops_listen` is set.
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
    "/openapi.d.ts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the types of this document for TypeScript
         * @description The types of all paths, schemas and operations, made by openapi-typescript.
         */
        get: operations["getDocumentTypes"];
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
         * @description The API document as JSON.
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
         * @description The API document as YAML.
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
         * @description Reads the session cookie of the browser.
         */
        get: operations["getSession"];
        put?: never;
        /**
         * Sign in
         * @description Requires a client with the scope `ops`, or `ops.read` to change nothing. The session lasts `auth.session_lifetime`. After 5 failures per minute of a client from an address (`http.rate.sign_in_failures`), or 30 from an address (`http.rate.address_failures`), a wrong secret is answered 429. A correct secret is never rejected.
         */
        post: operations["signIn"];
        /**
         * Sign out
         * @description Deletes the session cookie of the browser.
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
         * @description The last menu view of the ordering service with all fields, from memory.
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
         * @description Checks the order and sends it to the ordering service. The body is read as JSON whatever its `Content-Type`. Without a key, an order that is sent twice is placed twice.
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
         * @description Sent to the ordering service once, also for an order that larder did not place.
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
         * @description A restaurantID in the query or the body is accepted and not sent.
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
         * @description The cached list of the ordering service.
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
         * @description With `verbose`, it lists the components.
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
         * @description Server-sent events `menu.updated` (read the menu again) and `menu.availability` (update `products` and `ingredients`). Their data is a `MenuEvent`; the `id` is the version and 8 hex digits. The event `restaurant.availability` has a `RestaurantEvent` and no `id`: operators have changed whether orders are accepted. Events describe the current state, not a history. A comment is sent every 15 s (`http.events.heartbeat`). `retry` is the delay before a reconnect.
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
         * @description The last 10,000 actions, newest first. A page can be short if the filter matches few of them.
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
    "/v1/ops/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List changes of all menus
         * @description The runs of all restaurants that published another content, newest first: the latest `sync.run_index` ones. Runs that only changed stop lists are not listed. For a client with one connection, a page can be short.
         */
        get: operations["listChanges"];
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
         * @description Server-sent events without ids, from all instances. `reset` is the first event and is sent again if events may have been lost: read the lists again. `run.started` and `run.finished` have a `Run`, `sync.progress` has a `Progress`. At most 100 streams can be open.
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
         * Accept restored data, so that orders are sent again
         * @description New orders, payments, completions and rejections of a connection are paused (`journal_restored`) when Redis lacks orders or changes of orders that an instance has recorded. Find out what is missing before you accept. If several connections are configured, name one in the query or the body. If both name one, they must agree.
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
         * @description Newest first. The state `unknown` selects every order with an unknown outcome.
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
         * @description The sent bodies until they expire, the responses, and the resolutions.
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
    "/v1/ops/orders/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resolve several unknown outcomes with one reason
         * @description Each order is resolved and audited by itself. An order whose outcome is not unknown any more is skipped and named. `done` of a create and `send_again` are possible only for one order.
         */
        post: operations["resolveOrders"];
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
         * @description Sorted by name, or by `sort`. The filter by state and the order use this instance's memory: at most `cache.poll` old, and with thousands of restaurants one second more. The rows are read from Redis.
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
         * @description Also the default menu of a connection.
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
    "/v1/ops/restaurants/{restaurant}/busy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set a longer lead time
         * @description The lead time of all orders until `until`, unless the configured one is longer.
         */
        post: operations["setBusy"];
        /**
         * End the longer lead time
         * @description Changes nothing without one.
         */
        delete: operations["endBusy"];
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
         * @description Ends the hold and syncs the menu.
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
         * @description The problems of the last fetched menu, each with the products concerned.
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
    "/v1/ops/restaurants/{restaurant}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause orders
         * @description No orders of some types, or of all, for a time before `until`. Orders that have begun are not touched.
         */
        post: operations["pauseOrders"];
        /**
         * End a pause
         * @description Ends the pauses of both types. Changes nothing without a pause.
         */
        delete: operations["endPause"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ops/restaurants/{restaurant}/quarantined": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the quarantined menu
         * @description The menu view that the guard did not publish, as the ordering service published it.
         */
        get: operations["getQuarantinedView"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ops/restaurants/{restaurant}/quarantined/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare the served menu with the quarantined one
         * @description The changes that guests would see if the quarantined menu were published.
         */
        get: operations["compareQuarantined"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ops/restaurants/{restaurant}/quarantined/lint": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the lint findings of the quarantined menu
         * @description The problems of the quarantined menu, each with the products concerned.
         */
        get: operations["lintQuarantined"];
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
         * @description Publishes its content as a new version and holds it. Waits for a run in progress, for 10 s by default.
         */
        post: operations["rollBack"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ops/restaurants/{restaurant}/snooze": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take dishes and options off the menu
         * @description They are not sold until `until`. What the ordering service has stopped stays stopped.
         */
        post: operations["snoozeItems"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ops/restaurants/{restaurant}/snooze/{id}": {
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
         * Sell a dish or an option again
         * @description Ends its snooze. Changes nothing without one.
         */
        delete: operations["wakeItem"];
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
         * @description Starts a run, or joins the run in progress.
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
         * @description The changes from `version` to `to`. If only stop lists have changed since a version, the version that has replaced it is compared instead.
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
         * @description Newest first. For a client with one connection, a page can be short.
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
         * @description The duration of each step, the changes and errors. Scheduled runs without changes share one record (`folded`). Such a run is found while it is among the latest `sync.run_index` runs of all restaurants.
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
         * @description The number of restaurants by state, and of orders that need resolving. States are from this instance's memory: at most `cache.poll` old, and with thousands of restaurants one second more.
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
         * @description Syncs every restaurant that the client sees. At most 8 batches can be open.
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
         * @description Available for one day.
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
         * @description Finds only orders of the same client. Guests get only `state`, `total`, `orderID` and `paid`. Send the key in the header, so that it is in no URL, or in the query.
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
         * @description Records are kept for 45 days, guests' data for 7 days.
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
         * @description An order is paid once. Without a key, the same payment gets the first response again, unless the first one was refused.
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
    "/v1/orders/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream the state of an order
         * @description Server-sent events `order.updated`: one at the start, and one after each change. The data is a `GuestOrder`, also for clients with a token. The stream ends after a final state (`closed`, `rejected`, `refused`, `not_sent`). A comment is sent every 15 s (`http.events.heartbeat`). `retry` is the delay before a reconnect.
         */
        get: operations["followOrder"];
        put?: never;
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
         * @description The cached list of the ordering service.
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
         * @description Every restaurant that the caller sees, sorted by id, with the state of its menu. The `ETag` depends only on the body.
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
    "/v1/restaurants/{restaurant}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a restaurant
         * @description One restaurant with its details for guests and the state of its menu. The `ETag` depends only on the body.
         */
        get: operations["getRestaurant"];
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
         * @description For pages that poll for changes of a menu. All lists are empty if nothing has changed.
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
         * @description The served menu for a storefront, from memory. Each scheme and ingredient appears once.
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
         * @description After any connection error, send the same order again with the same key. A repeated response has the same bytes as the first one. Guests may place orders if `auth.public_orders` is enabled.
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
         * @description Well-formed JSON is always answered with 200, with the first 200 violations or with the exact body for the ordering service. The rate limit is 20 per second and address (`http.rate.validate`). An order counts once, and once more for every 8 KiB of its body and every 500 lines.
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
         * @description In menu order. The next page continues after the last product, in a newer version too. With `expand=groups`, a page has at most 1,500 options and groups, so it may have fewer than `limit` products.
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
         * @description Everything that an order form needs: groups with their limits, options, and the groups of options.
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
        Accepts: {
            /** @description From an order to its earliest expected time, such as `60m`. */
            leadTime: string;
            /**
             * Format: date-time
             * @description The next time at which an order may be ready, with the restaurant's offset. null if it is accepted now, if the restaurant does not open any more, or if the end of the pause is not known. An order for this time can be placed already.
             */
            next: string | null;
            /** @description An order for as soon as possible is accepted: the restaurant is open after the lead time. */
            now: boolean;
            /**
             * @description Why it is not accepted: the restaurant is closed after the lead time, or an operator has paused orders.
             * @enum {string|null}
             */
            reason: "closed" | "paused" | null;
        };
        /** @enum {string} */
        Action: "sync" | "force" | "sync_all" | "force_all" | "rollback" | "release" | "pause" | "open" | "busy" | "busy_end" | "snooze" | "wake" | "resolve" | "accept_restore" | "sign_in" | "sign_out";
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
        /** @description One attempt of a call, the end of a call without attempts, or a resolution. Unknown values are null. */
        Attempt: {
            /** Format: date-time */
            at: string | null;
            /** @description The operator who resolved it. */
            by: string | null;
            /** @description The ordering service's code. */
            code: string | null;
            /** @description The duration in milliseconds. */
            ms: number | null;
            operation: components["schemas"]["Operation"];
            outcome: components["schemas"]["Outcome"];
            /** @description The status of the ordering service's response. */
            status: number | null;
            /** @description The number of the attempt in the call; null for other entries. */
            try: number | null;
        };
        /** @description One entry of the audit log. Fields that do not apply are null. */
        AuditEntry: {
            action: components["schemas"]["Action"];
            at: components["schemas"]["Time"];
            batch: string | null;
            client: string;
            /** @description The connection concerned; null for all connections or none. */
            connection: string | null;
            detail: string | null;
            id: string;
            /** @description The order. */
            ref: string | null;
            requestId: string;
            restaurant: string | null;
            /** @description The current name of the restaurant; null if it is not configured, or the client may not see it. */
            restaurantName: string | null;
            run: string | null;
            /** @description The target of a rollback. */
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
        AvailabilityAnswer: {
            result: components["schemas"]["Restrictions"];
        };
        /** @description The progress of a sync of all restaurants. */
        Batch: {
            batch: string;
            by: string;
            /** @description The connection of a client with only one. */
            connection?: string;
            /** @description Finished runs. */
            done: number;
            /** @description Finished runs that failed or were quarantined. */
            failed: number;
            /** @description The first 1,000 runs that failed or were quarantined. */
            faults: components["schemas"]["Run"][];
            /** Format: date-time */
            finishedAt: string | null;
            force: boolean;
            /** @description Finished runs by outcome. */
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
                /** @description The number of restaurants. */
                total: number;
            };
        };
        BusyRequest: {
            /** @description Whole minutes up to 24h, such as `90m`. */
            leadTime: string;
            note?: string | null;
            /** Format: date-time */
            until?: string | null;
        };
        /** @description One call of an order, for operators. */
        Call: {
            /** @description The ordering service's last response. */
            answer: {
                code: string | null;
                msg: string | null;
                requestId: string | null;
                status: number;
            } | null;
            client: string;
            /** @description The outcome of a result that arrived after the resolution and contradicts it. */
            contradicted: components["schemas"]["Outcome"] | null;
            /** Format: date-time */
            endedAt: string | null;
            /** @description The order that a contradicted create made after all. */
            foundOrderID: string | null;
            number: number;
            operation: components["schemas"]["Operation"];
            outcome: components["schemas"]["Outcome"];
            requestId: string;
            /** @description The body that was sent to the ordering service; null for a completion, and after its data has expired. */
            sent: unknown;
            /** @description An operator's resolution. */
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
            /** @description The parent category. */
            parentId: string | null;
        };
        ChangedAnswer: {
            /** @description The order after the change. */
            result: {
                orderID: string;
                paid: boolean;
                ref: components["schemas"]["Ref"];
                /** @enum {string} */
                state: "placed" | "closed" | "rejected";
            };
        };
        ChangeList: {
            next: components["schemas"]["Next"];
            result: {
                /** @description The current name of the restaurant; null for the default menu of a connection, or if it is not configured. */
                restaurantName: string | null;
                run: components["schemas"]["Run"];
            }[];
        };
        ChangesAnswer: {
            /** @description The differences between two versions. Only products are listed. */
            result: {
                /** @description Ids of products. */
                added: string[];
                /** @description Products that became unavailable or available. */
                availability: components["schemas"]["Availability"][];
                changed: {
                    /** @description Field names of the menu; `groups` means any change in the product's groups. */
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
            /** @description The differences between two versions, for people. Each list has the first 500. */
            result: {
                added: components["schemas"]["ComparedDish"][];
                availability: {
                    available: boolean;
                    id: string;
                    name: string;
                }[];
                changed: {
                    fields: {
                        /** @description The value in the newer version. */
                        after: unknown;
                        /** @description The value in the older version. */
                        before: unknown;
                        /** @description Field names of the menu; `groups` means the choices of a dish, without values. */
                        field: string;
                    }[];
                    id: string;
                    name: string;
                }[];
                /** @description The numbers of all differences. */
                counts: {
                    added: number;
                    availability: number;
                    changed: number;
                    removed: number;
                };
                /** @description Null if no menu is served. */
                from: number | null;
                removed: components["schemas"]["ComparedDish"][];
                /** @description Null for the quarantined menu. */
                to: number | null;
            };
        };
        /** @description An error in the ordering service's format. larder's own codes are those of `Problem`. */
        CompatError: {
            code: string;
            errors: components["schemas"]["Violation"][] | null;
            /** @description There are more than the 200 violations in `errors`. Absent otherwise. */
            more?: boolean;
            /** @description A message for people with the reason and the order's ref. */
            msg: string;
            requestId: string;
        };
        /** @description The size of a menu. Orderable products are also available. */
        Counts: {
            /** @description Not on a stop list (out of stock). */
            available: number;
            categories: number;
            /** @description Can be ordered: available, with a price, and groups that can be satisfied. */
            orderable: number;
            products: number;
        };
        Dish: {
            /** @description The id of the dish in the menu, or its externalId. */
            ID: string | number;
            ingredients?: components["schemas"]["Ingredient"][] | null;
            measure?: components["schemas"]["SentMeasure"];
            /** @description Replaced by the value in the menu. */
            name?: string | null;
            /** @description If sent, it must equal the price in the menu; otherwise the violation is `price_changed`. */
            price?: number | null;
            /** @description Units of the dish; an integer, except for dishes sold by weight. */
            quantity: number;
        } & {
            [key: string]: unknown;
        };
        /**
         * @description Stable error codes. Each code has one status.
         * @enum {string}
         */
        ErrorCode: "malformed_json" | "validation_failed" | "restaurant_not_found" | "restaurant_required" | "product_not_found" | "run_not_found" | "batch_not_found" | "version_not_found" | "version_gone" | "sync_busy" | "no_opening" | "connection_not_found" | "connection_required" | "external_id_ambiguous" | "no_catalogue" | "menu_of_another_service" | "no_rejection_reasons" | "idempotency_key_required" | "idempotency_key_reused" | "idempotency_key_in_flight" | "order_not_found" | "order_ambiguous" | "order_of_another_service" | "order_busy" | "outcome_unknown" | "order_state" | "order_id_taken" | "order_outcome_unknown" | "journal_unavailable" | "journal_format" | "journal_restored" | "upstream_refused" | "upstream_unavailable" | "upstream_busy" | "storage_unavailable" | "streams_unavailable" | "rate_limited" | "unauthorized" | "forbidden" | "invalid_parameter" | "not_found" | "method_not_allowed" | "not_acceptable" | "request_timeout" | "payload_too_large" | "unsupported_media_type" | "internal";
        /** @description One problem in a published menu. */
        Finding: {
            /** @description A code of docs/lint.md. */
            code: string;
            /** @description The products concerned, with names, if they are in the served menu. */
            dishes: {
                id: string;
                name: string;
                orderable: boolean;
            }[];
            /** @description The ids concerned, by kind. */
            ids: {
                [key: string]: string;
            };
            msg: string;
            /** @description The products concerned. */
            products: string[] | null;
            /**
             * @description An error makes something unavailable to guests.
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
             * @description Skips the comparison with the last fetch, and the guard.
             * @default false
             */
            force: boolean;
        };
        /** @description The age of a menu compared with its schedule. */
        Freshness: {
            /** @description The time since a sync last confirmed the menu. */
            ageSeconds: number | null;
            /** @description The time between two runs. */
            everySeconds: number | null;
            /**
             * Format: date-time
             * @description The time of the next run.
             */
            nextAt: string | null;
            schedule: string;
            /** @description The age from which the menu is stale. */
            staleSeconds: number | null;
            timeZone: string;
        };
        /** @description A group with its options, and its limits for one unit of the dish. */
        Group: {
            id: string;
            /** @description The maximum for one unit of the dish; null means no limit. */
            max: number | null;
            /** @description The minimum for one unit of the dish. */
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
        /** @description The fields of an order that guests may read. */
        GuestOrder: {
            orderID: string | null;
            paid: boolean;
            /** @description Of a rejection on `/v1`: its `rejectionReasonText`, while guest data is kept. Missing without one. */
            reason?: string;
            state: components["schemas"]["OrderState"];
            total: number | null;
            /**
             * @description A change whose outcome is unknown: the order may be paid, closed or rejected already. Missing without one.
             * @enum {unknown}
             */
            unknownChange?: "pay" | "complete" | "reject";
        };
        /**
         * @description The end of a hold. `next_change`: the ordering service publishes another menu than at the rollback. `released`: only its release.
         * @enum {string}
         */
        Hold: "next_change" | "released";
        Ingredient: {
            /** @description The group of the choice, if the ingredient is in several groups. By default, larder assigns one. */
            groupId?: string | null;
            /** @description The id of the ingredient in the menu, or its externalId. */
            ID: string | number;
            /** @description For a component of a combo: the choices of its own groups. */
            ingredients?: components["schemas"]["Ingredient"][] | null;
            measure?: components["schemas"]["SentMeasure"];
            name?: string | null;
            price?: number | null;
            /** @description For one unit of the dish; the default is 1. */
            quantity?: number | null;
        } & {
            [key: string]: unknown;
        };
        /** @description The connection whose restored journal is accepted. The body is optional. */
        JournalAccept: {
            /**
             * @description The name of a connection
             * @example main
             */
            connection?: string;
        };
        JournalAcceptance: {
            result: {
                /** @description False if orders of the connection were not paused. */
                accepted: boolean;
                connection: string;
            };
        };
        KeptPayment: {
            amount: components["schemas"]["Money"];
            code: string;
            /**
             * Format: date-time
             * @description The value of the request, as it was sent to the ordering service.
             */
            paidAt: string;
        };
        /** @description One dish with its price. Values that could not be read or computed are null. */
        Line: {
            /** @description The id in the menu, or the id in the request if the menu has no such dish. */
            id: string;
            name: string;
            /** @description A JSON Pointer into the body. */
            path: string;
            /** @description The price of one unit of the dish without ingredients. */
            price: number | null;
            quantity: number | null;
            /** @description The total of the line with ingredients. */
            total: number | null;
        };
        /** @description The record of an order in the operators' list. */
        ListedOrder: {
            /** @description Not placed through larder. The record has only the changes that were made through larder. */
            adopted: boolean;
            attempts: components["schemas"]["Attempt"][];
            /** @description The client that placed the order; `(public)` for a guest. */
            client: string;
            connection: string;
            /** Format: date-time */
            createdAt: string | null;
            /** Format: date-time */
            expectedAt: string | null;
            /** @description The menu version that the order was checked against. */
            menuVersion: number | null;
            orderID: string | null;
            paid: boolean;
            payments: components["schemas"]["KeptPayment"][];
            ref: components["schemas"]["Ref"];
            restaurant: string | null;
            /** @description The name of the restaurant. */
            restaurantName: string | null;
            state: components["schemas"]["OrderState"];
            total: number | null;
            unknown: components["schemas"]["UnknownOutcome"];
            /** Format: date-time */
            updatedAt: string | null;
        };
        /** @description A serving. */
        Measure: {
            /** @description `kg`, `liter` or `pcs`; null if the menu has none. */
            unit: string | null;
            /** @description Its size. */
            value: number;
        };
        /** @description A whole menu, normalized: each scheme and ingredient appears once. The body depends only on the version. */
        Menu: {
            /** @description Parents come before their children. */
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
        /** @description An ingredient or modifier. With its own scheme, it is a component of a combo. */
        MenuIngredient: {
            /** @description Not on a stop list (out of stock). */
            available: boolean;
            description: string;
            externalId: string | null;
            id: string;
            imageUrls: string[];
            measure: components["schemas"]["Measure"] | null;
            name: string;
            /** @description Can be chosen now. */
            orderable: boolean;
            price: components["schemas"]["MenuPrice"];
            /** @description Why it is not orderable. */
            reasons: components["schemas"]["Reason"][];
            schemeId: string | null;
        };
        /** @description Null if the ordering service sent no valid price. The product or option is then not orderable. */
        MenuPrice: components["schemas"]["Money"] | null;
        /**
         * @description `missing`: there is no menu. `failed`, `quarantined`, `waiting`: the outcome of the last run. `stale`: not confirmed for too long. `held`: a rollback holds the menu. `paused`: an operator has paused orders of a type, or all.
         * @enum {string}
         */
        MenuState: "missing" | "failed" | "quarantined" | "waiting" | "stale" | "held" | "paused";
        /** @description The last menu view of the ordering service with all fields, including those that larder does not know. */
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
        /** @description Values of the menu for one serving. */
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
            /** @description The record with everything that is needed to resolve it. */
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
                /** @description The value of `restaurants[].address`. */
                restaurantAddress: string | null;
                /** @description The name of the restaurant. */
                restaurantName: string | null;
                /** @description The phone number in `restaurants[].phone`. */
                restaurantPhone: string | null;
                state: components["schemas"]["OrderState"];
                total: number | null;
                unknown: components["schemas"]["UnknownOutcome"];
                /** Format: date-time */
                updatedAt: string | null;
            };
        };
        /** @description A restaurant in the operators' list. The fields of its menu are null until there is one. */
        OpsRestaurant: {
            /** @description Why the last run failed, was quarantined or did not ask; else null. */
            cause: string | null;
            /** Format: date-time */
            checkedAt: string | null;
            connection: string;
            counts: components["schemas"]["Counts"] | null;
            freshness: components["schemas"]["Freshness"];
            held: boolean;
            id: string;
            lastOutcome: string | null;
            /**
             * Format: date-time
             * @description When the last run confirmed the menu or failed.
             */
            lastRunAt: string | null;
            name: string;
            stale: boolean;
            /** @description Empty if there is no problem. */
            states: components["schemas"]["MenuState"][];
            /** Format: date-time */
            syncedAt: string | null;
            version: number | null;
        };
        OpsRestaurantAnswer: {
            /** @description The restaurant with its last run. */
            result: {
                /** @description The value of `restaurants[].address`. */
                address: string | null;
                availability: components["schemas"]["Restrictions"];
                /** @description Why the last run failed, was quarantined or did not ask; else null. */
                cause: string | null;
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
                /**
                 * Format: date-time
                 * @description When the last run confirmed the menu or failed.
                 */
                lastRunAt: string | null;
                name: string;
                /** @description The value of `restaurants[].phone`. */
                phone: string | null;
                stale: boolean;
                /** @description Empty if there is no problem. */
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
        /** @description An option of a group. With its own groups, it is a component of a combo. */
        Option: {
            /** @description Not on a stop list (out of stock). */
            available: boolean;
            description: string;
            externalId: string | null;
            groups: components["schemas"]["Group"][];
            id: string;
            imageUrls: string[];
            measure: components["schemas"]["Measure"] | null;
            name: string;
            /** @description Can be chosen now. */
            orderable: boolean;
            price: components["schemas"]["MenuPrice"];
            /** @description Why it is not orderable. */
            reasons: components["schemas"]["Reason"][];
            schemeId: string | null;
        };
        /** @description An order in the format of the ordering service. Field names ignore case and underscores (`restaurantId`), ids may be numbers, and numbers may be in quotes. A pickup order requires `dishList`, `expeditionType`, `paymentTypeID`, and `expectedAt` or `soonest`. A delivery also requires `guest.phone` and, in `address`, `street`, `cityName`, `houseNumber` and `fullAddress`. A missing `fullAddress` is composed of the others. `ordering.required` changes the required fields. Unknown fields are sent to the ordering service by the compatible API, and dropped by `/v1`. */
        Order: {
            address?: components["schemas"]["Address"] | null;
            /** @description Only with `cash`: the amount that the guest needs change for, with at most `ordering.price_digits` decimals, from the total to 100 times the total plus 1,000,000. 0 means none. */
            changeFrom?: number | null;
            comment?: string | null;
            dishList: components["schemas"]["Dish"][];
            /**
             * Format: date-time
             * @description ISO 8601 with a UTC offset (`Z`, `±hh`, `±hhmm` or `±hh:mm`), with or without seconds. The ordering service gets it with seconds, as `Z` or `±hh:mm`. Not in the past, and at most 30 days ahead (`ordering.max_lead`).
             */
            expectedAt?: string | null;
            /** @enum {string} */
            expeditionType: "delivery" | "pickup";
            guest?: components["schemas"]["Guest"] | null;
            /** @enum {string} */
            paymentTypeID: "cash" | "card" | "online";
            /** @description 0 means not given, and is not sent. */
            persons?: number | null;
            /** @description Optional on `/v1`, where the path has the restaurant. */
            restaurantID?: string | number | null;
            /** @description As soon as possible, instead of `expectedAt`. */
            soonest?: boolean | null;
        } & {
            [key: string]: unknown;
        };
        OrderAnswer: {
            result: components["schemas"]["OrderRecord"];
        };
        OrderByKeyAnswer: {
            /** @description Guests get the second form. */
            result: components["schemas"]["OrderRecord"] | components["schemas"]["GuestOrder"];
        };
        OrderList: {
            next: components["schemas"]["Next"];
            /** @description Connections whose Redis may have lost orders, which the list does not have then. Orders of them are paused until an operator accepts that. */
            paused: string[];
            result: components["schemas"]["ListedOrder"][];
            /** @description What is missing in the list, because another version of larder wrote it. If nothing can be listed then, the response is 503 `journal_format`. */
            unreadable: {
                connection: string;
                /** @description For all orders: what Redis has instead of the format of this version. */
                found?: string;
                /** @description One order; null for all orders of the connection. */
                ref: string | null;
            }[];
        };
        /** @description The record of an order. Unknown values are null. */
        OrderRecord: {
            /** @description Not placed through larder. The record has only the changes that were made through larder. */
            adopted: boolean;
            attempts: components["schemas"]["Attempt"][];
            /** @description The client that placed the order; `(public)` for a guest. */
            client: string;
            connection: string;
            /** Format: date-time */
            createdAt: string | null;
            /** Format: date-time */
            expectedAt: string | null;
            /** @description The menu version that the order was checked against. */
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
         * @description The outcome of a call; empty while it is in progress.
         * @enum {string}
         */
        Outcome: "" | "done" | "refused" | "not_sent" | "unknown";
        Part: {
            msg: string;
            ok: boolean;
        };
        /** @description The ordering service's response with its status, type and body. If the body is longer than 64 KiB, a success is `{"result": {}}`, with the `orderID` of a new order, and an error has its code and message. */
        Passed: unknown;
        PauseRequest: {
            /** @description Both if it is empty or absent. Pauses of other types stay. */
            expeditionTypes?: ("delivery" | "pickup")[];
            note?: string | null;
            /**
             * Format: date-time
             * @description At most a year ahead. Absent or null: until an operator ends it.
             */
            until?: string | null;
        };
        Payment: {
            amount: number;
            /** @description The GUID of the currency in the POS. */
            code: string | number;
            /** @description May be empty. */
            name?: string | null;
            /**
             * Format: date-time
             * @description ISO 8601 with a UTC offset (`Z`, `±hh`, `±hhmm` or `±hh:mm`), with or without seconds. The ordering service gets it with seconds, as `Z` or `±hh:mm`.
             */
            paidAt: string;
        } & {
            [key: string]: unknown;
        };
        /** @description The payments, which must cover the order's total. */
        Payments: components["schemas"]["Payment"][];
        PlacedAnswer: {
            result: {
                /**
                 * Format: date-time
                 * @description The time that larder sent to the ordering service: the order's `expectedAt`, or for `soonest` the time of the request plus the lead time. The restaurant has not promised it. null if the order has no time.
                 */
                expectedAt: string | null;
                /** @description The ordering service's id. */
                orderID: string;
                ref: components["schemas"]["Ref"];
                /** @constant */
                state: "placed";
                total: components["schemas"]["Money"];
            };
        };
        /** @description An error of RFC 9457, with the ordering service's four fields. */
        Problem: {
            code: components["schemas"]["ErrorCode"];
            /** @description The reason and what to do. */
            detail: string;
            /** @description The first 200 violations of an order. For other codes, one entry with the params. */
            errors: components["schemas"]["Violation"][] | null;
            /** @description The path of the request, cut if it is long; for a replay, of the first request. */
            instance: string;
            /** @description There are more than the 200 violations in `errors`. Absent otherwise. */
            more?: boolean;
            /** @description The same as `detail`. */
            msg: string;
            ref?: components["schemas"]["Ref"];
            /** @description The id of the request; for a replay, of the first request. */
            requestId: string;
            status: number;
            title: string;
            /** @description `urn:larder:problem:` and the code. */
            type: string;
            /** @description The ordering service's response. */
            upstream?: {
                code: string;
                /** @description The errors in its response. */
                errors?: unknown;
                msg: string;
                requestId: string;
                status: number;
            };
        };
        /** @description A dish. */
        Product: {
            /** @description Not on a stop list (out of stock). */
            available: boolean;
            /** @description The first of `categoryIds`, or null. */
            categoryId: string | null;
            /** @description Every category that lists the dish, without duplicates. */
            categoryIds: string[];
            description: string;
            /** @description The id in the POS, which sent orders use. */
            externalId: string | null;
            /** @description Only in a list with `expand=groups`. */
            groups?: components["schemas"]["Group"][];
            id: string;
            imageUrls: string[];
            measure: components["schemas"]["Measure"] | null;
            name: string;
            nutrition: components["schemas"]["Nutrition"] | null;
            /** @description Can be ordered now. */
            orderable: boolean;
            price: components["schemas"]["MenuPrice"];
            /** @description Why it is not orderable. */
            reasons: components["schemas"]["Reason"][];
            /** @description The scheme with the groups of the dish. */
            schemeId: string | null;
            /** @description Only in a list with `expand=groups`: true if the product has more than 1,500 options and groups, and the others are left out. */
            truncated?: boolean;
        };
        ProductAnswer: {
            /** @description One dish with everything that an order form needs. */
            result: {
                available: boolean;
                /** @description The first of `categoryIds`, or null. */
                categoryId: string | null;
                /** @description Every category that lists the dish, without duplicates. */
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
                /** @description True if the product has more than 20,000 options and groups: the others are left out. */
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
            /** @description With `?verbose`: the state of each component. */
            parts?: {
                catalogues: components["schemas"]["Part"];
                connections: {
                    [key: string]: {
                        msg: string;
                        ok: boolean;
                        token: components["schemas"]["TokenState"];
                    };
                };
                /** @description Connections that are not configured any more and still have orders; absent if there are none. */
                formerConnections?: {
                    [key: string]: components["schemas"]["Part"];
                };
                journal: components["schemas"]["Part"];
                redis: components["schemas"]["Part"];
            };
            /** @enum {string} */
            status: "ok" | "degraded" | "unready";
        };
        /** @description Why a product or option cannot be ordered. */
        Reason: {
            /**
             * @description `stopped`: on the stop list. `group_unsatisfiable`: too few options of `group` are available. `no_external_id`: the menu has no externalId for the order. `price_invalid`: the price is missing or invalid.
             *         `too_deep` (of a product): its required groups need more levels than an order may have (`ordering.max_depth`).
             * @enum {string}
             */
            code: "stopped" | "group_unsatisfiable" | "no_external_id" | "price_invalid" | "too_deep";
            /** @description The group, for `group_unsatisfiable`. */
            group?: string;
        };
        /** @description larder's own id of an order, 26 characters. */
        Ref: string;
        /** @description A rejection reason of the ordering service. Both fields are empty if it has none. */
        Rejection: {
            rejectionReasonID?: string | number | null;
            /** @description Free text; required for a reason of the type `text`. */
            rejectionReasonText?: string | null;
            /** @description Accepted and ignored. */
            restaurantID?: string | number | null;
        } & {
            [key: string]: unknown;
        };
        RejectionReason: {
            ID: string;
            isPossibleDelete: boolean;
            reason: string;
            /** @description `simple`, or `text` for a reason that needs a text. */
            type: string;
        };
        RejectionReasons: {
            result: components["schemas"]["RejectionReason"][];
        };
        /** @description An operator's resolution of an unknown outcome. It cannot be changed. */
        Resolution: {
            /** @description The number of the call that you have asked about, from the order's `calls`. If it is not unknown any more, the response is 409 `order_state`. Without it, the last unknown call of the operation is resolved. */
            call?: number | null;
            /** @description Stored with the order, for example who confirmed it. */
            note?: string | null;
            operation: components["schemas"]["Operation"];
            /** @description For a create that is `done`: the ordering service's id. */
            orderID?: string | number | null;
            /**
             * @description `done`: the operation took effect. `not_done`: it did not, and will not. `send_again`: it did not; larder sends it again once, if its data has not expired.
             * @enum {string}
             */
            outcome: "done" | "not_done" | "send_again";
        };
        /** @description One resolution of several orders with an unknown outcome. It cannot be changed. */
        Resolutions: {
            /** @description The numbers of the calls that you have asked about, by ref (`unknown.call` of the list). An order whose call is not unknown any more is skipped. Without a number, the last unknown call of the operation is resolved. */
            calls?: {
                [key: string]: number;
            } | null;
            /** @description Stored with each order, for example who confirmed it. */
            note?: string | null;
            operation: components["schemas"]["Operation"];
            /**
             * @description `done` is possible for pay, complete and reject. A created order that is `done` needs its own orderID.
             * @enum {string}
             */
            outcome: "done" | "not_done";
            /** @description The orders. Each is resolved once. */
            refs: string[];
        };
        ResolvedOrders: {
            result: {
                /** @description Why it was skipped, with the codes of the route for one order: `order_state` means that the outcome is not unknown any more. */
                code: string | null;
                msg: string | null;
                ref: string;
                /** @description false: the order was skipped, and nothing was changed. */
                resolved: boolean;
                /** @description The state of a resolved order. */
                state: components["schemas"]["OrderState"] | null;
            }[];
        };
        /** @description A restaurant. The fields of its menu are null until there is one. */
        Restaurant: {
            /** @description Whether the restaurant accepts orders for as soon as possible, by type of order. */
            accepts: {
                delivery: components["schemas"]["Accepts"];
                pickup: components["schemas"]["Accepts"];
            };
            /** @description The postal address, `restaurants[].address`. */
            address: string | null;
            /**
             * Format: date-time
             * @description When a sync last confirmed it with the ordering service.
             */
            checkedAt: string | null;
            /** @description The connection of the restaurant; null without a token. */
            connection: string | null;
            counts: components["schemas"]["Counts"] | null;
            /** @description Fee and area of the delivery in the restaurant's words, `restaurants[].delivery_terms`. */
            deliveryTerms: string | null;
            /** @description The phone number for guests, `restaurants[].guest_phone`. */
            guestPhone: string | null;
            /** @description A rollback holds this menu. */
            held: boolean;
            /** @description Only in `GET /v1/restaurants/{restaurant}`: the times of today and the next seven days at which an order may be ready, with the restaurant's offset. null for a type of order that has no hours: it is accepted at any time. */
            hours?: {
                delivery: components["schemas"]["Span"][] | null;
                pickup: components["schemas"]["Span"][] | null;
            };
            id: components["schemas"]["RestaurantID"];
            /**
             * @description The outcome of the last run.
             * @enum {string|null}
             */
            lastOutcome: "updated" | "unchanged" | "quarantined" | "held" | "failed" | "waiting" | "skipped" | null;
            /** @description The configured name, or the name of the menu view. */
            name: string;
            /** @description Only in `GET /v1/restaurants/{restaurant}`: dishes and options that operators have taken off the menu. They look sold out. */
            snoozed?: {
                id: string;
                /**
                 * Format: date-time
                 * @description When it returns; null if that is not known, or if the ordering service has stopped it too.
                 */
                until: string | null;
            }[];
            /** @description Not confirmed for more than `sync.stale_after` intervals of the schedule. */
            stale: boolean;
            /**
             * Format: date-time
             * @description When the content last changed.
             */
            syncedAt: string | null;
            /** @description The IANA name of the time zone, `restaurants[].time_zone`. Null means UTC. */
            timeZone: string | null;
            /** @description The version of the served menu. */
            version: number | null;
        };
        RestaurantAnswer: {
            result: components["schemas"]["Restaurant"];
        };
        /** @description The data of `restaurant.availability`. */
        RestaurantEvent: {
            accepts: {
                delivery: components["schemas"]["Accepts"];
                pickup: components["schemas"]["Accepts"];
            };
            restaurant: components["schemas"]["RestaurantID"];
        };
        /** @description The id of a restaurant, as configured. */
        RestaurantID: string;
        RestaurantList: {
            next: components["schemas"]["Next"];
            result: components["schemas"]["Restaurant"][];
        };
        Restriction: {
            /** Format: date-time */
            at: string;
            /** @description The client of the operator. */
            by: string;
            /** @description For operators. Guests do not see it. */
            note: string;
            /**
             * Format: date-time
             * @description The end; null: until an operator ends it.
             */
            until: string | null;
        };
        /** @description What operators have said about a restaurant and holds now. */
        Restrictions: {
            busy: {
                /** Format: date-time */
                at: string;
                by: string;
                /** @description Whole minutes, such as `90m`. */
                leadTime: string;
                note: string;
                /** Format: date-time */
                until: string | null;
            } | null;
            /** @description How long an order takes at least now, in whole minutes. */
            leadTime: {
                /** @description Such as `60m`. */
                delivery: string;
                pickup: string;
            };
            /**
             * Format: date-time
             * @description When the restaurant opens next; if it is open, after it has closed. null: not known, as without hours.
             */
            nextOpening: string | null;
            pause: {
                delivery: components["schemas"]["Restriction"] | null;
                pickup: components["schemas"]["Restriction"] | null;
            };
            /**
             * Format: date-time
             * @description When the last complete poll of this instance began. While Redis is down, the last known state holds. null: never.
             */
            readAt: string | null;
            snoozed: {
                /** Format: date-time */
                at: string;
                by: string;
                id: string;
                /**
                 * @description Absent if the menu has neither with this id.
                 * @enum {string}
                 */
                kind?: "dish" | "option";
                /** @description Of the dish or option; its id if the menu has no name. */
                name: string;
                note: string;
                /** Format: date-time */
                until: string | null;
            }[];
        };
        Rollback: {
            /** @default next_change */
            hold: components["schemas"]["Hold"];
            /** @description A version in the history. */
            version: number;
        };
        /** @description One sync of one restaurant. */
        Run: {
            /** @description The clients that requested or joined it, in that order; `(order)` for a refused order. */
            by: string[];
            /** @description The size of the fetched menu view; 0 if the ordering service answered 304. */
            bytes: number;
            /** @description The numbers of products that an updated run added, removed and changed. */
            changes: {
                added: number;
                changed: number;
                removed: number;
            };
            /** @description For people: what failed, and what was tried. */
            error: string | null;
            /** @description The number of findings of lint. */
            findings: number;
            /** Format: date-time */
            finishedAt: string | null;
            /** @description Consecutive scheduled runs without changes share one record. The other fields are those of the last run. */
            folded?: {
                /** @description The number of runs, including the last one. */
                count: number;
                /** @description The id of the first run. */
                first: string;
                /** Format: date-time */
                firstAt: string;
            };
            /** @description The comparison with the last fetch and the guard were skipped. */
            force: boolean;
            /** @description The version that was served before, if the run published another content than that. */
            from?: number;
            /** @description 26 characters that sort by the time of the request. */
            id: string;
            outcome: components["schemas"]["RunOutcome"] | null;
            products: number;
            /** @description The restaurant, or `@` and a connection's name. */
            restaurant: string;
            /** @description The target of a rollback. */
            rollback?: {
                hold: components["schemas"]["Hold"];
                version: number;
            };
            /**
             * Format: date-time
             * @description When it started; while it is queued, when it was requested.
             */
            startedAt: string | null;
            /** @enum {string} */
            state: "queued" | "running" | "finished";
            /** @description The duration of each step in milliseconds. Steps that were not reached are absent. */
            steps: {
                compile?: number;
                decode?: number;
                fetch?: number;
                lint?: number;
                publish?: number;
            };
            /** @enum {string} */
            trigger: "cron" | "manual" | "startup";
            /** @description The version that was served when it finished; 0 if none. */
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
         * @description `updated`: a new version was published. `unchanged`: the served menu was confirmed. `quarantined`: the guard rejected a menu that is empty or lost too many dishes. `held`: a rollback holds the menu. `failed`: the last good menu is still served. `waiting`: because of a circuit breaker, the ordering service was not asked; the last good menu is still served. `skipped`: another run did the work or is doing it.
         * @enum {string}
         */
        RunOutcome: "updated" | "unchanged" | "quarantined" | "held" | "failed" | "waiting" | "skipped";
        Scheme: {
            groups: components["schemas"]["SchemeGroup"][];
            id: string;
        };
        /** @description A group of a scheme, with its limits for one unit of the dish. */
        SchemeGroup: {
            id: string;
            /** @description The maximum for one unit of the dish; null means no limit. */
            max: number | null;
            /** @description The minimum for one unit of the dish. */
            min: number;
            name: string;
            /** @description The ids of the ingredients to choose from. */
            options: string[];
        };
        /** @description Replaced by the value in the menu. */
        SentMeasure: ({
            unit?: string | null;
            value?: number | null;
        } & {
            [key: string]: unknown;
        }) | null;
        /** @description The exact body for the ordering service: the order with externalIds, names, prices and measures of the menu, and with the components of a combo side by side. `connections[].field_case` sets the spelling of its field names. */
        SentOrder: {
            [key: string]: unknown;
        };
        /** @description The signed-in client. */
        Session: {
            client: string;
            /** @description The only connection that the client sees; null for all. */
            connection: string | null;
            expiresAt: components["schemas"]["Time"];
            /** @description Without `ops`, the client may read everything and change nothing. */
            scopes: ("ops" | "ops.read")[];
            /** @description The version of larder. */
            version: string;
        };
        SessionAnswer: {
            /** @description Null without a session. */
            result: components["schemas"]["Session"] | null;
        };
        SignIn: {
            /** @description The id of a client with the scope `ops` or `ops.read`. */
            client: string;
            secret: string;
        };
        SnoozeRequest: {
            /** @description Ids of dishes and options of the menu. */
            ids: string[];
            note?: string | null;
            /** @description A time with its offset, or `next_open`: when the restaurant opens next. Absent or null: until an operator ends it. */
            until?: string | null;
        };
        Span: {
            /** Format: date-time */
            from: string;
            /**
             * Format: date-time
             * @description Does not belong to the interval.
             */
            to: string;
        };
        SummaryAnswer: {
            result: {
                /** @description There are more than the counted ones. */
                moreUnknownOrders: boolean;
                /** @description Connections whose Redis may have lost orders, which are not counted then. */
                paused: string[];
                restaurants: number;
                /** @description The number of restaurants by state. `attention` counts those that are `missing`, `failed`, `quarantined` or `stale`, `ok` those in no state. */
                states: {
                    [key: string]: number;
                };
                /** @description By connection, those whose token endpoint returned no token to the last request. */
                tokens: {
                    [key: string]: {
                        msg: string;
                        /** @description The old token is still valid. */
                        ok: boolean;
                        state: components["schemas"]["TokenState"];
                    };
                };
                /** @description Orders that need resolving; null if the journal cannot be read. */
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
        /** @description An error of RFC 6749, section 5.2. */
        TokenError: {
            /** @enum {string} */
            error: "invalid_request" | "invalid_client" | "invalid_scope" | "unsupported_grant_type" | "rate_limited" | "storage_unavailable" | "internal";
            error_description: string;
        };
        TokenMetadata: {
            grant_types_supported: "client_credentials"[];
            /** Format: uri */
            issuer: string;
            /** @description Empty: there is no authorization endpoint. */
            response_types_supported: string[];
            scopes_supported: ("menu" | "orders" | "ops" | "ops.read" | "sync")[];
            /** Format: uri */
            service_documentation: string;
            /** Format: uri */
            token_endpoint: string;
            token_endpoint_auth_methods_supported: ("client_secret_basic" | "client_secret_post")[];
        };
        /** @description Field names ignore case and underscores. The client may be in HTTP Basic instead. */
        TokenRequest: {
            client_ID?: string;
            client_secret?: string;
            /** @constant */
            grant_type: "client_credentials";
            /** @description Scopes separated by spaces or commas; `scope` means the same. The default is all scopes of the client. */
            scopes?: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * @description The token of a connection. `none`: none was needed, or the last one has expired. `waiting`: the token endpoint said when to ask again. `refused`: it refused the last request. `failing`: it did not answer, or with an error of its own. In the last three states, the old token may still be valid.
         * @enum {string}
         */
        TokenState: "none" | "valid" | "waiting" | "refused" | "failing";
        /** @description What a person needs to find out about an unknown outcome; null for other orders. */
        UnknownOutcome: {
            /** @description The number of the call in `calls`. Send it when you resolve it. */
            call: number;
            /** @description Its code. */
            code: string | null;
            /** @description The guest's phone number, until the data of the order expires. */
            guestPhone: string | null;
            /** @description Its message. */
            msg: string | null;
            operation: components["schemas"]["Operation"];
            /** @description The phone number in `restaurants[].phone`. */
            restaurantPhone: string | null;
            /** @description The status of the ordering service's last response. */
            status: number | null;
        } | null;
        ValidationAnswer: {
            /** @description The violations and the total of an order. */
            result: {
                lines: components["schemas"]["Line"][];
                /** @description There are more than 200 violations. Checking stopped there, and `lines` has the checked lines. Absent otherwise. */
                more?: boolean;
                /** @description The body that would be sent; null if the order is not valid. */
                order: components["schemas"]["SentOrder"] | null;
                /** @description The sum of the lines; null if a line has no price. */
                total: number | null;
                /** @description The order in `order` can be placed. */
                valid: boolean;
                /** @description The menu version that the order was checked against. */
                version: number;
                /** @description The first 200 violations, in the order of the body. */
                violations: components["schemas"]["Violation"][];
            };
        };
        Version: {
            /** @description The size of the published menu view. */
            bytes: number;
            /** @description The hash of the menu without its stop lists. */
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
        /** @description One violation in a request. */
        Violation: {
            /** @description For `validation_failed`, the code of the violation. For other problems, the code of the problem. */
            code: components["schemas"]["ViolationCode"] | components["schemas"]["ErrorCode"];
            /** @description A message for people. Messages of violations are in the language of `Accept-Language`. */
            msg: string;
            /** @description The parameters of the code. If `group_min` or `group_max` is about a group of a part of a dish, `parent` has the part's `id` and `name`. */
            params: {
                [key: string]: unknown;
            };
            /** @description A JSON Pointer into the request's body, in its spelling. Empty for the whole body, and if no field is concerned. */
            path: string;
        };
        /**
         * @description A violation of an order, a payment or a rejection. docs/violations.md lists the params of each code.
         * @enum {string}
         */
        ViolationCode: "dish_not_in_menu" | "dish_unavailable" | "dish_not_orderable" | "external_id_ambiguous" | "id_conflict" | "quantity_not_positive" | "quantity_not_whole" | "quantity_too_small" | "price_changed" | "total_negative" | "dish_takes_no_ingredients" | "ingredient_not_in_menu" | "ingredient_not_allowed" | "ingredient_unavailable" | "group_min" | "group_max" | "group_pin_invalid" | "too_deep" | "field_required" | "value_not_allowed" | "type_mismatch" | "decimal_comma" | "phone_invalid" | "text_invalid" | "time_zone_missing" | "time_in_past" | "time_too_far" | "too_soon" | "restaurant_closed" | "restaurant_paused" | "minimum_order" | "change_not_cash" | "change_too_small" | "amount_insufficient" | "limit_exceeded";
    };
    responses: {
        /** @description Several products have this externalId; `errors[0].params` lists their ids. */
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
        /** @description The first request with this key or another change is not finished, the outcome of the last change is unknown, the order's state does not allow the change (`state` and `paid` in `errors[0].params`), or the order belongs to another ordering service (`address` and `clientID`). */
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
        /** @description An error of the ordering service or of larder. */
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
        /** @description Several connections are configured: select one of `errors[0].params.known` with `?connection=`. */
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
        /** @description The token does not have the required scope, or the request comes from a page of another site. */
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
        /** @description The first request with this key is not finished. Retry with the same key. */
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
        /** @description An internal error of larder. The log has its cause with the `requestId`. An order may have been sent: retry with the same key. */
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
        /** @description Several connections are configured and the request names none (`errors[0].params.known` lists them). Or query and body name different connections. Or the body is not an object whose only field is `connection`. */
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
        /** @description A parameter is invalid, the body is not well-formed JSON (with `line` and `column`), or it has an unknown field. */
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
        /** @description The Idempotency-Key is invalid, the body is not well-formed JSON, or several connections have an order with this id: select one of `errors[0].params.connections` with `?connection=`. */
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
        /** @description The Idempotency-Key is missing or invalid, or the body is not well-formed JSON. */
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
        /** @description A parameter is invalid, or several connections have an order with this id: select one with `?connection=`. */
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
        /** @description A parameter is invalid; `errors[0].params.parameter` has its name. */
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
        /** @description The batch does not exist, or it has expired. */
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
        /** @description The connection does not exist; `errors[0].params.known` lists the existing ones. */
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
        /** @description It is not known when the restaurant opens next, because it has no hours or never closes. Send a time. */
        NoOpening: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The order or connection does not exist, or the record has expired. */
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
        /** @description There is no menu of the restaurant's ordering service yet. */
        NoOrderableMenu: {
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
        /** @description The restaurant or product does not exist. */
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
        /** @description No rejection reasons have been fetched yet. */
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
        /** @description The restaurant does not exist; `errors[0].params` has up to five ids that follow it in a sorted list (`known`), and the number of restaurants (`total`). */
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
        /** @description The run does not exist, or its record has expired. */
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
        /** @description The restaurant does not exist. */
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
        /** @description The limit of event streams is reached, larder is stopping, or Redis is unreachable. */
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
        /** @description `Accept-Encoding` accepts no available encoding. */
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
        /** @description The path does not exist. */
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
        /** @description Nothing was placed or changed: there is no menu of the restaurant's ordering service yet, the journal cannot record the order, or the ordering service is unreachable or overloaded. Retry with the same key after `Retry-After`. With `journal_restored`, an earlier request with the same key may have been executed. */
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
        /** @description The restaurant does not exist, or the version is not in the history, or no quarantined menu is kept. */
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
        /** @description The request is not valid (`errors` lists the violations), or the key belongs to another request. Nothing was placed or changed. With `ref`, the ordering service refused the order (`upstream`), and its menu has changed since: `errors` lists the violations of the new menu. */
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
        /** @description The outcome is unknown: the ordering service may have done it. Retry only with the same key. */
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
        /** @description The ordering service's response with its status. */
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
        /** @description An error of the ordering service, passed through, or an error of larder as a `CompatError`. The ordering service may have executed the operation although it answered with an error, such as 500 or 503. The record, which the header `Larder-Order-Ref` names, is `unknown` then; do not repeat the operation before it is resolved. For a request with violations, larder's status is 422 (`http.compat.refusal_status`); other statuses are those of /v1. */
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
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "Retry-After": components["headers"]["RetryAfter"];
                "X-Request-Id": components["headers"]["RequestID"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is nothing to resolve, another change is not finished, another order has this orderID, or the order cannot be sent again because it belongs to another ordering service. */
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
        /** @description The request names no restaurant; `errors[0].params` has the first five ids (`known`) and the number of restaurants (`total`). */
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
        /** @description The request is not valid; `errors` lists the violations. */
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
        /** @description The client does not have the scope `ops`, or the request comes from a page of another site. */
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
        /** @description The token is missing or invalid. */
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
        /** @description Redis does not answer, or rejects writes. */
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
        /** @description The Content-Type is not JSON in UTF-8, or the body has a Content-Encoding. */
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
        /** @description The ordering service certainly did not execute the operation; `upstream` has its response. Without `upstream`, an operator has recorded that the operation did not take effect. */
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
        /** @description The version has expired or has not been published. Read the whole menu. */
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
         * @description The accepted encodings of the body (RFC 9110).
         * @example br, gzip
         */
        AcceptEncoding: string;
        /**
         * @description The name of a connection. Required if several connections have an order with this id, or their own rejection reasons.
         * @example main
         */
        Connection: string;
        /** @description The `next` of the previous page; without it, the first page. */
        Cursor: string;
        /** @description Nothing before this time. */
        From: string;
        /** @description 1 to 255 printable characters, with or without quotes, preferably random. A request with the same key and body gets the first response again. */
        IdempotencyKey: string;
        /** @description The `Last-Modified` of the client's copy; ignored if there is an `If-None-Match`. */
        IfModifiedSince: string;
        /** @description The `ETag` of the client's copy. The response is 304 if nothing has changed. */
        IfNoneMatch: string;
        /**
         * @description The language of the messages in `errors` and `violations`: English or Russian.
         * @example ru
         */
        Language: string;
        /** @description The maximum number of entries per page. */
        Limit: number;
        /** @description The ordering service's id of the order. */
        OrderID: string;
        /** @description larder's own id of the order. */
        Ref: components["schemas"]["Ref"];
        /**
         * @description The id of a configured restaurant.
         * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
         */
        Restaurant: components["schemas"]["RestaurantID"];
        /**
         * @description The id of a configured restaurant, or `@` and a connection's name for the default menu of that connection.
         * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
         */
        Synced: string;
        /** @description Nothing at or after this time. */
        To: string;
        /**
         * @description How long to wait for the run to finish, at most 60 s: a duration such as `30s`, or whole seconds. The default is not to wait.
         * @example 30s
         */
        Wait: string;
    };
    requestBodies: never;
    headers: {
        /** @description Who may cache the response, and for how long. Orders and ops routes are `no-store`. */
        CacheControl: string;
        /** @description The required authentication (RFC 6750; for the token endpoint RFC 6749). */
        Challenge: string;
        /** @description The compression of the body; absent if it is not compressed. */
        ContentEncoding: "gzip" | "br" | "zstd";
        /** @description The language of the messages. */
        ContentLanguage: "en" | "ru";
        /** @description Allows only resources of the same origin. */
        ContentSecurityPolicy: string;
        /** @description Identifies the body, for `If-None-Match`. Compare it only for equality. */
        ETag: string;
        /** @description When the version was published. */
        LastModified: string;
        /** @description The URL of the current state. */
        Location: string;
        /** @description The required authentication, if a token was sent or would be accepted. */
        MayChallenge: string;
        /** @description The menu version of the response. */
        MenuVersion: number;
        /** @description Turns off buffering in proxies. */
        NoBuffering: "no";
        /** @description Browsers must not guess the content type. */
        NoSniff: "nosniff";
        /** @description larder's own id of the order, in every response about an order. */
        OrderRef: components["schemas"]["Ref"];
        /** @description What is left of the limit: `"place";r=4;t=1` means four requests, and one second until nothing is used any more. */
        RateLimit: string;
        /** @description The limit: `"place";q=5;w=1` means five requests in one second. */
        RateLimitPolicy: string;
        /** @description Browsers send no `Referer` from the page. */
        ReferrerPolicy: "no-referrer";
        /** @description `true` if this repeats the first response. */
        Replayed: "true";
        /** @description The id of the request: the caller's own if it is valid (1 to 128 visible ASCII characters), else a new one. */
        RequestID: string;
        /** @description Seconds to wait before a retry. */
        RetryAfter: number;
        /** @description On responses of the ordering service that are passed through. A browser runs nothing in them. */
        SandboxPolicy: "default-src 'none'; sandbox";
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getTokenMetadata: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The metadata. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenMetadata"];
                };
            };
            400: components["responses"]["InvalidParameter"];
        };
    };
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
                    /** @description For HTTP/1.0 caches. */
                    Pragma?: "no-cache";
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Token"];
                };
            };
            /** @description The form is malformed, or requests a scope that the client does not have. */
            400: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    /** @description For HTTP/1.0 caches. */
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
                    /** @description For HTTP/1.0 caches. */
                    Pragma?: "no-cache";
                    "WWW-Authenticate": components["headers"]["Challenge"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenError"];
                };
            };
            /** @description Too many failed attempts. */
            429: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    /** @description For HTTP/1.0 caches. */
                    Pragma?: "no-cache";
                    "Retry-After": components["headers"]["RetryAfter"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenError"];
                };
            };
            /** @description An internal error of larder. */
            500: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    /** @description For HTTP/1.0 caches. */
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
                    /** @description For HTTP/1.0 caches. */
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
                /** @description The `ETag` of the client's copy. The response is 304 if nothing has changed. */
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
                /** @description The `ETag` of the client's copy. The response is 304 if nothing has changed. */
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
            /** @description The process is running. */
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
    getDocumentTypes: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the client's copy. The response is 304 if nothing has changed. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The types. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
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
    getDocumentAsJSON: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the client's copy. The response is 304 if nothing has changed. */
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
                /** @description The `ETag` of the client's copy. The response is 304 if nothing has changed. */
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
            /** @description The session, or null. */
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
                 * @description The restaurant; the parameter name ignores case and underscores. The default is the connection's default menu, or else its only restaurant.
                 * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
                 */
                restaurantId?: string;
            };
            header?: {
                /**
                 * @description The accepted encodings of the body (RFC 9110).
                 * @example br, gzip
                 */
                "Accept-Encoding"?: components["parameters"]["AcceptEncoding"];
                /** @description The `Last-Modified` of the client's copy; ignored if there is an `If-None-Match`. */
                "If-Modified-Since"?: components["parameters"]["IfModifiedSince"];
                /** @description The `ETag` of the client's copy. The response is 304 if nothing has changed. */
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
                 * @description The language of the messages in `errors` and `violations`: English or Russian.
                 * @example ru
                 */
                "Accept-Language"?: components["parameters"]["Language"];
                /** @description 1 to 255 printable characters, with or without quotes, preferably random. A request with the same key and body gets the first response again. */
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
                 * @description The language of the messages in `errors` and `violations`: English or Russian.
                 * @example ru
                 */
                "Accept-Language"?: components["parameters"]["Language"];
                /** @description 1 to 255 printable characters, with or without quotes, preferably random. A request with the same key and body gets the first response again. */
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
                 * @description The language of the messages in `errors` and `violations`: English or Russian.
                 * @example ru
                 */
                "Accept-Language"?: components["parameters"]["Language"];
                /** @description 1 to 255 printable characters, with or without quotes, preferably random. A request with the same key and body gets the first response again. */
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
                 * @description The language of the messages in `errors` and `violations`: English or Russian.
                 * @example ru
                 */
                "Accept-Language"?: components["parameters"]["Language"];
                /** @description 1 to 255 printable characters, with or without quotes, preferably random. A request with the same key and body gets the first response again. */
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
                 * @description The accepted encodings of the body (RFC 9110).
                 * @example br, gzip
                 */
                "Accept-Encoding"?: components["parameters"]["AcceptEncoding"];
                /** @description The `ETag` of the client's copy. The response is 304 if nothing has changed. */
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
                 * @description Adds the state of the components, unless it is `false` or `0`.
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
            /** @description Ready, or degraded: menus are served, but a component has a problem. */
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
            /** @description There is no menu, the start is not complete, or larder drains. */
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
                /** @description The `id` of the last event. No event is sent for this version. */
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
                /** @description Only this action. */
                action?: components["schemas"]["Action"];
                /** @description Only this client. */
                client?: string;
                /** @description The `next` of the previous page; without it, the first page. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Nothing before this time. */
                from?: components["parameters"]["From"];
                /** @description The maximum number of entries per page. */
                limit?: components["parameters"]["Limit"];
                /** @description Only this restaurant. */
                restaurant?: string;
                /** @description Nothing at or after this time. */
                to?: components["parameters"]["To"];
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
    listChanges: {
        parameters: {
            query?: {
                /** @description The `next` of the previous page; without it, the first page. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Nothing before this time. */
                from?: components["parameters"]["From"];
                /** @description The maximum number of entries per page. */
                limit?: components["parameters"]["Limit"];
                /** @description Nothing at or after this time. */
                to?: components["parameters"]["To"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of changes. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangeList"];
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
                 * @description The name of a connection. Required if several connections have an order with this id, or their own rejection reasons.
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
            /** @description Orders and changes of orders are accepted on all instances. */
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
                 * @description The name of a connection. Required if several connections have an order with this id, or their own rejection reasons.
                 * @example main
                 */
                connection?: components["parameters"]["Connection"];
                /** @description The `next` of the previous page; without it, the first page. */
                cursor?: components["parameters"]["Cursor"];
                /** @description The maximum number of entries per page. */
                limit?: components["parameters"]["Limit"];
                /**
                 * @description Only this state.
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
                /** @description larder's own id of the order. */
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
                /** @description larder's own id of the order. */
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
            /** @description The resolved record. */
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
    resolveOrders: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Resolutions"];
            };
        };
        responses: {
            /** @description What was done with each order, in the sequence of `refs`. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResolvedOrders"];
                };
            };
            400: components["responses"]["InvalidBody"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["BodyTimeout"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["RulesBroken"];
            500: components["responses"]["Internal"];
        };
    };
    listOpsRestaurants: {
        parameters: {
            query?: {
                /**
                 * @description The name of a connection. Required if several connections have an order with this id, or their own rejection reasons.
                 * @example main
                 */
                connection?: components["parameters"]["Connection"];
                /** @description The `next` of the previous page; without it, the first page. */
                cursor?: components["parameters"]["Cursor"];
                /** @description The maximum number of entries per page. */
                limit?: components["parameters"]["Limit"];
                /** @description Words in the name or the address, or the beginning of the id: at least 8 characters, or the whole id. */
                q?: string;
                /** @description `name`; `state`: the most urgent first; `age`: the oldest menu first; `last-run`: the latest first. The last run that did not confirm the menu counts if it is among the latest 5,000 of all restaurants. */
                sort?: "name" | "state" | "age" | "last-run";
                /** @description Only this state; `attention` is any of `missing`, `failed`, `quarantined` and `stale`. */
                state?: "attention" | "missing" | "failed" | "quarantined" | "waiting" | "stale" | "held" | "paused" | "ok";
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
                 * @description The id of a configured restaurant, or `@` and a connection's name for the default menu of that connection.
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
    setBusy: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of a configured restaurant, or `@` and a connection's name for the default menu of that connection.
                 * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
                 */
                restaurant: components["parameters"]["Synced"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BusyRequest"];
            };
        };
        responses: {
            /** @description What operators have said and holds now. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AvailabilityAnswer"];
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
    endBusy: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of a configured restaurant, or `@` and a connection's name for the default menu of that connection.
                 * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
                 */
                restaurant: components["parameters"]["Synced"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What operators have said and holds now. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AvailabilityAnswer"];
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
                 * @description How long to wait for the run to finish, at most 60 s: a duration such as `30s`, or whole seconds. The default is not to wait.
                 * @example 30s
                 */
                wait?: components["parameters"]["Wait"];
            };
            header?: never;
            path: {
                /**
                 * @description The id of a configured restaurant, or `@` and a connection's name for the default menu of that connection.
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
            /** @description The unfinished run. */
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
                 * @description The id of a configured restaurant, or `@` and a connection's name for the default menu of that connection.
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
    pauseOrders: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of a configured restaurant, or `@` and a connection's name for the default menu of that connection.
                 * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
                 */
                restaurant: components["parameters"]["Synced"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PauseRequest"];
            };
        };
        responses: {
            /** @description What operators have said and holds now. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AvailabilityAnswer"];
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
    endPause: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of a configured restaurant, or `@` and a connection's name for the default menu of that connection.
                 * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
                 */
                restaurant: components["parameters"]["Synced"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What operators have said and holds now. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AvailabilityAnswer"];
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
    getQuarantinedView: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of a configured restaurant, or `@` and a connection's name for the default menu of that connection.
                 * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
                 */
                restaurant: components["parameters"]["Synced"];
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
    compareQuarantined: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of a configured restaurant, or `@` and a connection's name for the default menu of that connection.
                 * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
                 */
                restaurant: components["parameters"]["Synced"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The differences. */
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
    lintQuarantined: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of a configured restaurant, or `@` and a connection's name for the default menu of that connection.
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
            404: components["responses"]["NoVersion"];
            500: components["responses"]["Internal"];
            503: components["responses"]["NoMenu"];
        };
    };
    rollBack: {
        parameters: {
            query?: {
                /**
                 * @description How long to wait for the run to finish, at most 60 s: a duration such as `30s`, or whole seconds. The default is not to wait.
                 * @example 30s
                 */
                wait?: components["parameters"]["Wait"];
            };
            header?: never;
            path: {
                /**
                 * @description The id of a configured restaurant, or `@` and a connection's name for the default menu of that connection.
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
    snoozeItems: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of a configured restaurant, or `@` and a connection's name for the default menu of that connection.
                 * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
                 */
                restaurant: components["parameters"]["Synced"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SnoozeRequest"];
            };
        };
        responses: {
            /** @description What operators have said and holds now. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AvailabilityAnswer"];
                };
            };
            400: components["responses"]["InvalidBody"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoRestaurant"];
            408: components["responses"]["BodyTimeout"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["NoOpening"];
            500: components["responses"]["Internal"];
            503: components["responses"]["NoMenu"];
        };
    };
    wakeItem: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the dish or option.
                 * @example dish-fries
                 */
                id: string;
                /**
                 * @description The id of a configured restaurant, or `@` and a connection's name for the default menu of that connection.
                 * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
                 */
                restaurant: components["parameters"]["Synced"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What operators have said and holds now. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AvailabilityAnswer"];
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
    syncRestaurant: {
        parameters: {
            query?: {
                /**
                 * @description How long to wait for the run to finish, at most 60 s: a duration such as `30s`, or whole seconds. The default is not to wait.
                 * @example 30s
                 */
                wait?: components["parameters"]["Wait"];
            };
            header?: never;
            path: {
                /**
                 * @description The id of a configured restaurant, or `@` and a connection's name for the default menu of that connection.
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
            /** @description The unfinished run. */
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
                /** @description The `next` of the previous page; without it, the first page. */
                cursor?: components["parameters"]["Cursor"];
                /** @description The maximum number of entries per page. */
                limit?: components["parameters"]["Limit"];
            };
            header?: never;
            path: {
                /**
                 * @description The id of a configured restaurant, or `@` and a connection's name for the default menu of that connection.
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
                /** @description The version to compare with; the default is the current version. */
                to?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The id of a configured restaurant, or `@` and a connection's name for the default menu of that connection.
                 * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
                 */
                restaurant: components["parameters"]["Synced"];
                /**
                 * @description A version in the history.
                 * @example 1
                 */
                version: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The differences. */
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
                 * @description The id of a configured restaurant, or `@` and a connection's name for the default menu of that connection.
                 * @example 76439fb3-c0c4-42ca-a269-64f031a6a33b
                 */
                restaurant: components["parameters"]["Synced"];
                /**
                 * @description A version in the history.
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
                /** @description The `next` of the previous page; without it, the first page. */
                cursor?: components["parameters"]["Cursor"];
                /** @description The maximum number of entries per page. */
                limit?: components["parameters"]["Limit"];
                /** @description Only this outcome. */
                outcome?: components["schemas"]["RunOutcome"];
                /** @description Only this restaurant. */
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
                /** @description Only restaurants with these words in the name or the address, or at the beginning of the id: at least 8 characters, or the whole id. */
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
            query?: {
                /**
                 * @description The name of a connection. Required if several connections have an order with this id, or their own rejection reasons.
                 * @example main
                 */
                connection?: components["parameters"]["Connection"];
                /**
                 * @description The order's key, if it is not in the header.
                 * @example 9b1d8c3e-5f0a-4b5e-8a53-6d1b3f0c7e21
                 */
                key?: string;
            };
            header?: {
                /** @description The order's key. */
                "Idempotency-Key"?: string;
            };
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
                 * @description The name of a connection. Required if several connections have an order with this id, or their own rejection reasons.
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
                 * @description The name of a connection. Required if several connections have an order with this id, or their own rejection reasons.
                 * @example main
                 */
                connection?: components["parameters"]["Connection"];
            };
            header?: {
                /**
                 * @description The language of the messages in `errors` and `violations`: English or Russian.
                 * @example ru
                 */
                "Accept-Language"?: components["parameters"]["Language"];
                /** @description 1 to 255 printable characters, with or without quotes, preferably random. A request with the same key and body gets the first response again. */
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
            /** @description The order after the change. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "Idempotent-Replayed": components["headers"]["Replayed"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
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
                 * @description The name of a connection. Required if several connections have an order with this id, or their own rejection reasons.
                 * @example main
                 */
                connection?: components["parameters"]["Connection"];
            };
            header?: {
                /**
                 * @description The language of the messages in `errors` and `violations`: English or Russian.
                 * @example ru
                 */
                "Accept-Language"?: components["parameters"]["Language"];
                /** @description 1 to 255 printable characters, with or without quotes, preferably random. A request with the same key and body gets the first response again. */
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
            /** @description The order after the change. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "Idempotent-Replayed": components["headers"]["Replayed"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
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
                 * @description The name of a connection. Required if several connections have an order with this id, or their own rejection reasons.
                 * @example main
                 */
                connection?: components["parameters"]["Connection"];
            };
            header?: {
                /**
                 * @description The language of the messages in `errors` and `violations`: English or Russian.
                 * @example ru
                 */
                "Accept-Language"?: components["parameters"]["Language"];
                /** @description 1 to 255 printable characters, with or without quotes, preferably random. A request with the same key and body gets the first response again. */
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
            /** @description The order after the change. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "Idempotent-Replayed": components["headers"]["Replayed"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
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
    followOrder: {
        parameters: {
            query?: {
                /**
                 * @description The name of a connection. Required if several connections have an order with this id, or their own rejection reasons.
                 * @example main
                 */
                connection?: components["parameters"]["Connection"];
            };
            header: {
                /**
                 * @description The order's key.
                 * @example 9b1d8c3e-5f0a-4b5e-8a53-6d1b3f0c7e21
                 */
                "Idempotency-Key": string;
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
            400: components["responses"]["InvalidOrderID"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NoOrder"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["NoStream"];
        };
    };
    listRejectionReasons: {
        parameters: {
            query?: {
                /**
                 * @description The name of a connection. Required if several connections have an order with this id, or their own rejection reasons.
                 * @example main
                 */
                connection?: components["parameters"]["Connection"];
            };
            header?: {
                /**
                 * @description The accepted encodings of the body (RFC 9110).
                 * @example br, gzip
                 */
                "Accept-Encoding"?: components["parameters"]["AcceptEncoding"];
                /** @description The `ETag` of the client's copy. The response is 304 if nothing has changed. */
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
                /** @description The `next` of the previous page; without it, the first page. */
                cursor?: components["parameters"]["Cursor"];
                /** @description The maximum number of entries per page. */
                limit?: components["parameters"]["Limit"];
                /**
                 * @description Words in the name or the address, or the beginning of the id: at least 8 characters, or the whole id. The first 8 distinct words count.
                 * @example bistro
                 */
                q?: string;
            };
            header?: {
                /**
                 * @description The accepted encodings of the body (RFC 9110).
                 * @example br, gzip
                 */
                "Accept-Encoding"?: components["parameters"]["AcceptEncoding"];
                /** @description The `ETag` of the client's copy. The response is 304 if nothing has changed. */
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
    getRestaurant: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The accepted encodings of the body (RFC 9110).
                 * @example br, gzip
                 */
                "Accept-Encoding"?: components["parameters"]["AcceptEncoding"];
                /** @description The `ETag` of the client's copy. The response is 304 if nothing has changed. */
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
            /** @description The restaurant. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RestaurantAnswer"];
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
            404: components["responses"]["NoRestaurant"];
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
                 * @description The accepted encodings of the body (RFC 9110).
                 * @example br, gzip
                 */
                "Accept-Encoding"?: components["parameters"]["AcceptEncoding"];
                /** @description The `Last-Modified` of the client's copy; ignored if there is an `If-None-Match`. */
                "If-Modified-Since"?: components["parameters"]["IfModifiedSince"];
                /** @description The `ETag` of the client's copy. The response is 304 if nothing has changed. */
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
            /** @description The differences. */
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
                 * @description The accepted encodings of the body (RFC 9110).
                 * @example br, gzip
                 */
                "Accept-Encoding"?: components["parameters"]["AcceptEncoding"];
                /** @description The `Last-Modified` of the client's copy; ignored if there is an `If-None-Match`. */
                "If-Modified-Since"?: components["parameters"]["IfModifiedSince"];
                /** @description The `ETag` of the client's copy. The response is 304 if nothing has changed. */
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
                 * @description The language of the messages in `errors` and `violations`: English or Russian.
                 * @example ru
                 */
                "Accept-Language"?: components["parameters"]["Language"];
                /**
                 * @description One key per order, created before the first attempt and reused for retries: 1 to 255 printable characters, with or without quotes. Without a token, at least 22 characters with at least 128 random bits. Optional with `ordering.allow_missing_key`.
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
                    Location: components["headers"]["Location"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
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
                 * @description The language of the messages in `errors` and `violations`: English or Russian.
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
            /** @description The result of the check. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "Content-Language": components["headers"]["ContentLanguage"];
                    "Larder-Menu-Version": components["headers"]["MenuVersion"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestID"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationAnswer"];
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
            503: components["responses"]["NoOrderableMenu"];
        };
    };
    listProducts: {
        parameters: {
            query?: {
                /**
                 * @description `true` leaves out products on a stop list.
                 * @example true
                 */
                available?: boolean;
                /** @description The id of a category; its subcategories are included. */
                category?: string;
                /** @description The `next` of the previous page; without it, the first page. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Returns products with their groups and options. */
                expand?: "groups";
                /** @description Ids of products, at most 500, with commas between them. Repeat the parameter for an id that contains a comma. Unknown ids find nothing. */
                ids?: string[];
                /** @description The maximum number of entries per page. */
                limit?: components["parameters"]["Limit"];
                /**
                 * @description Case- and accent-insensitive search in names, descriptions, categories and options. Long words may have one wrong letter. The first 8 distinct words count.
                 * @example fries
                 */
                q?: string;
            };
            header?: {
                /**
                 * @description The accepted encodings of the body (RFC 9110).
                 * @example br, gzip
                 */
                "Accept-Encoding"?: components["parameters"]["AcceptEncoding"];
                /** @description The `Last-Modified` of the client's copy; ignored if there is an `If-None-Match`. */
                "If-Modified-Since"?: components["parameters"]["IfModifiedSince"];
                /** @description The `ETag` of the client's copy. The response is 304 if nothing has changed. */
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
                /** @description The kind of `id`. */
                by?: "id" | "externalId";
            };
            header?: {
                /**
                 * @description The accepted encodings of the body (RFC 9110).
                 * @example br, gzip
                 */
                "Accept-Encoding"?: components["parameters"]["AcceptEncoding"];
                /** @description The `Last-Modified` of the client's copy; ignored if there is an `If-None-Match`. */
                "If-Modified-Since"?: components["parameters"]["IfModifiedSince"];
                /** @description The `ETag` of the client's copy. The response is 304 if nothing has changed. */
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
