package lumi_test

import (
	"context"
	"slices"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// lookUp is like a generated struct of a function.
type lookUp struct{ Prefix, Family *string }

func (l *lookUp) Lumi(p *lumi.Props) {
	p.Deprecated("use Find.")
	lumi.Optional(p, "prefix", &l.Prefix, lumi.With(lumi.String, lumi.Deprecated("use Family.")))
	lumi.Optional(p, "family", &l.Family, lumi.String, lumi.Out)
}

// Deprecation warnings name the function, since their events have no URN.
func TestDeprecatedFunction(t *testing.T) {
	var logged []string
	ctx := lumi.WithEvents(t.Context(), func(e lumi.Event) { logged = append(logged, e.Message) })
	f := lumi.NewFunction("test:index:LookUp", func() *lookUp { return new(lookUp) },
		func(context.Context, *lookUp, lumi.References) error { return nil })
	must.Get(f.Call(ctx, &lumi.CallRequest{Arguments: bag(t, `{"prefix": "x"}`)}))(t)
	want := []string{"test:index:LookUp: the type is deprecated: use Find.", "test:index:LookUp: prefix: is deprecated: use Family."}
	if !slices.Equal(logged, want) {
		t.Errorf("Call logged %q, want %q", logged, want)
	}
}
