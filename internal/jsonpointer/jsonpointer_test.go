package jsonpointer_test

import (
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/internal/jsonpointer"
)

func TestWithin(t *testing.T) {
	for key, want := range map[string]string{
		"": "/a/", "b": "/a/b", "b/c": "/a/b~1c", "~": "/a/~0", "~1": "/a/~01", "~/": "/a/~0~1",
	} {
		if found := jsonpointer.Within("/a", key); found != want {
			t.Errorf("%q in /a is at %q, want %q", key, found, want)
		}
		if back := jsonpointer.Unescape(strings.TrimPrefix(want, "/a/")); back != key {
			t.Errorf("%q stands for %q, want %q", want, back, key)
		}
	}
}
