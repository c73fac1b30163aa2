package breaking_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/lumi-idl/lumi/idl/breaking"
	"github.com/lumi-idl/lumi/idl/compile"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// TestReplacementsFound checks that a change without findings for deployed resources never turns an update into a
// replacement. Programs are assumed to set new required properties.
func TestReplacementsFound(t *testing.T) {
	archive := must.Get(txtar.ParseFile("testdata/judges/replaced.txtar"))(t)
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	pkg := load(t, files, compile.Options{})
	replaced, spared := 0, 0
	for seed := range uint64(600) {
		c := &changer{rand.New(rand.NewPCG(seed, 7)), copyOf(t, pkg), nil}
		c.change(false)
		old := copyOf(t, c.pkg)
		c.done = nil
		c.change(false)
		now := copyOf(t, c.pkg)
		findings := compare(old, now)
		worst := breaking.None
		for _, f := range findings {
			worst = max(worst, f.Impact.Deployed)
		}
		for d := range old.Decls() {
			r, ok := d.(*schema.Resource)
			if !ok || served(now, r) == nil {
				continue
			}
			is := served(now, r)
			args := sparse(c.Rand, r, 4)
			state, want := renamed(is, filled(r, args)), filled(is, completed(is, renamed(is, args)))
			for _, p := range is.Properties {
				if !p.Replaces || reflect.DeepEqual(state[p.Name], want[p.Name]) {
					continue
				}
				replaced++
				if worst == breaking.None {
					t.Fatalf("seed %d: after %s, %s.%s changes from %v to %v and replaces its resource; want a finding for deployed resources, got:\n%s", seed,
						strings.Join(c.done, ", "), is.Name, p.Name, state[p.Name], want[p.Name], text(t, findings))
				}
			}
		}
		if worst == breaking.None {
			spared++
		}
	}
	if replaced < 20 || spared < 20 {
		t.Errorf("got %d replacements and %d harmless changes, want at least 20 of each", replaced, spared)
	}
}

// sparse returns arguments that set a random subset of the optional properties.
func sparse(r *rand.Rand, d schema.Decl, depth int) map[string]any {
	args := map[string]any{}
	for _, p := range schema.Properties(d) {
		_, isUnion := d.(*schema.Union)
		if p.Out || p.Optional && !isUnion && (depth < 0 || r.IntN(2) == 0) {
			continue
		}
		if args[p.Name] = sparseValue(r, p.Type, depth); isUnion {
			break
		}
	}
	return args
}

func sparseValue(r *rand.Rand, t schema.Type, depth int) any {
	if depth < -6 { // a required property closes a cycle
		return nil
	}
	switch t := schema.Underlying(t).(type) {
	case *schema.List:
		return []any{sparseValue(r, t.Elem, depth-1)}
	case *schema.Map:
		return map[string]any{"key": sparseValue(r, t.Elem, depth-1)}
	case *schema.Ref:
		if kind := t.Decl.Head().Kind; kind == "struct" || kind == "union" && t.Decl.(*schema.Union).Tokens() == nil {
			return sparse(r, t.Decl, depth-1)
		}
	}
	return fmt.Sprint(value(t, 1))
}

// filled returns args with all defaults filled in, as a provider does.
func filled(d schema.Decl, args map[string]any) map[string]any {
	all := map[string]any{}
	for _, p := range schema.Properties(d) {
		if v := args[p.Name]; v != nil {
			all[p.Name] = inside(p.Type, v, filled)
		} else if p.Default != nil {
			all[p.Name] = p.Default
		}
	}
	return all
}

// completed returns args with values for all missing required properties.
func completed(d schema.Decl, args map[string]any) map[string]any {
	all := map[string]any{}
	for _, p := range schema.Properties(d) {
		if v := args[p.Name]; v != nil {
			all[p.Name] = inside(p.Type, v, completed)
		} else if !p.Optional && !p.Out {
			all[p.Name] = "new"
		}
	}
	return all
}

// inside calls apply for each object in a value and returns the value with the results.
func inside(t schema.Type, v any, apply func(schema.Decl, map[string]any) map[string]any) any {
	switch t := schema.Underlying(t).(type) {
	case *schema.List:
		if list, ok := v.([]any); ok {
			return []any{inside(t.Elem, list[0], apply)}
		}
	case *schema.Map:
		if m, ok := v.(map[string]any); ok && m["key"] != nil {
			return map[string]any{"key": inside(t.Elem, m["key"], apply)}
		}
	case *schema.Ref:
		if m, ok := v.(map[string]any); ok {
			return apply(t.Decl, m)
		}
	}
	return v
}
