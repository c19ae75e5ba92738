# syntax=docker/dockerfile:1

FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=container
RUN CGO_ENABLED=0 go build -trimpath -tags nomsgpack \
      -ldflags "-s -w -X main.version=${VERSION}" -o /out/larder ./cmd/larder

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/larder /larder
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
