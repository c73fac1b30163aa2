package jsonpointer_test

import (
	"testing"

	"github.com/lumi-idl/lumi/internal/jsonpointer"
)

func TestWithin(t *testing.T) {
	for key, want := range map[string]string{
		"": "/a/", "b": "/a/b", "b/c": "/a/b~1c", "~": "/a/~0", "~1": "/a/~01", "~/": "/a/~0~1",
	} {
		if found := jsonpointer.Within("/a", key); found != want {
			t.Errorf("Within(/a, %q) = %q, want %q", key, found, want)
		}
	}
}
