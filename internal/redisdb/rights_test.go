package redisdb_test

import (
	"context"
	"crypto/rand"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"larder.local/internal/redisdb"
	"larder.local/internal/testkit/redistest"
)

var executed = regexp.MustCompile(`cmdstat_(copy|hset):calls=[1-9]`)

// Policy H14: a probe with channels names each right that larder's user lacks, and changes nothing.
func TestProbeNamesEachMissingRight_H14(t *testing.T) {
	t.Parallel()
	single := redistest.Start(t)
	cluster := shared.Cluster(t)
	for url, servers := range map[string][]*redistest.Server{single.URL(): {single}, cluster.URL(): cluster.Nodes()} {
		name, inCluster := rand.Text(), len(servers) > 1
		r := open(t, strings.Replace(url, "://", "://"+name+":secret@", 1))
		probe := func(without ...string) (*redisdb.RefusedError, error) {
			words := append([]string{"reset", "on", ">secret", "~larder:*", "&larder:*"}, redisdb.Rights()...)
			command := []any{"ACL", "SETUSER", name}
			for _, word := range words {
				if !slices.Contains(without, word) {
					command = append(command, word)
				}
			}
			for _, server := range servers {
				if err := server.Client().Do(t.Context(), command...).Err(); err != nil {
					t.Fatal(err)
				}
			}
			err := r.Probe(t.Context(), notices, runNotices)
			refused, _ := errors.AsType[*redisdb.RefusedError](err)
			return refused, err
		}
		if _, err := probe(); err != nil {
			t.Fatalf("all rights: %v", err)
		}
		for _, right := range redisdb.Rights() {
			refused, err := probe(right)
			switch {
			case slices.Contains([]string{"+info", "+select", "+wait"}, right), // the connection and the journal report these
				!inCluster && slices.Contains([]string{"+command", "+cluster|slots", "+asking"}, right):
				if err != nil {
					t.Errorf("without %s: %v", right, err)
				}
			case refused == nil || refused.Class != "NOPERM" || !strings.Contains(strings.ReplaceAll(refused.Reason(), "'", ""), " NAME "+right+" "):
				t.Errorf("cluster %t, without %s: %v", inCluster, right, err)
			}
		}
		if refused, err := probe("~larder:*", "+hset", "+zadd"); refused == nil || !slices.Equal(refused.Rights, []string{"'~larder:*'", "+hset", "+zadd"}) || refused.OrdersUnaffected() {
			t.Errorf("without keys and two commands: %v", err)
		}
	}
	if written := single.Client().Keys(t.Context(), "*").Val(); !slices.Equal(written, []string{"larder:{p:0}:f1:probe"}) {
		t.Errorf("keys: %q, want only that of the test write", written)
	}
	if stats := single.Client().Info(t.Context(), "commandstats").Val(); executed.MatchString(stats) {
		t.Errorf("commands were executed: %s", stats)
	}
}

// A node of a cluster is named as one, whichever slot it has.
func TestProbeOfANodeOfACluster(t *testing.T) {
	t.Parallel()
	for _, node := range shared.Cluster(t).Nodes() {
		r := open(t, node.URL())
		for _, channels := range [][]string{{notices, runNotices}, nil} {
			err := r.Probe(context.WithoutCancel(t.Context()), channels...)
			if text := redisdb.SafeText(err); !strings.Contains(text, "write redis+cluster:// in redis.url") && (channels != nil || err != nil) {
				t.Errorf("%s, %d channels: %q of %v", node.Addr(), len(channels), text, err)
			}
		}
	}
}
