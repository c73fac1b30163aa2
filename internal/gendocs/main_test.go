package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/idl/diag"
)

// TestCurrent holds that the page on disk is the one that go generate would write.
func TestCurrent(t *testing.T) {
	got, err := os.ReadFile("../../docs/diagnostics.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(page(diag.Groups()), "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("run 'go generate ./idl/diag' (-want +docs/diagnostics.md):\n%s", diff)
	}
}
