//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package cache

import (
	"errors"
	"os"
)

var errNoManaged = errors.New(`this system has no means for redis.url "managed"; name a Redis that runs`)

func lockFileOnce(string) (file *os.File, holder string, err error) { return nil, "", errNoManaged }

func sign(*os.File, int) error { return errNoManaged }

func locked(string) bool { return false }

func spawn(string, []string, string, string, *os.File) (pid int, err error) { return 0, errNoManaged }

func reaped(int) bool { return true }

func exists(int) bool { return false }

func terminate(int) {}

func kill(int) {}
