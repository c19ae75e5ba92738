package configs

import (
	_ "embed"
	"reflect"
)

//go:embed larder.yaml
var sampleFile []byte

//go:embed demo.yaml
var demoFile []byte

// Sample is larder.yaml: every key with its meaning and default, for people to copy.
func Sample() []byte { return append([]byte(nil), sampleFile...) }

// Demo is demo.yaml: the configuration of `larder demo`.
func Demo() []byte { return append([]byte(nil), demoFile...) }

// demoSecrets are the secrets that stand in demo.yaml.
func demoSecrets() []string {
	var secrets []string
	cfg, l := &Config{}, newLoader("")
	v := reflect.ValueOf(cfg).Elem()
	l.read(demoFile, nil, v)
	eachSecret("", v, func(path string, target reflect.Value) {
		if _, given := l.origins[path]; given && path != "redis.url" {
			secrets = append(secrets, target.String())
		}
	})
	return secrets
}
