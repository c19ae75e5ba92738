# syntax=docker/dockerfile:1

# Built on the builder's own platform for any other: larder needs no C.
FROM --platform=$BUILDPLATFORM golang:1.26.8-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
ARG TARGETOS TARGETARCH
ARG VERSION=container
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -tags nomsgpack -ldflags "-s -w -X main.version=${VERSION}" -o /out/larder ./cmd/larder

# Nothing but larder: no shell, no package, no file that it could write.
FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/larder /larder
COPY LICENSE /LICENSE
COPY configs/larder.yaml /etc/larder/larder.yaml
# No name would resolve here: the image has no /etc/passwd.
USER 65532:65532
# Every flag has its variable, every setting too; these two are the image's own.
ENV LARDER_CONFIG=/etc/larder/larder.yaml \
    LARDER_HTTP_LISTEN=0.0.0.0:8080
EXPOSE 8080
# Ready, as GET /readyz says it: serving at least one catalogue.
HEALTHCHECK --interval=15s --timeout=6s --start-period=60s --retries=3 CMD ["/larder", "status"]
ENTRYPOINT ["/larder"]
CMD ["serve"]
