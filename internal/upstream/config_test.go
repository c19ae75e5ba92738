package upstream_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larder.local/internal/setting"
	"larder.local/internal/upstream"
)

func TestConfigDefaults(t *testing.T) {
	t.Parallel()
	var cfg upstream.Config
	if !cfg.KeepsDefaultMenu() {
		t.Error("without default_menu, the default menu is off")
	}
	cfg.SetDefaults()
	want := upstream.Config{
		TokenRequest: documentForm(),
		DefaultMenu:  new(true),
		FieldCase:    upstream.FieldCaseDocument,
		OrderNumbers: upstream.OrderNumbersService,
		Concurrency:  16,
		Timeouts: upstream.Timeouts{
			Token: 10 * time.Second,
			Menu:  30 * time.Second,
			Write: 15 * time.Second,
			Reuse: new(2 * time.Second),
		},
	}
	if diff := cmp.Diff(want, cfg); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	cfg.DefaultMenu = new(false)
	if cfg.SetDefaults(); cfg.KeepsDefaultMenu() {
		t.Error("default_menu: false is overwritten")
	}
}

func TestInvalidConfigs(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*upstream.Config)
		key    string
		want   string
	}{
		"a refusal code without a code": {func(c *upstream.Config) { c.RefusalCodes = []string{"A", ": part"} }, "refusal_codes[1]", "has no code"},
		"unknown order numbers":         {func(c *upstream.Config) { c.OrderNumbers = "x" }, "order_numbers", "service, restaurant"},
		"an empty word":                 {func(c *upstream.Config) { c.TimeoutWords = []string{" "} }, "timeout_words[0]", "is empty"},
		"no name":                       {func(c *upstream.Config) { c.Name = "" }, "name", "is missing: write any name"},
		"a name with @":                 {func(c *upstream.Config) { c.Name = "@main" }, "name", "use 1 to 64"},
		"no base_url":                   {func(c *upstream.Config) { c.BaseURL = "" }, "base_url", "is missing"},
		"base_url invalid":              {func(c *upstream.Config) { c.BaseURL = "http://a:b:c" }, "base_url", "not a valid URL: check the host"},
		"base_url with spaces":          {func(c *upstream.Config) { c.BaseURL = "http://a b" }, "base_url", "not a valid URL: check the host and the port, and remove spaces"},
		"base_url of nothing":           {func(c *upstream.Config) { c.BaseURL = "://a b" }, "base_url", "not a valid URL (start with http"},
		"base_url of ftp":               {func(c *upstream.Config) { c.BaseURL = "ftp://host" }, "base_url", "http://"},
		"base_url no host":              {func(c *upstream.Config) { c.BaseURL = "http:///x" }, "base_url", "no host"},
		"base_url with its path":        {func(c *upstream.Config) { c.BaseURL = "http://h/x/orders/api/v1/" }, "base_url", "end it before /orders/api/v1: larder adds that itself"},
		"auth_url with its path":        {func(c *upstream.Config) { c.AuthURL = "http://h/connect/token" }, "auth_url", "end it before /connect/token"},
		"base_url with query":           {func(c *upstream.Config) { c.BaseURL = "http://h?x=1" }, "base_url", "must not have a query"},
		"auth_url with a user":          {func(c *upstream.Config) { c.AuthURL = "http://u:hidden@h" }, "auth_url", "must not contain a user"},
		"a former url without scheme":   {func(c *upstream.Config) { c.FormerURLs = []string{"pos.example/api"} }, "former_urls[0]", `"pos.example/api" must start with http:// or https://`},
		"an empty former client":        {func(c *upstream.Config) { c.FormerClientIDs = []string{""} }, "former_client_ids[0]", "is empty"},
		"no client_id":                  {func(c *upstream.Config) { c.ClientID = "" }, "client_id", "is missing"},
		"no secret":                     {func(c *upstream.Config) { c.ClientSecret = "" }, "client_secret", "is missing"},
		"token encoding":                {func(c *upstream.Config) { c.TokenRequest.Encoding = "xml" }, "token_request.encoding", "multipart"},
		"field_case":                    {func(c *upstream.Config) { c.FieldCase = "snake" }, "field_case", "document, camel"},
		"negative rate":                 {func(c *upstream.Config) { c.Rate = -1 }, "rate", "0 means no limit"},
		"rate not a number":             {func(c *upstream.Config) { c.Rate = math.NaN() }, "rate", "0 means no limit"},
		"negative concurrency":          {func(c *upstream.Config) { c.Concurrency = -1 }, "concurrency", "at least 1"},
		"negative timeout":              {func(c *upstream.Config) { c.Timeouts.Token = -1 }, "timeouts.token", "must be more than 0"},
		"negative reuse":                {func(c *upstream.Config) { c.Timeouts.Reuse = new(-time.Second) }, "timeouts.reuse", "must not be negative"},
		"endless reuse":                 {func(c *upstream.Config) { c.Timeouts.Reuse = new(time.Hour) }, "timeouts.reuse", "more than 10m"},
		"endless timeout":               {func(c *upstream.Config) { c.Timeouts.Write = time.Hour }, "timeouts.write", "at most 10m"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := config("http://service.test/")
			tc.change(&cfg)
			_, err := upstream.New(cfg, upstream.Deps{})
			var fault *setting.Error
			if !errors.As(err, &fault) || fault.Key != tc.key || !strings.Contains(fault.Msg, tc.want) {
				t.Errorf("New() = %v, want %s: …%s…", err, tc.key, tc.want)
			}
			if err != nil && strings.Contains(err.Error(), "hidden") {
				t.Errorf("New() = %v contains a password", err)
			}
		})
	}
	err := upstream.Config{}.Validate()
	if err == nil || strings.Count(err.Error(), "\n") < 5 {
		t.Errorf("Validate() of an empty configuration = %v, want all errors", err)
	}
}
