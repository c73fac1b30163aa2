package plan_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// slow counts calls of functions, which take a minute.
type slow struct {
	typeTable
	calls *atomic.Int32
}

func (s slow) Call(ctx context.Context, r plan.Desired) (lumigl.Value, error) {
	s.calls.Add(1)
	time.Sleep(time.Minute)
	return s.typeTable.Call(ctx, r)
}

const twoCalls = `{
	"Image::#1": {"name": "debian", "$options": {"call": true}},
	"Image::#2": {"name": "debian", "$options": {"call": true}},
	"Image::#3": {"name": "alpine", "$options": {"call": true}},
	"Net::a": {"image": {"#ref": "Image::#2", "property": "image"}}
}`

func reading(t *testing.T) *story {
	return &story{T: t, graph: &graph.Graph{Environment: "prod", Lineage: "l"}, types: parseTypes("Net named\nImage function outputs=image")}
}

func TestCallsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, calls := reading(t), &atomic.Int32{}
		r := s.request("deploy", twoCalls)
		r.Provider = slow{s.types, calls}
		p := must.Get(plan.Make(t.Context(), r))(t)
		expect.Equal(t, 2, int(calls.Load()))
		r.Reads = plan.Reads(p.Effects())
		again := must.Get(plan.Make(t.Context(), r))(t)
		expect.Equal(t, 2, int(calls.Load()))
		expect.Equal(t, p.Digest, again.Digest)
	})
}

func TestDigestOfCalls(t *testing.T) {
	s := reading(t)
	digest := func(name, program string) *plan.Plan {
		return must.Get(plan.Make(t.Context(), s.request(name, program)))(t)
	}
	first, second := digest("deploy", twoCalls), digest("deploy (latest 2)", twoCalls)
	if !regexp.MustCompile(`^[0-9a-f]{32}-[0-9a-f]{6}$`).MatchString(first.Digest) {
		t.Errorf("Digest = %q, want a digest and the hash of the results of a function", first.Digest)
	}
	if second.Matches(first.Digest) || !first.Matches(first.Digest) {
		t.Errorf("Matches(%q) = %t and %t, want false for other results that a resource has, and true", first.Digest,
			second.Matches(first.Digest), first.Matches(first.Digest))
	}
	if got := second.Differing(first.Digest); !slices.Equal(got, []string{"x:m:Image"}) {
		t.Errorf("Differing(%q) = %q, want x:m:Image", first.Digest, got)
	}
	unused := strings.ReplaceAll(twoCalls, `{"#ref": "Image::#2", "property": "image"}`, `"fixed"`)
	first, second = digest("deploy (latest 1)", unused), digest("deploy (latest 2)", unused)
	if !second.Matches(first.Digest) || second.Digest == first.Digest {
		t.Errorf("Matches(%q) of %q = %t, want true: no resource has the results", first.Digest, second.Digest, second.Matches(first.Digest))
	}
	if got := second.Differing("0123"); got != nil {
		t.Errorf("Differing with other calls = %q, want none", got)
	}
}
