# Everything a developer of larder runs. `make` alone says what there is.
# What the targets keep between runs lies in .cache/, which git ignores.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# Without MessagePack in Gin the program is 6 MiB smaller; what is tested is what is shipped.
TAGS    := nomsgpack
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

FUZZTIME     ?= 10s
BENCH_COUNT  ?= 1
RACE_COUNT   ?= 5
SOAK_FOR     ?= 10m
SWAPS_FOR    ?= 60s
OVERLOAD_FOR ?= 60s
CHAOS_FOR    ?= 60s
CHAOS_SEED   ?= 0
SCALE_SIZES  ?= 100,1000,10000
COVER_LEAST  ?= 85
COVER_PACKAGES := internal/jsontext internal/menu ordering ordering/validate ordering/violation ordering/journal internal/upstream cache cache/encoded cache/replica sync sync/runlog
# The packages with guarantees about goroutines: complete versions, single flight, leases.
RACE_PACKAGES  := ./cache/... ./sync/... ./internal/upstream/... ./ordering/... ./httpapi/...

# The tools of tools/go.mod, each built once for a version of itself and of Go.
BIN := .cache/bin/$(shell go env GOVERSION 2>/dev/null)

export TAGS
export GOLANGCI_LINT_CACHE := $(CURDIR)/.cache/golangci-lint

##@ The program

.PHONY: demo
demo: ## Run everything in one process, with nothing to install, until Ctrl-C
	go run -tags $(TAGS) ./cmd/larder demo

.PHONY: demo-exit
demo-exit: ## Do the main job once, print each step, and end
	go run -tags $(TAGS) ./cmd/larder demo --exit

.PHONY: build
build: ## Build bin/larder, one static binary
	CGO_ENABLED=0 go build -trimpath -tags $(TAGS) -ldflags '-s -w -X main.version=$(VERSION)' -o bin/larder ./cmd/larder

.PHONY: release
release: ## Build the archives of linux and darwin on amd64 and arm64 into dist/, with SHA256SUMS and inventories (SBOM)
	cd tools/deploy && go run ./release ../.. $(VERSION) ../../dist

##@ Every change

.PHONY: test
test: test-needs ## Run all tests with the race detector (installs redis-server, gcc and Chromium with apt where it may)
	go test -race -tags $(TAGS) -timeout 10m ./...
	$(MAKE) --no-print-directory test-bench
	$(MAKE) --no-print-directory test-deploy

.PHONY: test-bench
test-bench: test-needs ## Test the benchmarks of tools/bench
	cd tools/bench && go test -race -tags $(TAGS) -timeout 10m ./...

.PHONY: test-deploy
test-deploy: ## Test what is released, and check deploy/ and the Dockerfile with the programs that read them
	cd tools/deploy && go test ./...

.PHONY: lint
lint: $(BIN)/golangci-lint ## Check style, imports, sizes and the usual mistakes (the first run builds the linter: some minutes)
	$(BIN)/golangci-lint run --timeout 15m --allow-parallel-runners --build-tags $(TAGS) ./...
	cd tools/bench && ../../$(BIN)/golangci-lint run --config ../../.golangci.yml --timeout 15m --allow-parallel-runners --build-tags $(TAGS) ./...
	cd tools && go test ./sizes && go run ./sizes ..

.PHONY: lint-api
lint-api: tools/api/node_modules ## Check the API document with spectral and redocly (the first run installs them with npm)
	tools/api/node_modules/.bin/spectral lint --quiet --fail-severity hint --ruleset tools/api/.spectral.yaml httpapi/openapi/openapi.yaml
	REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true tools/api/node_modules/.bin/redocly lint --config tools/api/redocly.yaml httpapi/openapi/openapi.yaml

.PHONY: lint-ts
lint-ts: tools/api/node_modules ## Check the types of the pages' TypeScript, strictly
	tools/api/node_modules/.bin/tsc -p tools/api/tsconfig.json

.PHONY: api-types
api-types: tools/api/node_modules ## Make the TypeScript types of the API document anew
	node tools/api/types.mjs httpapi/openapi/openapi.yaml httpapi/web/src/api/openapi.d.ts

tools/api/node_modules: tools/api/package.json tools/api/package-lock.json
	cd tools/api && npm ci --ignore-scripts
	@touch $@

.PHONY: fmt
fmt: $(BIN)/golangci-lint ## Format all Go files
	$(BIN)/golangci-lint fmt ./...
	cd tools/bench && ../../$(BIN)/golangci-lint fmt --config ../../.golangci.yml ./...

.PHONY: cover
cover: test-needs ## Report the coverage of the packages with rules; fails below COVER_LEAST (85) per cent
	tools/cover $(COVER_LEAST) $(COVER_PACKAGES)

.PHONY: tidy-check
tidy-check: ## Fail when go.mod or go.sum say more or less than the code needs
	go mod tidy -diff
	go mod verify
	cd tools && go mod tidy -diff
	cd tools/deploy && go mod tidy -diff
	cd tools/bench && go mod tidy -diff

##@ Now and then

.PHONY: race
race: test-needs ## Run the tests of concurrent packages RACE_COUNT (5) times in shuffled order, with the race detector
	go test -race -tags $(TAGS) -shuffle on -count $(RACE_COUNT) -timeout 30m $(RACE_PACKAGES)

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME (10s)
	tools/fuzz $(FUZZTIME)

.PHONY: bench
bench: test-needs $(BIN)/benchstat ## Measure decode, compile, validate, publish and the journal, BENCH_COUNT (1) times, with 6 and more compared with the run before; fails when validating or a sync misses its gate
	tools/microbench $(BENCH_COUNT) $(BIN)/benchstat

.PHONY: mutation
mutation: $(BIN)/gremlins ## Break ordering, menu and jsontext in small ways, and see that their tests notice (an hour or more; docs/mutation.md)
	mkdir -p .cache/mutation
	export LARDER_MUTATION=1 GOFLAGS="-vet=off -count=1 -trimpath '-ldflags=-w -s' '-gcflags=larder/...=-N -l -dwarf=false'"; \
	for package in ordering ordering/validate ordering/violation internal/menu internal/jsontext; do \
	  printed=.cache/mutation/$${package//\//-}; \
	  below='journal/'; if [ $$package = ordering ]; then below='(journal|validate|violation)/'; fi; \
	  $(BIN)/gremlins unleash --tags $(TAGS) --workers 2 --timeout-coefficient 2 --exclude-files "$$below" ./$$package | tee "$$printed"; \
	  (cd tools && go run ./mutants .. "$$package" "../$$printed"); \
	done

.PHONY: release-check
release-check: ## Make the whole release twice, the second time in another folder and from nothing, and compare every byte
	rm -rf .cache/release && mkdir -p .cache/release/tree
	git ls-files -z | tar --null -T - -cf - | tar -xf - -C .cache/release/tree
	export SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct); \
	(cd tools/deploy && go run ./release ../.. $(VERSION) ../../.cache/release/first); \
	(cd tools/deploy && GOCACHE=$(CURDIR)/.cache/release/cache go run ./release ../../.cache/release/tree $(VERSION) ../../.cache/release/second)
	diff -r .cache/release/first .cache/release/second

.PHONY: verify
verify: ## The longer proofs: lint, lint-api, lint-ts, race, coverage, benchmarks, each fuzz target, swaps and the soak for 60 s, 1,000 requests at once, the cost of anonymous requests, Prometheus, chaos, overload, the comparison's smoke run and the release made twice
	$(MAKE) --no-print-directory lint
	$(MAKE) --no-print-directory lint-api
	$(MAKE) --no-print-directory lint-ts
	$(MAKE) --no-print-directory race
	$(MAKE) --no-print-directory cover
	$(MAKE) --no-print-directory bench
	$(MAKE) --no-print-directory fuzz FUZZTIME=60s
	$(MAKE) --no-print-directory swaps
	$(MAKE) --no-print-directory concurrent
	$(MAKE) --no-print-directory cost
	$(MAKE) --no-print-directory prometheus
	$(MAKE) --no-print-directory soak SOAK_FOR=60s
	$(MAKE) --no-print-directory chaos
	$(MAKE) --no-print-directory overload
	$(MAKE) --no-print-directory bench-smoke
	$(MAKE) --no-print-directory release-check

.PHONY: scale
scale: test-needs build larder-bench ## Measure SCALE_SIZES (100,1000,10000) restaurants on three replicas, and write docs/performance.md and its plot (half an hour)
	bin/larder-bench scale --restaurants $(SCALE_SIZES) --out docs/performance.md

.PHONY: bench-peers
bench-peers: peer-needs build larder-bench larder-peer ## Compare reads with nginx, Varnish, HAProxy and Gin, and write docs/performance.md and its plot (half an hour; installs them with apt where it may)
	bin/larder-bench peers --out docs/performance.md

.PHONY: bench-smoke
bench-smoke: peer-needs build larder-bench larder-peer ## The same for two minutes; fails when a ratio is below its gate
	bin/larder-bench peers --smoke

# What they are run with, of the module tools/bench.
.PHONY: larder-bench
larder-bench:
	cd tools/bench && CGO_ENABLED=0 go build -trimpath -tags $(TAGS) -o ../../bin/larder-bench .

.PHONY: larder-peer
larder-peer:
	cd tools/bench && CGO_ENABLED=0 go build -trimpath -tags $(TAGS) -o ../../bin/larder-peer ./ginpeer

.PHONY: soak
soak: test-needs larder-bench ## Load a larder that was built with the race detector for SOAK_FOR (10m); fails when memory or goroutines grow
	@mkdir -p .cache/soak
	go build -race -tags $(TAGS) -o .cache/soak/larder ./cmd/larder
	bin/larder-bench soak --larder .cache/soak/larder --for $(SOAK_FOR)

.PHONY: concurrent
concurrent: ## Send 1,000 anonymous requests at a time for what is most expensive to make, and watch memory and /livez
	go test -tags $(TAGS) -count 1 -v -run TestConcurrentAnonymousRequests ./cmd/larder -args -at-once 1000

.PHONY: cost
cost: test-needs ## Measure the processor's time of the most expensive anonymous requests; fails above 2 ms a token of the rate limit
	go test -tags $(TAGS) -count 1 -v -run '^TestAnonymousCost$$' ./httpapi

.PHONY: prometheus
prometheus: test-needs ## Let a Prometheus read the metrics with the configurations of deploy/ and docs/metrics.md
	go test -tags $(TAGS) -count 1 -run '^TestPrometheus' ./cmd/larder -args -prometheus

.PHONY: swaps
swaps: ## Read over 64 connections in all encodings while versions are swapped, for SWAPS_FOR (60s), with the race detector
	go test -race -tags $(TAGS) -count 1 -timeout 30m -run TestSwapsUnderSixtyFourConnections ./httpapi -args -swaps $(SWAPS_FOR)

.PHONY: chaos
chaos: test-needs ## Break larder, Redis and the ordering service while orders are placed, for CHAOS_FOR (60s) on each form of Redis, and check the history (CHAOS_SEED repeats a plan; docs/chaos.md)
	go test -tags $(TAGS) -count 1 -timeout 30m -v -run '^TestChaos$$' ./internal/testkit/chaos -args -chaos.for $(CHAOS_FOR) -chaos.seed $(CHAOS_SEED) -chaos.dir $(CURDIR)/.cache/chaos

.PHONY: overload
overload: test-needs ## Send real larders, one and three, 1.5 to 20 times the orders that the ordering service takes, for OVERLOAD_FOR (60s) each, and print what became of them
	go test -tags $(TAGS) -count 1 -timeout 30m -v -run '^TestOverloadMatrix$$' ./cmd/larder -args -overload $(OVERLOAD_FOR)

##@ The workshop

.PHONY: tools
tools: $(addprefix $(BIN)/,golangci-lint gofumpt gotestsum benchstat gremlins) ## Build every tool of tools/go.mod below .cache/bin
	@ls -1 $^

.PHONY: clean
clean: ## Remove what was built and kept: bin/, dist/ and .cache/
	rm -rf bin dist .cache

.PHONY: help
help: ## Say what there is
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

.PHONY: test-needs
test-needs:
	@tools/test-needs

.PHONY: peer-needs
peer-needs:
	@tools/test-needs peers

$(BIN)/%: tools/go.mod tools/go.sum
	@echo "building $* of tools/go.mod, once"
	@cd tools && go build -o ../$@ "$$(go list tool | grep '/$*$$')"
	@touch $@
