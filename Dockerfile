# syntax=docker/dockerfile:1

# Cross-compiled on the builder's platform: larder needs no C compiler.
# The release of the toolchain line in go.mod.
FROM --platform=$BUILDPLATFORM golang:1.26.11-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
ARG TARGETOS TARGETARCH
ARG VERSION=container
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -tags nomsgpack -ldflags "-s -w -X main.version=${VERSION}" -o /out/larder ./cmd/larder

# Only larder: no shell, no packages, no writable files.
FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/larder /larder
COPY LICENSE /LICENSE
COPY configs/larder.yaml /etc/larder/larder.yaml
# Numeric, because the image has no /etc/passwd.
USER 65532:65532
# The defaults of the image. Variables can set all settings.
ENV LARDER_CONFIG=/etc/larder/larder.yaml \
    LARDER_HTTP_LISTEN=0.0.0.0:8080
EXPOSE 8080
# Healthy means ready (GET /readyz): larder serves at least one menu.
HEALTHCHECK --interval=15s --timeout=6s --start-period=60s --retries=3 CMD ["/larder", "status"]
ENTRYPOINT ["/larder"]
CMD ["serve"]
