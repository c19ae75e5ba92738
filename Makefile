# The commands for development. `make` lists them. The targets keep their files in
# .cache/, which git ignores.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# Gin without MessagePack makes the program 6 MiB smaller. Tests use the same tags as releases.
TAGS    := nomsgpack
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

FUZZTIME     ?= 10s
BENCH_COUNT  ?= 1
RACE_COUNT   ?= 3
FLAKY_COUNT  ?=
SOAK_FOR     ?= 10m
SWAPS_FOR    ?= 60s
OVERLOAD_FOR ?= 60s
CHAOS_FOR    ?= 60s
CHAOS_SEED   ?= 0
BROWSER_ONLY ?=
CHROMIUM     ?=
COMPARE_WITH ?= 5b0fb010
RELEASE_TARGETS ?= linux/amd64,linux/arm64,darwin/amd64,darwin/arm64
SCALE_SIZES  ?= 10000,30000,100000
SCALE_FLAGS  ?=
COVER_LEAST  ?= 85
COVER_PACKAGES := internal/jsontext internal/menu ordering ordering/validate ordering/violation ordering/journal internal/upstream cache cache/encoded cache/replica sync sync/runlog
# The packages with guarantees about concurrency: complete versions, single flight, leases, the journal.
RACE_PACKAGES  := ./cache/... ./sync/... ./internal/upstream/... ./ordering/... ./httpapi/...
OTHER_PACKAGES := $$(go list ./... | grep -vE '^larder.local/(cache|sync|internal/upstream|ordering|httpapi)(/|$$)')

# make lint runs go vet, so that make test does not. Three packages at a time and four tests of each, because many tests wait.
# On a slow machine the limit must not end a package whose tests pass.
COMPILE    := -vet=off -ldflags=-w -tags $(TAGS)
TEST_FLAGS := $(COMPILE) -timeout 20m -p 3 -parallel 4

# Tests write the responses of the API that they saw to this folder. Together they must see all that the API document has.
API_COVERAGE := $(CURDIR)/.cache/apicoverage

# Programs, tests and the linter use the same compiled packages: those of releases.
LIKE_RELEASES := CGO_ENABLED=0 GOFLAGS="$$GOFLAGS -trimpath"

# The Go release with which programs and releases are built: the toolchain line of go.mod, if it can be downloaded.
RELEASE_GO := GOTOOLCHAIN=$$(tools/go-toolchain); export GOTOOLCHAIN GO_RELEASE_CHOSEN=1;

# The tools of tools/go.mod. Each is built once for its version and the version of Go, with the flags of `make build`,
# so that both use the same compiled standard library.
BIN := .cache/bin/$(shell go env GOVERSION 2>/dev/null)

# npm writes this file when it has installed everything.
API_TOOLS := tools/api/node_modules/.package-lock.json

# The linter collects no garbage until it uses 4 GiB. This halves its processor time.
LINT_ENV := $(LIKE_RELEASES) GOGC=off GOMEMLIMIT=4GiB

# No program needs debug information. Without it, the compiler uses a sixth less processor time.
export GOFLAGS += -gcflags=all=-dwarf=false
export TAGS
# The browser of tests: a path or the name of a program. Without it, tests use the one that is installed.
export LARDER_CHROMIUM := $(or $(CHROMIUM),$(LARDER_CHROMIUM))
export GOLANGCI_LINT_CACHE := $(CURDIR)/.cache/golangci-lint

##@ Program

.PHONY: demo
demo: ## Run an ordering service, Redis and larder in one process until Ctrl-C
	go run -tags $(TAGS) ./cmd/larder demo

.PHONY: demo-exit
demo-exit: ## Sync the menu, place, pay and complete an order, and print each step
	go run -tags $(TAGS) ./cmd/larder demo --exit

.PHONY: build
build: ## Build bin/larder, one static binary, with the Go release of go.mod
	$(RELEASE_GO) CGO_ENABLED=0 go build -trimpath -tags $(TAGS) -ldflags '-s -w -X main.version=$(VERSION)' -o bin/larder ./cmd/larder

.PHONY: release
release: ## Build the release archives (linux and darwin, amd64 and arm64) in dist/, with SHA256SUMS and SBOMs
	$(RELEASE_GO) cd tools/deploy && go run ./release ../.. $(VERSION) ../../dist

##@ For every change

.PHONY: test
test: test-needs ## Run all tests (installs redis-server and Chromium with apt if possible); make race uses the race detector
	$(MAKE) --no-print-directory --jobs=2 --keep-going test-larder test-bench test-deploy test-tools

# These tests take longest, so they start first: they wait for no other target. Those of the other modules run beside them.
.PHONY: test-larder
test-larder:
	$(LIKE_RELEASES) LARDER_API_COVERAGE=$(API_COVERAGE) go test $(TEST_FLAGS) ./...
	$(LIKE_RELEASES) go run -ldflags=-w -tags $(TAGS) ./internal/testkit/apicoverage/check . $(API_COVERAGE)

.PHONY: test-bench
test-bench: test-needs ## Test the benchmarks in tools/bench
	cd tools/bench && $(LIKE_RELEASES) go test $(TEST_FLAGS) ./...

.PHONY: test-deploy
test-deploy: ## Test the release, and check deploy/ and the Dockerfile with the programs that use them
	cd tools/deploy && $(LIKE_RELEASES) go test $(TEST_FLAGS) ./...

.PHONY: test-tools
test-tools: ## Test the commands in tools/, but for flaky, whose tests keep all cores busy: make flaky runs them
	cd tools && $(LIKE_RELEASES) go test $(TEST_FLAGS) $$(go list ./... | grep -v /flaky)

.PHONY: lint
lint: $(BIN)/golangci-lint ## Check style, imports, sizes, waits in tests and common mistakes (the first run builds the linter, which takes minutes)
	$(LINT_ENV) $(BIN)/golangci-lint run --timeout 15m --allow-parallel-runners --build-tags $(TAGS) ./...
	cd tools/bench && $(LINT_ENV) ../../$(BIN)/golangci-lint run --config ../../.golangci.yml --timeout 15m --allow-parallel-runners --build-tags $(TAGS) ./...
	cd tools && export $(LIKE_RELEASES); go run ./sizes .. && go run ./prose .. && go run ./testwaits ..

.PHONY: lint-api
lint-api: $(API_TOOLS) ## Check the OpenAPI document with spectral and redocly (the first run installs them with npm)
	tools/api/node_modules/.bin/spectral lint --quiet --fail-severity hint --ruleset tools/api/.spectral.yaml httpapi/openapi/openapi.yaml
	REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true tools/api/node_modules/.bin/redocly lint --config tools/api/redocly.yaml httpapi/openapi/openapi.yaml

# The code of the pages and components; openapi.d.ts is generated.
TYPESCRIPT := 'httpapi/web/{src,testdata}/**/*.ts' 'internal/sandbox/board/src/**/*.ts' '!httpapi/web/src/api/openapi.d.ts'

.PHONY: lint-ts
lint-ts: $(API_TOOLS) ## Check types, format and rules of the TypeScript code
	tools/api/node_modules/.bin/tsc -p tools/api/tsconfig.json
	tools/api/node_modules/.bin/prettier --config tools/api/prettier.json --check $(TYPESCRIPT)
	tools/api/node_modules/.bin/eslint --config tools/api/eslint.config.mjs httpapi/web internal/sandbox/board

.PHONY: fmt-ts
fmt-ts: $(API_TOOLS) ## Format the TypeScript code
	tools/api/node_modules/.bin/prettier --config tools/api/prettier.json --log-level warn --write $(TYPESCRIPT)

.PHONY: api-types
api-types: $(API_TOOLS) ## Generate the TypeScript types from the OpenAPI document
	node tools/api/types.mjs httpapi/openapi/openapi.yaml httpapi/web/src/api/openapi.d.ts

$(API_TOOLS): tools/api/package.json tools/api/package-lock.json
	cd tools/api && npm ci --ignore-scripts
	@touch $@

.PHONY: fmt
fmt: $(BIN)/golangci-lint ## Format all Go files
	$(BIN)/golangci-lint fmt ./...
	cd tools/bench && ../../$(BIN)/golangci-lint fmt --config ../../.golangci.yml ./...

.PHONY: cover
cover: test-needs ## Measure the test coverage of the packages with rules; fails below COVER_LEAST (85) percent
	$(LIKE_RELEASES) tools/cover $(COVER_LEAST) $(COVER_PACKAGES)

.PHONY: tidy-check
tidy-check: ## Check that go.mod and go.sum are tidy
	go mod tidy -diff
	go mod verify
	cd tools && go mod tidy -diff
	cd tools/deploy && go mod tidy -diff
	cd tools/bench && go mod tidy -diff

##@ Occasionally

.PHONY: flaky
flaky: test-needs ## Find tests that fail by chance: run all tests FLAKY_COUNT (3) times in random order on busy cores; PKG=./sync RUN=TestX: these 50 times
	cd tools && $(if $(PKG),,$(LIKE_RELEASES) go test $(TEST_FLAGS) ./flaky && )go build -o ../.cache/bin/flaky ./flaky
	$(LIKE_RELEASES) .cache/bin/flaky $(if $(FLAKY_COUNT),-count '$(FLAKY_COUNT)') $(if $(PKG),-pkg '$(PKG)') $(if $(value RUN),-run '$(value RUN)') .

.PHONY: race
race: race-needs ## Run the tests of larder and its benchmarks with the race detector in random order, those of concurrent packages RACE_COUNT (3) times
	$(MAKE) --no-print-directory --jobs=2 --keep-going race-concurrent race-others

# Many of these tests wait, so both run at the same time.
.PHONY: race-concurrent race-others
race-concurrent:
	LARDER_THOROUGH=1 go test -race -tags $(TAGS) -shuffle on -count $(RACE_COUNT) -timeout 30m $(RACE_PACKAGES)
race-others:
	go test -race -tags $(TAGS) -shuffle on -count 1 -timeout 30m $(OTHER_PACKAGES)
	cd tools/bench && LARDER_THOROUGH=1 go test -race -tags $(TAGS) -shuffle on -count 1 -timeout 30m ./...

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME (10s), one on each core
	$(LIKE_RELEASES) tools/fuzz $(FUZZTIME)

.PHONY: bench
bench: test-needs $(BIN)/benchstat ## Measure decoding, compiling, validation, publishing and the journal BENCH_COUNT (1) times; with 6 or more, compare with the previous run; fails if validation or a sync is too slow
	$(LIKE_RELEASES) tools/microbench $(BENCH_COUNT) $(BIN)/benchstat

.PHONY: mutation
mutation: $(BIN)/gremlins ## Check that tests detect small mutations of ordering, menu and jsontext (an hour or more; docs/mutation.md)
	mkdir -p .cache/mutation
	export LARDER_MUTATION=1 GOFLAGS="-vet=off -count=1 -trimpath '-ldflags=-w -s' '-gcflags=larder/...=-N -l -dwarf=false'"; \
	for package in ordering ordering/validate ordering/violation internal/menu internal/jsontext; do \
	  printed=.cache/mutation/$${package//\//-}; \
	  below='journal/'; if [ $$package = ordering ]; then below='(journal|validate|violation)/'; fi; \
	  $(BIN)/gremlins unleash --tags $(TAGS) --workers 2 --timeout-coefficient 2 --exclude-files "$$below" ./$$package | tee "$$printed"; \
	  (cd tools && go run ./mutants .. "$$package" "../$$printed"); \
	done

.PHONY: release-check
release-check: ## Build the release for RELEASE_TARGETS (all) twice, the second time in another folder without caches, and compare all files
	rm -rf .cache/release && mkdir -p .cache/release/tree
	git ls-files -z | tar --null -T - -cf - | tar -xf - -C .cache/release/tree
	$(RELEASE_GO) export SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct); \
	(cd tools/deploy && go run ./release -targets $(RELEASE_TARGETS) ../.. $(VERSION) ../../.cache/release/first); \
	(cd tools/deploy && GOCACHE=$(CURDIR)/.cache/release/cache go run ./release -targets $(RELEASE_TARGETS) ../../.cache/release/tree $(VERSION) ../../.cache/release/second)
	diff -r .cache/release/first .cache/release/second

.PHONY: vuln
vuln: $(BIN)/govulncheck ## Check larder and its tools for known vulnerabilities (VULN_DB: the database); says so if it cannot read the database
	@$(RELEASE_GO) tools/vuln $(CURDIR)/$(BIN)/govulncheck . tools tools/bench tools/deploy

# The parts of make verify. The long forms are the parts by themselves: make race (three times), make fuzz FUZZTIME=60s,
# make soak (10 minutes), make release-check (all platforms).
VERIFY       := lint lint-api lint-ts tidy-check race cover bench fuzz swaps concurrent clock-steps cost prometheus soak chaos overload twice browser engines compare bench-smoke release-check
VERIFY_FLAGS := RACE_COUNT=1 FUZZTIME=30s SOAK_FOR=60s RELEASE_TARGETS=linux/amd64,darwin/arm64

.PHONY: verify
verify: ## Run the longer checks, at most an hour: race, cover, bench, fuzz, chaos, overload, soak, browser and others; prints the time of each
	@$(RELEASE_GO) begun=$$SECONDS; failed=; \
	for part in $(VERIFY); do \
	  from=$$SECONDS; result=passed; printf '\n=== %s\n' "$$part"; \
	  $(MAKE) --no-print-directory $$part $(VERIFY_FLAGS) || { result=FAILED; failed+=" $$part"; }; \
	  printf '=== %s: %s after %d s\n' "$$part" "$$result" "$$((SECONDS - from))"; \
	done; \
	printf '\n=== verify: %s after %d s\n' "$${failed:+FAILED:}$${failed:-passed}" "$$((SECONDS - begun))"; \
	[ -z "$$failed" ]

.PHONY: bench-scale
bench-scale: test-needs build larder-bench ## Measure one instance with SCALE_SIZES (10000,30000,100000) restaurants, with the flags SCALE_FLAGS; writes docs/performance.md and its plot (ten minutes; 8 GiB of memory)
	bin/larder-bench restaurants --restaurants $(SCALE_SIZES) $(SCALE_FLAGS) --out docs/performance.md

.PHONY: bench-replicas
bench-replicas: test-needs build larder-bench ## Measure 100, 1,000 and 10,000 restaurants on three instances, with first fills, with the flags SCALE_FLAGS; writes docs/performance.md and its plot (half an hour)
	bin/larder-bench scale --restaurants 100,1000,10000 $(SCALE_FLAGS) --out docs/performance.md

.PHONY: bench-instances
bench-instances: test-needs build larder-bench ## Measure orders with 1, 2 and 4 instances, one Redis and a cluster; writes docs/performance.md and its plot (five minutes)
	bin/larder-bench instances --out docs/performance.md

.PHONY: bench-peers
bench-peers: peer-needs build larder-bench larder-peer ## Compare reads with nginx, Varnish, HAProxy and Gin, and orders with the usual implementation; writes docs/performance.md and its plot (40 minutes; installs them with apt if possible)
	bin/larder-bench peers --out docs/performance.md
	bin/larder-bench orders --out docs/performance.md

.PHONY: bench-smoke
bench-smoke: peer-needs build larder-bench larder-peer ## The same comparisons in three minutes; fails if a ratio misses its gate
	bin/larder-bench peers --smoke
	bin/larder-bench orders --smoke

# The programs for these measurements, from the module tools/bench, built with the same Go as larder.
.PHONY: larder-bench
larder-bench:
	$(RELEASE_GO) cd tools/bench && CGO_ENABLED=0 go build -trimpath -tags $(TAGS) -o ../../bin/larder-bench .

.PHONY: larder-peer
larder-peer:
	$(RELEASE_GO) cd tools/bench && CGO_ENABLED=0 go build -trimpath -tags $(TAGS) -o ../../bin/larder-peer ./ginpeer

.PHONY: compare
compare: test-needs build larder-bench ## Give the build of the commit COMPARE_WITH and this one the same orders, menus, faults and configurations; fails at a difference that tools/bench/decided.txt does not have
	rm -rf .cache/compare && mkdir -p .cache/compare/tree
	git archive $(COMPARE_WITH) | tar -xf - -C .cache/compare/tree
	$(RELEASE_GO) cd .cache/compare/tree && CGO_ENABLED=0 go build -buildvcs=false -trimpath -tags $(TAGS) -o ../larder-old ./cmd/larder
	bin/larder-bench compare --old .cache/compare/larder-old

.PHONY: soak
soak: race-needs larder-bench ## Run a race-detector build of larder under load for SOAK_FOR (10m); fails if memory or goroutines grow
	@mkdir -p .cache/soak
	go build -race -tags $(TAGS) -o .cache/soak/larder ./cmd/larder
	bin/larder-bench soak --larder .cache/soak/larder --for $(SOAK_FOR)

.PHONY: concurrent
concurrent: ## Send 1,000 parallel anonymous requests for the most expensive responses, then run six syncs of the most expensive menus at once, and check memory and /livez
	$(LIKE_RELEASES) LARDER_THOROUGH=1 go test $(COMPILE) -count 1 -v -run '^(TestConcurrentAnonymousRequests|TestMemoryOfHostileMenus)$$' ./cmd/larder -args -at-once 1000

.PHONY: clock-steps
clock-steps: test-needs ## Set the clocks of two instances forwards and back by hours while operators restrict orders
	$(LIKE_RELEASES) go test $(COMPILE) -count 1 -timeout 10m -v -run '^TestClockSteps_O23$$' ./cmd/larder -args -clock-steps

.PHONY: cost
cost: test-needs ## Measure the CPU time of the most expensive anonymous requests; fails above 2 ms per token of the rate limit
	$(LIKE_RELEASES) go test $(COMPILE) -count 1 -v -run '^TestAnonymousCost' ./httpapi -args -cost

.PHONY: prometheus
prometheus: test-needs ## Run a Prometheus that reads the metrics with the configurations of deploy/ and docs/metrics.md
	$(LIKE_RELEASES) go test $(COMPILE) -count 1 -run '^TestPrometheus' ./cmd/larder -args -prometheus

.PHONY: swaps
swaps: race-needs ## Read menus on 64 connections in all encodings while versions change, for SWAPS_FOR (60s), with the race detector
	go test -race -tags $(TAGS) -count 1 -timeout 30m -run TestSwapsUnderSixtyFourConnections ./httpapi -args -swaps $(SWAPS_FOR)

.PHONY: chaos
chaos: test-needs ## Stop larder, Redis and the ordering service while orders are placed, for CHAOS_FOR (60s) with each form of Redis, and check the history (CHAOS_SEED repeats a plan; docs/chaos.md)
	$(LIKE_RELEASES) go test $(COMPILE) -count 1 -timeout 30m -v -run '^TestChaos(WithoutDisk_O14b)?$$' ./internal/testkit/chaos -args -chaos.for $(CHAOS_FOR) -chaos.seed $(CHAOS_SEED) -chaos.dir $(CURDIR)/.cache/chaos

.PHONY: overload
overload: test-needs ## Send one and three instances 1.5 to 20 times the orders that the ordering service can execute, for OVERLOAD_FOR (60s) each, then orders beside slow menu reads, and print the outcomes
	$(LIKE_RELEASES) go test $(COMPILE) -count 1 -timeout 30m -v -run '^TestOverload(Matrix|Reads|ShowsStops)$$' ./cmd/larder -args -overload $(OVERLOAD_FOR)

.PHONY: twice
twice: ## Send orders and payments to an ordering service that sends each response twice, with and without reuse of connections, and print how many get the response to another call
	$(LIKE_RELEASES) go test $(COMPILE) -count 1 -v -run '^TestPausesBetweenCopies$$' ./internal/upstream -args -copies 20

.PHONY: engines
engines: test-needs ## Order as a guest in Firefox and in WebKit, Safari's engine (installs firefox-esr, webkit2gtk-driver and xvfb with apt if possible)
	@tools/test-needs engines
	LARDER_ENGINES=1 $(LIKE_RELEASES) xvfb-run -a go test $(COMPILE) -count 1 -timeout 10m -run '^TestOtherEngines$$' -v ./cmd/larder

.PHONY: browser
browser: test-needs ## Run guests' browser scenarios in 8 combinations of width, colours, direction and input (BROWSER_ONLY=all: in 32; BROWSER_ONLY=390,rtl: in these; CHROMIUM=PATH: with this browser); keeps screenshots in .cache/browser/
	rm -rf .cache/browser
	LARDER_THOROUGH=1 LARDER_COMBINATIONS=$(BROWSER_ONLY) $(LIKE_RELEASES) go test $(COMPILE) -count 1 -timeout 3h -run '^TestBrowser' ./cmd/larder

##@ Tools

.PHONY: tools
tools: $(addprefix $(BIN)/,golangci-lint gofumpt gotestsum benchstat gremlins govulncheck) ## Build all tools of tools/go.mod in .cache/bin
	@ls -1 $^

.PHONY: clean
clean: ## Remove build results and caches: bin/, dist/ and .cache/
	rm -rf bin dist .cache

.PHONY: help
help: ## List the targets
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile

.PHONY: test-needs
test-needs:
	@tools/test-needs

.PHONY: race-needs
race-needs: | test-needs
	@tools/test-needs race

.PHONY: peer-needs
peer-needs:
	@tools/test-needs peers

$(BIN)/%: tools/go.mod tools/go.sum
	@echo "building $* (tools/go.mod)"
	@cd tools && CGO_ENABLED=0 go build -trimpath -ldflags=-w -o ../$@ "$$(go list tool | grep '/$*$$')"
	@touch $@
