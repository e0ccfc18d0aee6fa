# What each target does is said by `make help`. Needed: Go 1.26, make, git, and a
# C compiler for the race detector. Everything else is compiled into bin/.

.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -euo pipefail -c

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo v0.0.0)
LDFLAGS := -s -w -X main.version=$(VERSION)
# The whole of `go test`: with a cold cache most of it is the compiler.
TEST_TIMEOUT ?= 35m
LINT := bin/golangci-lint

.PHONY: help
help: ## say what the targets do
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

.PHONY: run
run: control-plane build ## start a control plane and the operator, stream a sample application's graph; Ctrl-C ends all of it
	@go run ./hack/run

.PHONY: test
test: control-plane helm ## every test, against a real control plane, with the race detector
	@echo "test: go vet ./..."
	@go vet ./...
	@echo "test: go test -race ./... (starts etcd and kube-apiserver where it needs them)"
	@CGO_ENABLED=1 go test -race -timeout $(TEST_TIMEOUT) ./...

.PHONY: test-js
test-js: control-plane build dashboard-bundle ## the JavaScript client in Node.js and Chromium, clients in React and Python, and drawings of exports; installs what they need as root on Debian, and npm packages
	@hack/js-tools.sh
	@PATH="$(CURDIR)/bin/.node/node_modules/.bin:$$PATH" go run ./test/js

.PHONY: dashboard-bundle
dashboard-bundle: ## one file of <graph-view>, for other people's pages, into bin/graph-view.js
	@go run ./hack/bundle -single bin/graph-view.js

.PHONY: screenshots
screenshots: control-plane build ## the pictures of docs/images: the dashboard with graphs of 50, 500 and 5,000 objects, and the walkthrough's
	@hack/js-tools.sh
	@PATH="$(CURDIR)/bin/.node/node_modules/.bin:$$PATH" sh -c 'node test/dashboard/screenshots.mjs && node test/dashboard/walkthrough.mjs'

.PHONY: dashboard-bench
dashboard-bench: ## measure the dashboard in Chromium, and write the table of docs/dashboard.md
	@hack/js-tools.sh
	@PATH="$(CURDIR)/bin/.node/node_modules/.bin:$$PATH" node test/dashboard/measure.mjs

EPISODES ?= 200
SEED ?= 0
.PHONY: faults
faults: control-plane ## EPISODES of faults, from SEED on, each with its result in a line; make test runs a few
	@CGO_ENABLED=1 go test -race -v -timeout 4h ./test/faults -args -episodes $(EPISODES) -seed $(SEED) -rounds $(EPISODES)

FUZZTIME ?= 60s
.PHONY: fuzz
fuzz: ## every fuzz target, for FUZZTIME each, one line per target
	@FUZZTIME=$(FUZZTIME) hack/fuzz.sh

.PHONY: control-plane
control-plane: ## compile etcd, kube-apiserver, kube-controller-manager and kubectl into bin/controlplane, once
	@hack/control-plane.sh

.PHONY: helm
helm: ## compile Helm into bin/helm, once, for the chart's tests
	@hack/helm.sh

.PHONY: build
build: ## compile the operator into bin/manager, and the kubectl plugin into bin/kubectl-graphview
	@CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/manager ./cmd/manager
	@CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/kubectl-graphview ./cmd/kubectl-graphview
	@install -m 0755 cmd/kubectl-graphview/kubectl_complete-graphview bin/

.PHONY: image
PLATFORMS ?= linux/amd64,linux/arm64
image: ## the operator's container image, without Docker, as an OCI layout in bin/image.tar; the same bytes each time
	@cd hack/image && go run . -root ../.. -out ../../bin/image.tar -version '$(VERSION)' -platforms '$(PLATFORMS)'

.PHONY: push
push: ## build that image and push it to IMAGE, with the credentials of docker login
	@cd hack/image && go run . -root ../.. -push '$(IMAGE)' -version '$(VERSION)' -platforms '$(PLATFORMS)'

REGISTRY ?= graphview.dev
DOWNLOAD ?= https://graphview.dev/releases
.PHONY: release
release: ## everything that is published of VERSION=v1.2.3, into dist/; takes minutes, and publishes nothing
	@go run ./hack/release -version '$(VERSION)' -registry '$(REGISTRY)' -download '$(DOWNLOAD)'

.PHONY: sbom
sbom: build ## a bill of materials (CycloneDX) for each program, and a statement of how they were built (in-toto), in bin/
	@go run ./hack/sbom bin/manager bin/kubectl-graphview

.PHONY: vulnerabilities
vulnerabilities: ## compare what the programs call with Go's vulnerability database; says so where that is out of reach
	@hack/vulnerabilities.sh

.PHONY: bench
bench: control-plane build ## the numbers that matter, each with its goal and what to compare it with
	@go run ./test/bench

.PHONY: fmt
fmt: ## format the Go files
	@gofmt -w $$(git ls-files --cached --others --exclude-standard '*.go')

.PHONY: generate
generate: ## deep copies, CustomResourceDefinitions, the operator's role, the field tables of docs, the chart's copies and table of values, and the dashboard's bundle
	@go tool controller-gen object paths=./api/...
	@go tool controller-gen crd paths=./api/... output:crd:artifacts:config=config/crd/bases
	@go tool controller-gen rbac:roleName=graphview-manager paths=./controllers/... output:rbac:artifacts:config=config/rbac
	@go run ./hack/docs
	@go run ./hack/chart
	@go run ./hack/bundle

.PHONY: verify
verify: ## regenerate everything that is generated, and fail if the tree changed or is not tidy
	@hack/verify.sh

.PHONY: lint
lint: $(LINT) ## golangci-lint; compiling it takes some minutes, once
	@$(LINT) run ./...

# Pinned in a module of its own, so that its dependencies are not the operator's.
$(LINT): hack/tools/go.mod hack/tools/go.sum
	@echo "lint: compiling golangci-lint, once" >&2
	@cd hack/tools && go build -trimpath -o ../../$(LINT) github.com/golangci/golangci-lint/v2/cmd/golangci-lint
