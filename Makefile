# What developers do with Lumi. 'make' alone lists it.

GO      ?= go
TOOL     = $(GO) tool -modfile=$(CURDIR)/tools/go.mod
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
COMMANDS  = ./cmd/cidlc ./cmd/lumi ./examples/local/provider/lumi-resource-local
PLATFORMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

# Modules below the main one, whose requirements are not for Lumi's users. Each target about Go code goes through all of
# them. The module that measures Pulumi is large, and built by 'make bench' only.
MODULES = examples/aws/provider
PULUMI  = test/bench/pulumi

# The modules of OpenTofu and its providers, which require nothing of the main one and are built by 'make tofu' only.
TOFU_TOOLS  = examples/provisioners/opentofu/tools
TOFU_MIRROR = bin/tofu/plugins/registry.opentofu.org/hashicorp

NPM_PACKAGE = runtime/typescript
# The client and the provider in Node that the protocol is tested with.
NPM_INTEROP = test/interop/node
# npm ci writes these files last.
NPM_READY   = $(NPM_PACKAGE)/node_modules/.package-lock.json
NPM_TESTS   = $(NPM_READY) $(NPM_INTEROP)/node_modules/.package-lock.json

# Which fuzz tests 'make fuzz' runs, matched against "folder name", and for how long; which benchmarks 'make bench' runs, and
# how often.
FUZZ     ?= .
FUZZTIME ?= 60s
BENCH    ?= .
COUNT    ?= 1

.DEFAULT_GOAL = help

## build: compile all Go and TypeScript
.PHONY: build
build: $(NPM_READY)
	@set -ex; for module in . $(MODULES); do $(GO) -C $$module build ./...; done
	npm --prefix $(NPM_PACKAGE) run --silent build

## example: compile the examples, examples/*/idl, into pack/ and provider/ beside them
.PHONY: example
example:
	$(GO) run ./cmd/cidlc examples/aws/idl --out-pack --out-provider
	$(GO) run ./cmd/cidlc examples/local/idl --out-pack --out-provider --out-schema=examples/local/schema.json

## demo: deploy the local example for real, in a temporary folder
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

## pictures: draw the pictures of README.md with Graphviz
.PHONY: pictures
pictures:
	$(GO) build -o bin/ ./cmd/lumi
	bin/lumi graph --cluster=module examples/aws/programs/web/graph.json | \
		dot -Tsvg -Gbgcolor=transparent -o docs/pictures/web-light.svg
	bin/lumi graph --cluster=module examples/aws/programs/web/graph.json | sed 's/#f4f6fa/#1f2937/; s/#5b6b82/#9aa4b2/' | \
		dot -Tsvg -Gbgcolor=transparent -Gfontcolor=#e5e7eb -Nfontcolor=#e5e7eb -Efontcolor=#e5e7eb -o docs/pictures/web-dark.svg

## tofu: build OpenTofu and three providers from their modules into bin/tofu, which takes minutes
.PHONY: tofu
tofu: bin/tofu/tofu

# The command is built last so that it exists only if the providers do. They form a filesystem mirror: tofu takes a
# provider's name, version and platform from its path. Without version.dev=no, tofu reports a -dev version.
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

# With -short, tests of large content are left out: they take long and share nothing between goroutines.
## race: run tests of what is used concurrently under the race detector, plugins included; it needs a C compiler
.PHONY: race
race:
	$(GO) test -race -short ./runtime/...
	$(GO) test -race -short -run="Stories|Pool|Test.*Write|TestStore" ./deploy/provision ./deploy/run ./deploy/store/...
	$(GO) test -race -run="Concurrent|Live|Terminal" ./lumigl ./lumigl/query ./deploy/view
	$(GO) test -race -short ./taskgraph/run ./taskgraph/service ./server

# What go vet finds is part of what golangci-lint finds.
## lint: gofmt, golangci-lint, and the counter of translated phrases, tools/prose
.PHONY: lint
lint:
	@test -z "$$(git ls-files -z '*.go' | xargs -0 gofmt -l | tee /dev/stderr)" || { echo 'run gofmt -w on these' >&2; exit 1; }
	@set -ex; for module in . $(MODULES); do (cd $$module && $(TOOL) golangci-lint run ./...); done
	$(GO) -C tools test ./prose
	$(GO) -C tools run ./prose

## generate: bring everything that is generated and checked in up to date
.PHONY: generate
generate:
	$(GO) generate ./...

## tidy: bring what all modules require up to date, as is needed where the main one requires something new
.PHONY: tidy
tidy:
	@set -ex; for module in . $(MODULES) $(PULUMI); do $(GO) -C $$module mod tidy; done

## golden: accept what golden tests find as right; look at the diff before you commit it
.PHONY: golden
golden: $(NPM_READY)
	$(GO) test $$(git grep -lE 'flag.Bool\("update"|test/kit/golden"' -- '*_test.go' | xargs -n 1 dirname | sed 's,^,./,' | sort -u) -update

FUZZ_TARGETS = git grep '^func Fuzz' -- '*_test.go' | sed -E 's,^(.*)/[^/]*:func (Fuzz[A-Za-z0-9_]*).*,\1 \2,'

# Left to itself, go test spends whole minutes on making each new input smaller, which finds nothing. With a short time it
# sometimes fails at the end with "context deadline exceeded"; what it really finds is in testdata by then, and fails again.
## fuzz: let each fuzz test that FUZZ (.) matches run for FUZZTIME (60s)
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

## bench: measure speed and memory, what BENCH (.) matches COUNT times (1), into bench.txt; benchstat sums up
.PHONY: bench
bench:
	@{ $(GO) test -run='^$$' -bench='$(BENCH)' -count=$(COUNT) -timeout=60m ./test/bench/... ./lang/... && \
		$(GO) -C $(PULUMI) test -bench='$(BENCH)' -count=$(COUNT) -timeout=60m .; } | tee bench.txt
	$(TOOL) benchstat -filter='-/impl:/./' bench.txt
	$(TOOL) benchstat -filter='/impl:/./' -col=/impl bench.txt

# Without platforms, nothing is for other machines: -trimpath and CGO_ENABLED=0 would only miss what the build cache has.
## dist: build the binaries for all platforms, one for this machine, and the npm package into dist/
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

## clean: remove what the others leave behind
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
