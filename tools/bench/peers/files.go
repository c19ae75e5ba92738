package peers

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"text/template"

	"larder.local/tools/bench/answers"
)

// setting contains the values for the peers' configuration files.
type setting struct {
	Dir     string // only for this server
	Port    int
	Origin  string // host:port of the proxies' origin
	Threads int    // the number of cores for the server
	Root    bool   // the measurement runs as root
	// Tuned configures nginx to send large responses without tcp_nopush, whose speed
	// otherwise depends on the offset in the file, and those of the paths in Small,
	// which are shorter than 32 KiB, without sendfile.
	Tuned bool
	Small []string
	// Answers are the files of nginx.
	Answers []answers.Answer
}

// nginx with sendfile and tcp_nopush, as in Debian, and as the goals were measured. The
// proxies use only the path and the age of a response. The cost of larder's
// Cache-Control and Vary is not measured, and nothing is logged.
const nginxMain = `daemon off;
{{if .Root}}user root;
{{end}}worker_processes {{.Threads}};
pid {{.Dir}}/nginx.pid;
error_log stderr warn;
events { worker_connections 4096; }
http {
  access_log off;
  server_tokens off;
  sendfile on;
  tcp_nopush {{if .Tuned}}off{{else}}on{{end}};
  tcp_nodelay on;
  keepalive_timeout 75s;
  keepalive_requests 1000000000;
  open_file_cache max=1000 inactive=1h;
  open_file_cache_valid 1h;
  default_type "application/json; charset=utf-8";
  types { }
  client_body_temp_path {{.Dir}}/body;
  proxy_temp_path {{.Dir}}/proxy;
  fastcgi_temp_path {{.Dir}}/fastcgi;
  uwsgi_temp_path {{.Dir}}/uwsgi;
  scgi_temp_path {{.Dir}}/scgi;
`

const nginxProxy = nginxMain + `
  proxy_cache_path {{.Dir}}/cache levels=1:2 keys_zone=menus:8m max_size=256m inactive=1d use_temp_path=off;
  server {
    listen 127.0.0.1:{{.Port}} backlog=1024;
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_cache menus;
    proxy_cache_key $uri;
    proxy_cache_valid 200 1d;
    proxy_ignore_headers Cache-Control Expires Vary;
    location / { proxy_pass http://{{.Origin}}; }
{{if .Tuned}}{{range .Small}}    location = {{.}} { sendfile off; proxy_pass http://{{$.Origin}}; }
{{end}}{{end}}  }
}
`

// Files have their own names and times: nginx creates Last-Modified and ETag.
const nginxStatic = nginxMain + `
  server {
    listen 127.0.0.1:{{.Port}} backlog=1024;
    root {{.Dir}}/root;
{{range .Answers}}    location = {{.Path}} {
      gzip_static on;
{{range .Header}}{{if own (index . 0)}}      add_header {{index . 0}} {{quote (index . 1)}};
{{end}}{{end}}    }
{{end}}  }
}
`

const haproxyFile = `global
  nbthread {{.Threads}}
  maxconn 4096
defaults
  mode http
  timeout connect 5s
  timeout client 75s
  timeout server 30s
cache menus
  total-max-size 64
  max-object-size 16000000
  max-age 86400
  process-vary on
frontend read
  bind 127.0.0.1:{{.Port}}
  http-request cache-use menus
  http-response cache-store menus
  default_backend origin
backend origin
  server origin {{.Origin}}
`

// Varnish's own headers are removed, so that its responses are not longer than the others.
const varnishFile = `vcl 4.1;
backend origin { .host = "{{host .Origin}}"; .port = "{{port .Origin}}"; }
sub vcl_backend_response { set beresp.ttl = 1d; }
sub vcl_deliver {
  unset resp.http.Via;
  unset resp.http.X-Varnish;
  unset resp.http.Age;
}
`

// render fills in one of the templates above.
func render(text string, s setting) ([]byte, error) {
	if strings.ContainsAny(s.Dir, " \t\n\"'{};\\") {
		return nil, fmt.Errorf("the folder %q cannot stand in a configuration of nginx: name another one with --dir", s.Dir)
	}
	address := func(at int) func(string) string {
		return func(address string) string { return strings.SplitN(address, ":", 2)[at] }
	}
	made, err := template.New("").Funcs(template.FuncMap{
		"host":  address(0),
		"port":  address(1),
		"quote": quote,
		"own":   sentByNginx,
	}).Parse(text)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = made.Execute(&out, s)
	return out.Bytes(), err
}

// quote quotes a value for nginx's configuration, which cannot contain a dollar sign.
func quote(value string) (string, error) {
	if strings.ContainsAny(value, "$\n") {
		return "", fmt.Errorf("the header's value %q cannot stand in a configuration of nginx", value)
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`, nil
}

// sentByNginx reports whether a header must be added to the response for a file; nginx
// creates the others.
func sentByNginx(name string) bool {
	switch strings.ToLower(name) {
	case "etag", "last-modified", "content-type", "content-encoding", "x-request-id":
		return false
	default:
		return true
	}
}

// static returns the path at which nginx looks for the file of a response.
func static(dir string, a answers.Answer) string {
	name := filepath.Join(dir, "root", filepath.FromSlash(a.Path))
	for _, h := range a.Header {
		if strings.EqualFold(h[0], "Content-Encoding") && h[1] == "gzip" {
			return name + ".gz"
		}
	}
	return name
}
