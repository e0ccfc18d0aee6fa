# `make help` describes the targets. Needed: Go 1.26, make, git, and a
# C compiler for the race detector. Everything else is compiled into bin/.

.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -euo pipefail -c

# Programs, tests and linters have one key in Go's build cache, so that each package is compiled
# once, and once more for the race detector. The tag leaves out gRPC's traces: see hack/image/build.go.
export CGO_ENABLED ?= 0
export GOFLAGS := -trimpath -tags=grpcnotrace $(GOFLAGS)

# Without a tag it begins with v0.0.0, since the version of an API server is a semantic one.
VERSION ?= $(shell git describe --tags --dirty 2>/dev/null || echo v0.0.0-$$(git describe --always --dirty 2>/dev/null || echo unknown))
LDFLAGS := -s -w -X main.version=$(VERSION)
# The whole of `go test`: with a cold cache most of it is the compiler.
TEST_TIMEOUT ?= 35m
LINT := bin/golangci-lint

.PHONY: help
help: ## print this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

.PHONY: run
run: control-plane build ## start a control plane, the operator, a sample application and its dashboard; Ctrl-C ends all of it
	@hack/go-build.sh "run" ./hack/run -- -o bin/.run
	@bin/.run

.PHONY: run-fleet
run-fleet: control-plane build ## start a hub and two clusters that are connected to it, each with a control plane; Ctrl-C ends all of it
	@hack/go-build.sh "run" ./hack/run -- -o bin/.run
	@bin/.run -fleet

# Packages whose tests start no process but the compiler.
UNIT := ./api/... ./client/... ./cmd/... ./controllers/... ./dashboard/... ./graphview/... ./hack/... ./stream/...

# The race detector runs where it sees the operator: in the unit packages that start goroutines, in their
# code or in their tests, and in the operator of the end-to-end suite, whose tests run without it because they have no
# code of the operator. The suites of NIGHTLY_RACE run the engine in the process of their tests, take up to three times
# as long with it, and run with it at night, or if their folders in hack/nightly.txt change.
NIGHTLY_RACE := ./test/fleet ./test/integration ./test/scenarios
RACE_UNIT = $$(grep -rlE --include='*.go' '^[[:space:]]*go [a-zA-Z]|\.Go\(' client controllers graphview stream | xargs -n1 dirname | sort -u | sed 's|^|./|')
# The race detector makes code ten times as slow. Files of tests that start no goroutine and compute for long have the
# build constraint !race, and their tests alone run without it.
MODEL_FILES = grep -rlx --include='*_test.go' '//go:build !race' client controllers graphview stream
MODELS = $$($(MODEL_FILES) | xargs -n1 dirname | sort -u | sed 's|^|./|')
MODEL_TESTS = ^($$($(MODEL_FILES) | xargs grep -hoE '^func (Test|Fuzz|Example)[A-Za-z0-9_]*' | cut -c6- | paste -sd '|'))$$

# Suites mostly wait for watches, Leases and limits of time, so more of them run at once than there are
# processors, and the longest begin first. Each has a control plane of its own: see test/env. The linters include vet.
AT_ONCE ?= 4
SUITES := -vet=off -p $(AT_ONCE) -timeout $(TEST_TIMEOUT)
# The go command does not see which programs the suites start, so it must not take a result of theirs from its cache.
AGAIN := -count=1
LONGEST := ./test/hostile ./test/integration ./test/plugin ./test/fleet/... ./test/scenarios ./test/faults ./test/replicas

# Programs that the suites start are compiled once for all, with the flags with which a suite compiles them that is tested by itself.
PROGRAMS := $(CURDIR)/bin/tests/plain
TESTED := -buildvcs=false -ldflags='-s -w -X main.version=v1.2.3-test'

# Packages that only `make nightly` tests: they build releases and programs of other projects, or start
# programs whose parts other suites test.
NIGHTLY := ./test/gitops ./test/health ./test/image ./test/release ./test/run

.PHONY: test-unit
test-unit: ## run the tests that need nothing but Go, without the race detector; two minutes once they are compiled
	@go test $(UNIT)

.PHONY: test-cluster
test-cluster: control-plane helm ## run the tests that need a control plane, without the race detector
	@go test $(SUITES) $(AGAIN) $(LONGEST) $$(go list ./test/... | grep -vxFf <(go list $(NIGHTLY)))

.PHONY: c-compiler
c-compiler:
	@command -v "$$(go env CC | cut -d' ' -f1)" >/dev/null || { \
	echo "The race detector needs a C compiler, and there is none. Install one (on Debian: apt-get install gcc libc6-dev), or run make test-unit test-cluster, which do without." >&2; exit 1; }

# The tests of the page mostly wait for it, so they run beside those in Go, which get twice their limits of time for
# that. Racing and plain tests at the same time take as long as one after the other: processors are the limit.
test test-go: export GRAPHVIEW_PATIENCE ?= 2
test-go: export GRAPHVIEW_RACE_OPERATOR := 1

.PHONY: test
test: c-compiler control-plane helm ## run every test that a change can break, against a real control plane: Go, and the page and the clients; 11 minutes on two cores once compiled
	@$(MAKE) --no-print-directory -j2 test-go test-js

.PHONY: test-go
test-go: c-compiler control-plane helm ## run the Go tests of make test, with the race detector where it sees the operator
	@echo "test: go test -race"
	@CGO_ENABLED=1 go test $(SUITES) -race $(RACE_UNIT)
	@echo "test: go test"
	@go test $(SUITES) -run "$(MODEL_TESTS)" $(MODELS)
	@go build $(TESTED) -o $(PROGRAMS)/ ./cmd/manager ./cmd/kubectl-graphview
	@go test $(SUITES) $$(go list $(UNIT) | grep -vxFf <(go list $(RACE_UNIT)))
	@GRAPHVIEW_PROGRAMS="$(PROGRAMS)" go test $(SUITES) $(AGAIN) $(LONGEST) $$(go list ./test/... | grep -vxFf <(go list $(NIGHTLY)))
	@cd hack/image && go test ./...

.PHONY: test-js
test-js: control-plane dashboard-bundle ## test the page and the JavaScript client in Node.js and Chromium, and the examples in React and Python; 5 minutes. Installs npm packages and, as root on Debian, programs
	@hack/js-tools.sh
	@$(MAKE) --no-print-directory -j2 test-page test-scene

# The parts of the page that need no server, and the tests that share one operator.
.PHONY: test-page test-scene
test-page:
	@PATH="$(CURDIR)/bin/.node/node_modules/.bin:$$PATH" node --test --test-reporter=spec test/dashboard/*.test.mjs

test-scene:
	@PATH="$(CURDIR)/bin/.node/node_modules/.bin:$$PATH" go run ./test/js

.PHONY: nightly
nightly: ## run the checks that take too long for each change, all of hack/nightly.txt, and print a table; hours
	@hack/nightly.sh

.PHONY: test-release
test-release: control-plane helm ## make a release, publish it on loopback, and install it
	@go test $(AGAIN) -timeout $(TEST_TIMEOUT) ./test/release

.PHONY: test-image
test-image: ## build the image twice, compare the bytes, and run the program in it
	@go test $(AGAIN) ./test/image

.PHONY: test-race
test-race: c-compiler control-plane ## run the suites of NIGHTLY_RACE with the race detector
	@CGO_ENABLED=1 go test $(AGAIN) -race -timeout $(TEST_TIMEOUT) $(NIGHTLY_RACE)

.PHONY: test-run
test-run: control-plane build ## start make run and make run-fleet, open the page, and type the commands that they print
	@go test $(AGAIN) -timeout $(TEST_TIMEOUT) ./test/run

.PHONY: test-peers
test-peers: control-plane ## compare the health of objects and views with Argo CD's and kstatus'
	@go test $(AGAIN) -timeout $(TEST_TIMEOUT) ./test/health ./test/gitops

MINUTES ?= 60
TOKEN_SECONDS ?= 60
.PHONY: portal
portal: control-plane dashboard-bundle ## follow a graph in <graph-view> for MINUTES with tokens of TOKEN_SECONDS, and print connections, questions for a token and interruptions; make test-js runs it until two tokens have expired
	@hack/js-tools.sh
	@PATH="$(CURDIR)/bin/.node/node_modules/.bin:$$PATH" GRAPHVIEW_PORTAL_MINUTES=$(MINUTES) GRAPHVIEW_PORTAL_TOKEN=$(TOKEN_SECONDS) \
	go run ./test/js --test-name-pattern='a portal whose tokens expire'

.PHONY: npm-package
npm-package: ## pack the JavaScript client and <graph-view> for npm, with their types, into bin/
	@mkdir -p bin && cd client/js && npm pack --pack-destination ../../bin

.PHONY: headlamp-plugin
headlamp-plugin: ## build the plugin for Headlamp and pack it into bin/graphview-headlamp-VERSION.tar.gz; installs 830 MB of npm packages into bin/.headlamp, once
	@PATH="$(CURDIR)/bin/.node/node_modules/.bin:$$PATH" hack/headlamp.sh '$(VERSION)'

.PHONY: test-headlamp
test-headlamp: control-plane dashboard-bundle ## build the plugin for Headlamp, and test it in pages of Headlamp's published package
	@hack/js-tools.sh
	@PATH="$(CURDIR)/bin/.node/node_modules/.bin:$$PATH" sh -c 'hack/headlamp.sh 0.0.0 && go run ./test/js -folder=test/headlamp'

.PHONY: test-backstage
test-backstage: ## check the plugin for Backstage against Backstage's published packages, and render it in jsdom; installs 745 MB of npm packages into bin/.backstage, once
	@hack/js-tools.sh client/backstage bin/.backstage
	@ln -sfn ../../bin/.backstage/node_modules client/backstage/node_modules
	@ln -sfn ../../../client/js bin/.backstage/node_modules/graphview
	@PATH="$(CURDIR)/bin/.node/node_modules/.bin:$$PATH" node --test --test-reporter=spec test/backstage/tab.test.mjs

.PHONY: dashboard-bundle
dashboard-bundle: ## write <graph-view> as one file, for other web pages, to bin/graph-view.js
	@hack/go-build.sh "bundle" ./hack/bundle -- -o bin/.bundle
	@bin/.bundle -single bin/graph-view.js

.PHONY: screenshots
screenshots: control-plane build ## take the pictures in docs/images: the dashboard with 50, 500 and 5,000 objects, and the walkthrough
	@hack/js-tools.sh
	@PATH="$(CURDIR)/bin/.node/node_modules/.bin:$$PATH" sh -c 'node test/dashboard/screenshots.mjs && node test/dashboard/walkthrough.mjs'

.PHONY: dashboard-bench
dashboard-bench: ## measure the dashboard in Chromium beside other libraries, and write the table in docs/measured/dashboard.md
	@hack/js-tools.sh
	@hack/js-tools.sh test/dashboard bin/.bench
	@PATH="$(CURDIR)/bin/.node/node_modules/.bin:$$PATH" node test/dashboard/measure.mjs

EPISODES ?= 200
SEED ?= 0
SCENES ?= 4
.PHONY: faults
faults: c-compiler control-plane ## run EPISODES episodes of faults, SCENES of them at once, beginning with SEED, and print a line for each; make test runs a few
	@CGO_ENABLED=1 go test -race -v -timeout 4h ./test/faults -args -episodes $(EPISODES) -seed $(SEED) -scenes $(SCENES) -rounds $(EPISODES)

.PHONY: fleet
fleet: ## run EPISODES episodes of trouble in a fleet of a hub and two members, beginning with SEED, and print a line for each and a table; make test runs a few
	@hack/control-plane.sh --no-controllers
	@go test -v -timeout 12h ./test/fleet/troubles -args -long -episodes $(EPISODES) -seed $(SEED)

.PHONY: test-hub
test-hub: control-plane ## run the end-to-end suite of one cluster at a hub, of whose fleet the cluster is a member; a quarter of an hour
	@go test $(AGAIN) -timeout $(TEST_TIMEOUT) ./test/e2e -args -hub

THREE ?= 1h
.PHONY: three
three: control-plane ## draw three limits of the operator at a time for the duration THREE, and take them to the limit at once; make test does so for seconds
	@go test -v -timeout 24h ./test/hostile -run TestThreeAtOnce -args -three $(THREE)

.PHONY: products
products: control-plane ## take two limits of a namespace at a time to their product, all of five; make test does so with two
	@go test -v -timeout $(TEST_TIMEOUT) ./test/hostile -run TestProducts -args -products

FUZZTIME ?= 60s
.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME, and print a line for each
	@FUZZTIME=$(FUZZTIME) hack/fuzz.sh

# An older minor version of Kubernetes, of test/controlplane/$(OLDER).mod: v1.33, v1.34 or v1.35.
OLDER ?= v1.35
SMOKE := TestGraphEqualsOracle|TestEncodings|TestGraphOfEncodings|TestRightsMatrix|TestReferenceRuleHealth|TestGraphViewHealth|TestGraphViewValidation|TestGraphViewColumns|TestMuxThroughAPIServer|TestDiscovery

.PHONY: test-older
test-older: ## run the most telling integration tests against the older minor version OLDER of Kubernetes, which is compiled once into bin/controlplane-OLDER
	@hack/control-plane.sh $(OLDER)
	@GRAPHVIEW_CONTROL_PLANE="$(CURDIR)/bin/controlplane-$(OLDER)" go test $(AGAIN) -timeout $(TEST_TIMEOUT) -run '$(SMOKE)' ./test/integration

.PHONY: control-plane
control-plane: ## compile etcd, kube-apiserver, kube-controller-manager and kubectl into bin/controlplane, once; 5 to 10 minutes
	@hack/control-plane.sh

.PHONY: helm
helm: ## compile Helm into bin/helm, once, for the tests of the chart
	@hack/helm.sh

.PHONY: build
build: ## compile the operator into bin/manager, and the kubectl plugin into bin/kubectl-graphview
	@hack/go-build.sh "build" "./cmd/manager ./cmd/kubectl-graphview" -- -ldflags '$(LDFLAGS)' -o bin/
	@install -m 0755 cmd/kubectl-graphview/kubectl_complete-graphview bin/

.PHONY: image
PLATFORMS ?= linux/amd64,linux/arm64
image: ## build the container image without Docker, as an OCI layout in bin/image.tar, reproducibly
	@cd hack/image && go run . -root ../.. -out ../../bin/image.tar -version '$(VERSION)' -platforms '$(PLATFORMS)'

.PHONY: push
push: ## build the container image and push it to IMAGE, with the credentials of docker login
	@cd hack/image && go run . -root ../.. -push '$(IMAGE)' -version '$(VERSION)' -platforms '$(PLATFORMS)'

REGISTRY ?= graphview.dev
DOWNLOAD ?= https://graphview.dev/releases
.PHONY: release
release: ## build everything that a release publishes into dist/, for VERSION=v1.2.3; takes minutes and publishes nothing
	@go run ./hack/release -version '$(VERSION)' -registry '$(REGISTRY)' -download '$(DOWNLOAD)'

.PHONY: sbom
sbom: build ## write a bill of materials (CycloneDX) and a provenance statement (in-toto) for each program to bin/
	@go run ./hack/release -describe bin/manager bin/kubectl-graphview

EACH ?= 10
.PHONY: mutate
mutate: ## break each function that decides about rights, visibility and limits EACH times, and print which breaks the tests of its packages do not notice; hours
	@go run ./hack/mutate -each $(EACH)

.PHONY: vulnerabilities
vulnerabilities: ## check the programs against the Go vulnerability database; says so if the database is out of reach
	@hack/vulnerabilities.sh

.PHONY: bench
bench: build ## measure the numbers in docs/measured/benchmarks.md, each beside its goal and a peer; about an hour
	@hack/control-plane.sh --no-controllers
	@go run ./test/bench

.PHONY: fmt
fmt: ## format the Go files
	@gofmt -w $$(git ls-files --cached --others --exclude-standard '*.go')

.PHONY: generate
generate: ## generate deep copies, CustomResourceDefinitions, the ClusterRole, tables in docs and of Kubernetes' kinds, the OpenAPI document and the types of the protocol, the copies in the chart and the bundle of the dashboard
	@go tool controller-gen object paths=./api/...
	@go tool controller-gen crd paths=./api/... output:crd:artifacts:config=config/crd/bases
	@go tool controller-gen rbac:roleName=graphview-manager paths=./controllers/... output:rbac:artifacts:config=config/rbac
	@go run ./hack/generate
	@go run ./hack/bundle

.PHONY: verify
verify: ## generate everything again, and fail if that changes a file; a minute
	@hack/verify.sh

.PHONY: lint
lint: c-compiler $(LINT) ## run golangci-lint on Go files, and Vale on comments and Markdown; compiling both takes some minutes, once
	@hack/vale.sh
	@$(LINT) run ./...

# Pinned in a module of its own, so that its dependencies are not the operator's.
$(LINT): hack/tools/go.mod hack/tools/go.sum
	@echo "lint: compiling golangci-lint, once" >&2
	@cd hack/tools && go build -trimpath -o ../../$(LINT) github.com/golangci/golangci-lint/v2/cmd/golangci-lint
