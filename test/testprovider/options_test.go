package feature

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// caches implements the operations of cache as no-ops.
type caches struct{}

func (caches) Check(context.Context, *lumi.State[*cache]) error                       { return nil }
func (caches) Name(context.Context, *lumi.State[*cache]) (string, error)              { return "cache", nil }
func (caches) Create(context.Context, *lumi.State[*cache]) (lumi.ID, error)           { return "1", nil }
func (caches) Delete(context.Context, *lumi.State[*cache]) error                      { return nil }
func (caches) Update(_ context.Context, _, _ *lumi.State[*cache], _ *lumi.Diff) error { return nil }

func (caches) Get(_ context.Context, _ lumi.ID, old *lumi.State[*cache]) (*cache, error) {
	return old.Properties, nil
}

// check calls Check and returns the checked properties, the logged warnings, and the error.
func check(t *testing.T, properties map[string]any) (checked map[string]any, warnings []string, err error) {
	t.Helper()
	bag := must.Get(structpb.NewStruct(properties))(t)
	ctx := lumi.WithEvents(t.Context(), func(e lumi.Event) { warnings = append(warnings, e.Level.String()+" "+e.Message) })
	resp, err := NewCacheProvider(caches{}).Check(ctx, &lumi.CheckRequest{Properties: lumi.BagOf(bag)})
	if err != nil {
		return nil, warnings, err
	}
	return resp.Properties.Struct().AsMap(), warnings, nil
}

func TestDeprecationWarnings(t *testing.T) {
	t.Parallel()
	const whole = "WARN the type is deprecated: use Store."
	for _, test := range []struct {
		properties map[string]any
		want       []string
	}{
		{map[string]any{"disks": []any{}, "size": 1.0, "eviction": "oldest"}, []string{whole}},
		{map[string]any{"disks": []any{}, "gigabytes": nil}, []string{whole}},
		{
			map[string]any{"disks": []any{map[string]any{"path": "/a"}}, "gigabytes": 1.0, "eviction": "random"},
			[]string{
				whole,
				"WARN disks[0]: the type is deprecated: caches are in memory.",
				"WARN eviction: the value is deprecated: use EvictionOldest.",
				`WARN gigabytes: is deprecated: use size, which is in "bytes"`,
			},
		},
		{
			map[string]any{"disks": []any{}, "gigabytes": lumi.NewUnknown().AsInterface()},
			[]string{whole, `WARN gigabytes: is deprecated: use size, which is in "bytes"`},
		},
		{
			map[string]any{"disks": []any{}, "eviction": lumi.NewSecret(structpb.NewStringValue("random")).AsInterface()},
			[]string{whole},
		},
	} {
		_, got, err := check(t, test.properties)
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("Check(%v) logged %q and returned %v, want warnings %q", test.properties, got, err, test.want)
		}
	}
	if _, got, err := check(t, map[string]any{"gigabytes": true}); err == nil || len(got) > 0 {
		t.Errorf("Check of invalid properties logged %q and returned %v, want only an error", got, err)
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	unknown, secret := lumi.NewUnknown().AsInterface(), lumi.NewSecret(structpb.NewStringValue(`a, "b" */`)).AsInterface()
	for _, test := range []struct {
		name        string
		given, want map[string]any
	}{
		{
			"all absent",
			map[string]any{"disks": []any{map[string]any{"path": "/a"}}, "shards": nil},
			map[string]any{
				"disks":    []any{map[string]any{"path": "/a", "quota": 1e20}},
				"eviction": "oldest", "shards": 8.0, "label": secret, "warm": false,
			},
		},
		{
			"all given",
			map[string]any{"disks": []any{}, "eviction": "random", "shards": 0.0, "label": "", "warm": true},
			map[string]any{
				"disks": []any{}, "eviction": "random", "shards": 0.0, "warm": true,
				"label": lumi.NewSecret(structpb.NewStringValue("")).AsInterface(),
			},
		},
		{
			"unknown",
			map[string]any{"disks": unknown, "eviction": unknown, "shards": unknown, "label": unknown, "warm": unknown},
			map[string]any{"disks": unknown, "eviction": unknown, "shards": unknown, "label": unknown, "warm": unknown},
		},
	} {
		got, _, err := check(t, test.given)
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("Check with %s: error %v (-want +got):\n%s", test.name, err, diff)
		}
	}
}

func TestDefaultsAndState(t *testing.T) {
	t.Parallel()
	p := NewCacheProvider(caches{})
	bag := must.Get(structpb.NewStruct(map[string]any{"disks": []any{}, "label": "a"}))(t)
	got, err := p.Get(t.Context(), &lumi.GetRequest{ID: "1", Purpose: lumi.Refresh, Old: lumi.BagOf(bag)})
	if err != nil || got.Properties.Struct().Fields["shards"] != nil {
		t.Errorf("Get = %v, %v, want no default for shards", got, err)
	}
	change := must.Get(p.InspectChange(t.Context(), &lumi.InspectChangeRequest{ID: "1", Old: lumi.BagOf(bag), New: lumi.BagOf(bag)}))(t)
	var paths []string
	for _, c := range change.Changes {
		paths = append(paths, string(c.Path))
	}
	slices.Sort(paths)
	if want := []string{"eviction", "shards", "warm"}; !slices.Equal(paths, want) {
		t.Errorf("InspectChange returned changes of %q, want %q", paths, want)
	}
}

func TestRelations(t *testing.T) {
	t.Parallel()
	_, _, err := check(t, map[string]any{"disks": []any{
		map[string]any{"path": "/a", "token": "x", "any": nil},
		map[string]any{},
	}})
	const want = "disks[0].token: cannot be combined with path\ndisks[0].token: also needs url\n" +
		"disks[1]: exactly one of path, url, any is required, found none"
	if err == nil || err.Error() != want {
		t.Errorf("Check error = %v, want %s", err, want)
	}
}

func TestFormerNames(t *testing.T) {
	t.Parallel()
	p := NewCacheProvider(caches{})
	bag := func(properties map[string]any) lumi.Bag {
		return lumi.BagOf(must.Get(structpb.NewStruct(properties))(t))
	}
	secret := lumi.NewSecret(structpb.NewNumberValue(3)).AsInterface()
	for _, test := range []struct{ stored, want map[string]any }{
		{
			map[string]any{"length": secret, "seconds": 7.0, "disks": []any{map[string]any{"path": "/a", "limit": 2.0}}},
			map[string]any{"size": secret, "age": 7.0, "disks": []any{map[string]any{"path": "/a", "quota": 2.0}}},
		},
		{
			map[string]any{"length": 1.0, "bytes": 2.0, "disks": []any{}},
			map[string]any{"size": 2.0, "age": 0.0, "disks": []any{}},
		},
		{
			map[string]any{"length": 1.0, "bytes": 2.0, "size": 3.0, "disks": []any{}},
			map[string]any{"size": 3.0, "age": 0.0, "disks": []any{}},
		},
	} {
		resp := must.Get(p.Get(t.Context(), &lumi.GetRequest{ID: "1", Purpose: lumi.Refresh, Old: bag(test.stored)}))(t)
		expect.Equal(t, test.want, resp.Properties.Struct().AsMap(), test.stored)
	}
	now := map[string]any{"size": 1.0, "disks": []any{}, "eviction": "oldest", "shards": 8.0, "label": "", "warm": false}
	old := map[string]any{"bytes": 1.0, "disks": []any{}, "eviction": "oldest", "shards": 8.0, "label": "", "warm": false}
	change, err := p.InspectChange(t.Context(), &lumi.InspectChangeRequest{ID: "1", Old: bag(old), New: bag(now)})
	if err != nil || len(change.Changes) > 0 {
		t.Errorf("InspectChange after a renaming = %v, %v, want no changes", change, err)
	}
	_, _, err = check(t, map[string]any{"length": 1.0, "disks": []any{map[string]any{"path": "/a", "limit": 1.0}}})
	const want = "disks[0].limit: no such property; it was renamed to quota\nlength: no such property; it was renamed to size"
	if err == nil || err.Error() != want {
		t.Errorf("Check error = %v, want %s", err, want)
	}
	if got := p.FormerTokens(); !slices.Equal(got, []tokens.Type{"feature:index:Memory", "feature:index:Buffer"}) {
		t.Errorf("FormerTokens = %q, want the tokens of Memory and Buffer", got)
	}
}
