# Targets for the development of Lumi. 'make' lists them.

GO      ?= go
TOOL     = $(GO) tool -modfile=$(CURDIR)/tools/go.mod
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
COMMANDS  = ./cmd/cidlc ./cmd/lumi ./examples/local/provider/lumi-resource-local
PLATFORMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

# Nested modules, whose requirements must not be imposed on Lumi's users. All targets for Go code include them. The
# modules with the benchmarks of other tools are large, so only 'make bench' builds them.
MODULES = adapter/opentofu adapter/pulumi examples/aws/provider examples/aws/provider/test/opentofu \
          examples/aws/provider/test/pulumi examples/peering
PEERS   = test/bench/pulumi test/bench/opentofu
# The module with tests that need Pulumi's engine and generators. Only 'make engines' builds it, which takes minutes the first time.
ENGINES = adapter/pulumi/enginetest

# The modules of OpenTofu and its providers. They do not depend on the main module, and only 'make tofu' builds them.
TOFU_TOOLS  = examples/provisioners/opentofu/tools
TOFU_MIRROR = bin/tofu/plugins/registry.opentofu.org/hashicorp

NPM_PACKAGE = runtime/typescript
# The client, the provider, and the provisioner in Node for tests of the protocol.
NPM_INTEROP = test/interop/node
# npm ci writes these files last, so they serve as stamps.
NPM_READY   = $(NPM_PACKAGE)/node_modules/.package-lock.json
NPM_TESTS   = $(NPM_READY) $(NPM_INTEROP)/node_modules/.package-lock.json

# FUZZ and BENCH select the fuzz tests of 'make fuzz' and the benchmarks of 'make bench'. FUZZ is an extended regular
# expression that is matched against "folder name". FUZZTIME is the time per fuzz test, and COUNT the number of runs per
# benchmark.
FUZZ     ?= .
FUZZTIME ?= 60s
BENCH    ?= .
COUNT    ?= 1

.DEFAULT_GOAL = help

## build: compile all Go and TypeScript code
.PHONY: build
build: $(NPM_READY)
	@set -ex; for module in . $(MODULES); do $(GO) -C $$module build ./...; done
	npm --prefix $(NPM_PACKAGE) run --silent build

## example: compile examples/*/idl, and two IDLs for tests, into pack/ and provider/ in the same folder
.PHONY: example
example:
	$(GO) run ./cmd/cidlc examples/aws/idl --out-pack --out-provider
	$(GO) run ./cmd/cidlc examples/peering/idl --out-pack --out-provider
	$(GO) run ./cmd/cidlc adapter/opentofu/tftest/internal/traps/idl --out-provider
	$(GO) run ./cmd/cidlc adapter/pulumi/internal/trapsidl --out-provider=adapter/pulumi/internal/traps
	$(GO) run ./cmd/cidlc examples/local/idl --out-pack --out-provider --out-schema=examples/local/schema.json

## demo: deploy the local example to a temporary folder
.PHONY: demo
demo: $(NPM_READY)
	$(GO) build -o bin/ ./cmd/lumi ./examples/local/provider/lumi-resource-local
	npm --prefix $(NPM_PACKAGE) run --silent build
	@examples/local/demo.sh bin $(NPM_PACKAGE)

## test: run all tests
.PHONY: test
test: $(NPM_TESTS)
	npm --prefix $(NPM_PACKAGE) test --silent
	@set -ex; for module in . $(MODULES); do $(GO) -C $$module test ./...; done

## engines: test the adapters with the engines and generators of other tools, built here; requires npm and Python
.PHONY: engines
engines: tofu
	$(GO) -C adapter/opentofu test -count=1 -run=Engine ./tftest
	$(GO) -C $(ENGINES) test ./...

## faults: deploy with four workers for minutes while everything breaks, on PostgreSQL
.PHONY: faults
faults:
	LUMI_FAULTS=12 $(GO) test -count=1 -v -timeout=40m -run=TestFleet ./deploy/run

## pictures: draw the pictures in README.md with Graphviz
.PHONY: pictures
pictures:
	$(GO) build -o bin/ ./cmd/lumi
	bin/lumi graph --cluster=module examples/aws/programs/web/graph.json | \
		dot -Tsvg -Gbgcolor=transparent -o docs/pictures/web-light.svg
	bin/lumi graph --cluster=module examples/aws/programs/web/graph.json | sed 's/#f4f6fa/#1f2937/; s/#5b6b82/#9aa4b2/' | \
		dot -Tsvg -Gbgcolor=transparent -Gfontcolor=#e5e7eb -Nfontcolor=#e5e7eb -Efontcolor=#e5e7eb -o docs/pictures/web-dark.svg

## tofu: build OpenTofu and three providers into bin/tofu, which takes several minutes
.PHONY: tofu
tofu: bin/tofu/tofu

# The command is built last, so that it exists only if all providers do. The providers form a filesystem mirror: tofu
# derives the name, version, and platform of a provider from its path. Without version.dev=no, tofu reports a -dev version.
bin/tofu/tofu: $(TOFU_TOOLS)/tofu/go.mod $(TOFU_TOOLS)/providers/go.mod
	rm -rf bin/tofu
	@set -e; platform=$$($(GO) env GOOS)_$$($(GO) env GOARCH); \
	tools=$$($(GO) -C $(TOFU_TOOLS)/providers list -f '{{.ImportPath}} {{.Module.Version}}' tool); \
	echo "$$tools" | while read -r package version; do \
		name=$${package##*-provider-} version=$${version#v}; version=$${version%+incompatible}; \
		file=$(TOFU_MIRROR)/$$name/$$version/$$platform/terraform-provider-$${name}_v$$version; \
		echo "$$file"; \
		CGO_ENABLED=0 $(GO) -C $(TOFU_TOOLS)/providers build -trimpath -ldflags='-s -w' -o $(CURDIR)/$$file $$package; \
	done
	CGO_ENABLED=0 $(GO) -C $(TOFU_TOOLS)/tofu build -trimpath -o $(CURDIR)/$@ \
		-ldflags='-s -w -X github.com/opentofu/opentofu/version.dev=no' github.com/opentofu/opentofu/cmd/tofu

# -short skips tests with large content, which are slow and share no data between goroutines.
## race: run the tests of concurrent code, including plugins, with the race detector; requires a C compiler
.PHONY: race
race:
	$(GO) test -race -short ./runtime/...
	$(GO) test -race -short -run="Stories|Pool|Test.*Write|TestStore" ./deploy/provision ./deploy/run ./deploy/store/...
	$(GO) test -race -run="Concurrent|Live|Terminal" ./lumigl ./lumigl/query ./deploy/view
	$(GO) test -race -short ./taskgraph/run ./taskgraph/service ./server

# golangci-lint includes go vet.
## lint: run gofmt, golangci-lint, and tools/prose, which counts phrases that read as a translation
.PHONY: lint
lint:
	@test -z "$$(git ls-files -z '*.go' | xargs -0 gofmt -l | tee /dev/stderr)" || { echo 'run gofmt -w on these' >&2; exit 1; }
	@set -ex; for module in . $(MODULES); do (cd $$module && $(TOOL) golangci-lint run ./...); done
	$(GO) -C tools test ./prose
	$(GO) -C tools run ./prose

## generate: update all generated files in the repository
.PHONY: generate
generate:
	$(GO) generate ./...

## tidy: run go mod tidy in all modules, for example after a change to the requirements of the main one
.PHONY: tidy
tidy:
	@set -ex; for module in . $(MODULES) $(PEERS) $(ENGINES); do $(GO) -C $$module mod tidy; done

## golden: update the golden files; review the diff before committing it
.PHONY: golden
golden: $(NPM_READY)
	$(GO) test $$(git grep -lE 'flag.Bool\("update"|test/kit/golden"' -- '*_test.go' | xargs -n 1 dirname | sed 's,^,./,' | sort -u) -update

FUZZ_TARGETS = git grep '^func Fuzz' -- '*_test.go' | sed -E 's,^(.*)/[^/]*:func (Fuzz[A-Za-z0-9_]*).*,\1 \2,'

# By default, go test spends minutes on minimizing each new input, to no benefit. With a short -fuzztime, it sometimes fails
# at the end with "context deadline exceeded", so a failed run is repeated. A real failure is saved in testdata and occurs
# again.
## fuzz: run each fuzz test that matches FUZZ (.) for FUZZTIME (60s)
.PHONY: fuzz fuzz-targets
fuzz-targets:
	@$(FUZZ_TARGETS)
fuzz:
	@set -e; $(FUZZ_TARGETS) | grep -E '$(FUZZ)' | \
	while read -r dir name; do \
		echo "$$name in $$dir"; \
		fuzz() { $(GO) -C $$dir test -run='^$$' -fuzz="^$$name\$$" -fuzztime=$(FUZZTIME) -fuzzminimizetime=100x . </dev/null; }; \
		fuzz || fuzz; \
	done

## bench: run the benchmarks that match BENCH (.) COUNT (1) times, write bench.txt, and summarize it with benchstat
.PHONY: bench
bench:
	@{ $(GO) test -run='^$$' -bench='$(BENCH)' -count=$(COUNT) -timeout=60m ./test/bench/... ./lang/... && \
		for module in $(PEERS); do $(GO) -C $$module test -bench='$(BENCH)' -count=$(COUNT) -timeout=60m . || exit; done; } | tee bench.txt
	$(TOOL) benchstat -filter='-/impl:/./' bench.txt
	$(TOOL) benchstat -filter='/impl:/./' -col=/impl bench.txt

# If PLATFORMS is empty, the binaries are only for this machine. -trimpath and CGO_ENABLED=0 are then omitted, since they
# would prevent reuse of the build cache.
## dist: build the binaries for this machine and for all platforms, and the npm package, into dist/
.PHONY: dist
dist: $(NPM_READY)
	rm -rf dist
	mkdir dist
	$(if $(strip $(PLATFORMS)),CGO_ENABLED=0) $(GO) build $(if $(strip $(PLATFORMS)),-trimpath) \
		-ldflags='-s -w -X main.version=$(VERSION)' -o dist/ $(COMMANDS)
	@set -e; for platform in $(PLATFORMS); do for package in $(COMMANDS); do \
		command=$${package##*/} os=$${platform%/*} arch=$${platform#*/} suffix=; \
		if [ $$os = windows ]; then suffix=.exe; fi; \
		echo "dist/$${command}_$${os}_$$arch$$suffix"; \
		CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch $(GO) build -trimpath -ldflags='-s -w -X main.version=$(VERSION)' \
			-o dist/$${command}_$${os}_$$arch$$suffix $$package; \
	done; done
	cd $(NPM_PACKAGE) && npm pack --silent --pack-destination=$(CURDIR)/dist

## clean: remove the files created by the other targets
.PHONY: clean
clean:
	rm -rf bin dist bench.txt $(NPM_PACKAGE)/node_modules $(NPM_PACKAGE)/dist $(NPM_INTEROP)/node_modules

## help: list the targets
.PHONY: help
help:
	@sed -n 's/^## \([a-z]*\): /  \1\t/p' $(MAKEFILE_LIST) | expand -t 14

%/node_modules/.package-lock.json: %/package-lock.json
	npm --prefix $* ci --silent --no-audit --no-fund
	@touch $@
