package redisdb

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// The commands that larder's user needs, as in docs/redis.md, with valid arguments: K and L are keys, C is a channel, D all channels.
const (
	anyCommands = "copy K K; del K; eval x 1 K; evalsha x 1 K; exec; exists K; get K; getrange K 0 0; hdel K x; hexists K x; " +
		"hget K x; hgetall K; hincrby K x 1; hlen K; hmget K x; hset K x x; hstrlen K x; hvals K; llen K; lpush K x; " +
		"lrange K 0 0; lset K 0 x; ltrim K 0 0; mget K L; multi; persist K; pexpire K 1; pexpireat K 1; ping; pttl K; " +
		"publish C x; rename K K; renamenx K K; sadd K x; scan 0; scard K; set K x; sismember K x; smembers K; srem K x; sscan K 0; " +
		"strlen K; subscribe D; time; unlink K; xadd K * x x; xrange K - +; xrevrange K + -; zadd K 0 x; zcard K; " +
		"zrange K 0 0; zrangebylex K - +; zrangebyscore K 0 0; zrem K x; zremrangebyrank K 0 0; zrevrange K 0 0; zrevrangebylex K + -"
	clusterCommands = "command; cluster slots; asking"
	// untestedCommands are reported by the connection (SELECT) and the journal, which can do without the others.
	untestedCommands = "info; select; wait"
)

// Rights returns the right to each command that larder's user needs, as a word of ACL SETUSER.
func Rights() (words []string) {
	for line := range strings.SplitSeq(anyCommands+"; "+clusterCommands+"; "+untestedCommands, "; ") {
		command, _, _ := strings.Cut(strings.Replace(line, "cluster ", "cluster|", 1), " ")
		words = append(words, "+"+command)
	}
	return words
}

// testRights returns a *RefusedError that names all rights that larder's user lacks on a server, or one that says that the
// server is a node of a cluster although redis.url is not. It executes no command: all are in a transaction that Redis
// discards. Without MULTI they would be executed, so it is tested first.
func (db *DB) testRights(ctx context.Context, server redis.Cmdable, key string, channels []string) error {
	lines := anyCommands
	if db.topology == Cluster {
		lines += "; " + clusterCommands
	}
	lines = strings.NewReplacer("exec; ", "", "multi; ", "",
		" K", " "+key, " L", " "+db.prefix+":f1:probe", // in another slot
		" C", " "+channels[0], " D", " "+strings.Join(channels, " "),
	).Replace(lines)
	for _, sent := range []string{"multi; exec", "multi; " + lines + "; get; exec"} { // GET without a key is an error
		pipe := server.Pipeline()
		for line := range strings.SplitSeq(sent, "; ") {
			var command []any
			for word := range strings.FieldsSeq(line) {
				command = append(command, word)
			}
			pipe.Do(ctx, command...)
		}
		replies, _ := pipe.Exec(ctx) // each reply has its own error
		var rights []string
		var last error
		for _, reply := range replies {
			said, ok := errors.AsType[redis.Error](reply.Err())
			if reply.Err() != nil && !ok {
				return unavailable("test the rights", reply.Err())
			}
			if !ok {
				continue
			}
			class, right := errorClass(said.Error()), missingRight(said.Error())
			switch {
			case class == NoPermission && right != "":
				rights, last = append(rights, strings.ReplaceAll(right, "PREFIX", db.prefix)), said
			case class == NoPermission, class == "CROSSSLOT" && db.topology != Cluster:
				return AsRefused(unavailable("test the rights", said))
			}
		}
		if len(rights) > 0 {
			slices.Sort(rights)
			return &RefusedError{Class: NoPermission, Rights: slices.Compact(rights), Err: unavailable("test the rights", last)}
		}
	}
	return nil
}
