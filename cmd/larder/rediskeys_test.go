package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"larder/internal/sandbox"
	"larder/internal/testkit/clitest"
	"larder/internal/testkit/redistest"
)

// documentedKey is a key or channel with a section in docs/redis.md.
type documentedKey struct{ name, kind, chapter string }

var (
	keyChapter = regexp.MustCompile("(?m)^### `(\\S+)` \\((\\w+)\\)[^\n]*\n")
	fieldRow   = regexp.MustCompile("(?m)^\\| `(\\w+)` \\|")
)

// documentedKeys are the keys that other programs may read.
func documentedKeys(t *testing.T) []documentedKey {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs/redis.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "\n## Keys\n")
	text, _, _ = strings.Cut(text, "\n## ")
	var keys []documentedKey
	chapters := keyChapter.FindAllStringSubmatchIndex(text, -1)
	for i, at := range chapters {
		end := len(text)
		if i+1 < len(chapters) {
			end = chapters[i+1][0]
		}
		keys = append(keys, documentedKey{text[at[2]:at[3]], text[at[4]:at[5]], text[at[1]:end]})
	}
	if least := 7; len(keys) < least {
		t.Fatalf("%d documented keys found, there were %d once", len(keys), least)
	}
	return keys
}

// TestDocumentedRedisKeys reads all keys that docs/redis.md documents for other
// programs from a real Redis, with the commands of the page, and subscribes to all
// channels.
func TestDocumentedRedisKeys(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), clitest.WaitLimit)
	defer cancel()
	server := redistest.Start(t, redistest.AppendOnly())
	base, _, _ := runningDemo(t, "LARDER_REDIS_URL="+server.URL())
	client := server.Client()
	keys := documentedKeys(t)

	subscribed := map[string]*redis.PubSub{}
	for _, key := range keys {
		if key.kind == "channel" {
			subscribed[key.name] = client.Subscribe(ctx, key.name)
			if _, err := subscribed[key.name].Receive(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	ops := []string{"--url", base, "--client-id", "ops", "--client-secret", "ops-secret"}
	must(t, append([]string{"menu", "rollback", sandbox.BistroID, "1"}, ops...)...) // another version, and a hold

	current := client.HGetAll(ctx, "larder:{r:"+sandbox.BistroID+"}:current").Val()
	named := strings.NewReplacer("ID", sandbox.BistroID, "<index>", current["index"], "<version>", current["version"])
	for _, key := range keys {
		name := named.Replace(key.name)
		switch key.kind {
		case "channel":
			message, err := subscribed[key.name].ReceiveMessage(ctx)
			if err != nil || message.Payload == "" {
				t.Errorf("%s: heard %v, %v", name, message, err)
			}
			if err := subscribed[key.name].Close(); err != nil {
				t.Error(err)
			}
		default:
			if kind := client.Type(ctx, name).Val(); kind != key.kind {
				t.Errorf("%s is a %s, but a %s in docs/redis.md", name, kind, key.kind)
			}
		}
		if !strings.HasSuffix(key.name, ":current") {
			continue
		}
		for _, row := range fieldRow.FindAllStringSubmatch(key.chapter, -1) {
			if _, there := current[row[1]]; !there {
				t.Errorf("%s has no field %s; it has %v", name, row[1], current)
			}
		}
	}
}
