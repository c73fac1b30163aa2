package compile_test

import (
	"context"
	"testing"

	"github.com/lumi-idl/lumi/idl/compile"
)

func TestLoadExample(t *testing.T) {
	pkg, diags, err := compile.Load(context.Background(), compile.Options{Dir: "../../examples/aws/idl"})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range diags {
		t.Errorf("Load reported %s:%d:%d: %s: %s (%s)", d.Span.Start.File, d.Span.Start.Line, d.Span.Start.Column, d.Code, d.Message, d.Suggestion)
	}
	if pkg != nil && pkg.Name != "aws" {
		t.Errorf("Load: package name = %q, want aws", pkg.Name)
	}
}
