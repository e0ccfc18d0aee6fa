# The operator in a static image without a shell:
#
#   docker build --build-arg VERSION=$(git describe --tags --always) -t registry.example.com/graphview:dev .
#
# `make image` makes one of the same content without Docker, byte for byte the same
# each time.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY api api
COPY client client
COPY cmd/manager cmd/manager
COPY controllers controllers
COPY dashboard dashboard
COPY graphview graphview
COPY stream stream
ARG TARGETOS TARGETARCH VERSION=v0.0.0
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$VERSION" -o /manager ./cmd/manager

FROM gcr.io/distroless/static:nonroot
COPY --from=build /manager /manager
USER 65532:65532
ENTRYPOINT ["/manager"]
