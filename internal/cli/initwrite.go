package cli

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"larder/configs"
)

//go:embed init.yaml.tmpl
var initText string

//nolint:gochecknoglobals // constant
var initTemplate = template.Must(template.New("larder.yaml").Funcs(template.FuncMap{
	"quote":  strconv.Quote,                                                             // YAML
	"escape": func(text string) string { return strings.ReplaceAll(text, "${", "$${") }, // not a variable
}).Parse(initText))

// load returns the configuration with the answers. If it is not valid, load prints the errors, and cfg is nil.
func (s *initSession) load() (text []byte, cfg *configs.Config) {
	var b bytes.Buffer
	_ = initTemplate.Execute(&b, s) // fails only if the template is wrong
	others := func(entry string) bool { return !strings.HasPrefix(entry, s.SecretVariable+"=") }
	cfg, err := configs.Parse(s.file, b.Bytes(), slices.DeleteFunc(slices.Clone(s.env.Environ), others))
	faults, _ := errors.AsType[configs.Errors](err)
	for _, f := range faults {
		s.printFinding(finding{Subject: f.Key, Msg: f.Msg})
	}
	return b.Bytes(), cfg
}

// write writes the file, which only its owner can read, and prints the next
// commands. It does not replace a file that another program has just created.
func (s *initSession) write(replace bool) error {
	text, cfg := s.load()
	if cfg == nil {
		return errors.New("the answers are not a valid configuration: nothing was written")
	}
	name := s.file
	if replace {
		name += ".new" // renamed when it is complete
		_ = os.Remove(name)
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil && replace {
		err = os.Rename(name, s.file)
	}
	if err != nil {
		return fmt.Errorf("write the configuration: %w", errors.Join(err, os.Remove(name)))
	}
	return s.report()
}

// initResult is what init --json prints.
type initResult struct {
	File         string    `json:"file"`
	TokenRequest string    `json:"tokenRequest,omitempty"` // the form that works; empty with --offline
	Restaurants  []string  `json:"restaurants"`
	Redis        string    `json:"redis"` // only the scheme, because a URL may contain a password
	Tried        []finding `json:"tried"`
	Next         []string  `json:"next"`
}

// report prints the result and the next commands.
func (s *initSession) report() error {
	config := " --config " + quoted(s.file)
	next := []string{"larder serve" + config, "larder status --watch" + config, "larder check --online" + config}
	if s.json {
		result := initResult{
			File:        s.file,
			Restaurants: []string{},
			Tried:       append([]finding{}, s.tried...),
			Next:        next,
		}
		result.Redis, _, _ = strings.Cut(s.Redis, "://")
		if s.Tried {
			result.TokenRequest = s.TokenRequest
		}
		for _, r := range s.Restaurants {
			result.Restaurants = append(result.Restaurants, r.ID)
		}
		return PrintJSON(s.env.Out, result)
	}
	s.env.Out.Printf("Created %s. Only you can read it, because it contains secrets.\n", s.file)
	if s.Redis == "embedded" {
		s.env.Out.Println("Redis is embedded: menus and orders are lost when larder stops. To keep them, set redis.url to a Redis server.")
	}
	s.env.Out.Printf("Orders need these settings in redis.conf:\n  appendonly yes\n  maxmemory-policy noeviction\n")
	s.env.Out.Printf("Next:\n  %s\n  %s   # in another terminal\n  %s   # at any time\n", next[0], next[1], next[2])
	return nil
}
