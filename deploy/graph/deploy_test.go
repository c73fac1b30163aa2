package graph_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestTransitions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ rule, script, want string }{
		{"the root refers to the newest version", `
			deploy a db app(db)`, `
			a::1* db:1 app:1`},
		{"versions share unchanged resources", `
			deploy a db app(db)
			deploy a db app!(db)`, `
			cleanup a
			a::1 db:1
			a::2* db:1 app:2`},

		{"a use binds to the newest version", `
			deploy a =foo()
			deploy a =foo()
			deploy b a.foo()`, `
			b::3 binds foo to a::2
			cleanup a
			a::1
			a::2*
			b::3* foo→a::2`},
		{"a use binds to a reachable older version", `
			deploy a =foo()
			deploy b a.foo()
			deploy a
			deploy c a.foo()`, `
			c::4 binds foo to a::1
			a::1
			a::3*
			b::2* foo→a::1
			c::4* foo→a::1`},
		{"a use does not bind to a version that waits for a cleanup", `
			deploy a =foo()
			deploy a =food()
			deploy c a.foo() d.bar`, `
			c uses a.foo, but a::2 is incompatible: "foo" is not provided (did you mean "food"?)
			c uses d.bar, but module d does not exist: deploy d first`},
		{"modules form no cycle", `
			deploy a =foo()
			deploy b a.foo() =foo()
			deploy c b.foo() =foo()
			deploy a c.foo()`, `
			dependency cycle between modules: a uses c, c uses b, b uses a`},
		{"a module does not use itself", `
			deploy a =foo()
			deploy a =foo() a.foo()`, `
			dependency cycle between modules: a uses a`},

		{"versions that wait for a cleanup count", `
			deploy a =foo()
			deploy b a.foo()
			deploy b =foo()
			deploy a b.foo()`, `
			dependency cycle between modules: a uses b, b uses a`},
		{"removed versions do not count", `
			deploy a =foo()
			deploy b a.foo()
			deploy b =foo()
			cleanup b
			deploy a b.foo()`, `
			a::4 binds foo to b::3
			cleanup a
			a::1
			a::4* foo→b::3
			b::3*`},

		{"an edge moves to a version that satisfies it", `
			deploy a =foo()
			deploy b a.foo()
			deploy a =foo()`, `
			b::2 moves foo from a::1 to a::3
			cleanup a
			a::1
			a::3*
			b::2* foo→a::3`},
		{"an edge stays if the new version does not satisfy it", `
			deploy a =foo() =bar()
			deploy b a.foo() a.bar()
			deploy a =foo(x) =bar()`, `
			b::2 moves bar from a::1 to a::3
			b::2 leaves foo at a::1: "foo" is verb {x: number} → number, not verb {} → number: request.x: required, but callers do not send it
			a::1
			a::3*
			b::2* bar→a::3 foo→a::1`},
		{"an edge moves later, once it is satisfied", `
			deploy a =foo()
			deploy b a.foo()
			deploy a =foo(x)
			deploy a =foo()`, `
			b::2 moves foo from a::1 to a::4
			cleanup a
			a::1
			a::3
			a::4*
			b::2* foo→a::4`},
		{"a predicate keeps an edge", `
			deploy a db =foo:db
			deploy b a.foo?value=="db:1"
			deploy a db! =foo:db`, `
			b::2 leaves foo at a::1: "foo" is "db:3", which does not satisfy the predicate value=="db:1" (stale) (broken)
			conflict: changes a.db:1, which a::1 needs for foo of b::2`},
		{"a value changed in place moves its edge", `
			deploy a db =foo:db
			deploy b a.foo
			deploy a db! =foo:db`, `
			b::2 moves foo from a::1 to a::3 (stale)
			cleanup a
			a::1
			a::3* db:3
			b::2* foo→a::3`},
		{"a value keeps its edge while its source is replaced", `
			deploy a db =foo:db
			deploy b a.foo
			deploy a db* =foo:db`, `
			b::2 leaves foo at a::1: "foo" comes from a.db:1, which the new version does not contain
			a::1 db:1
			a::3* db:3
			b::2* foo→a::1`},
		{"a value keeps its edge while its source is removed", `
			deploy a db lb =foo:db
			deploy b a.foo
			deploy a lb =foo:lb`, `
			b::2 leaves foo at a::1: "foo" comes from a.db:1, which the new version does not contain
			a::1 db:1 lb:1
			a::3* lb:1
			b::2* foo→a::1`},
		{"only direct sources keep an edge", `
			deploy a net db(net) =foo:db
			deploy b a.foo
			deploy a net* db =foo:db`, `
			b::2 moves foo from a::1 to a::3
			delete a.net:1
			cleanup a
			a::1
			a::3* net:3 db:1
			b::2* foo→a::3`},
		{"a verb moves wherever its type fits", `
			deploy a db =foo():db
			deploy b a.foo()
			deploy a =foo()`, `
			b::2 moves foo from a::1 to a::3 (stale)
			delete a.db:1
			cleanup a
			a::1
			a::3*
			b::2* foo→a::3`},
		{"edges of unreachable versions stay", `
			deploy a =foo()
			deploy b a.foo()
			deploy b
			deploy a =foo()`, `
			cleanup b
			a::1
			a::4*
			b::2 foo→a::1
			b::3*`},

		{"the update deletes resources that no kept version contains", `
			deploy a db lb(db) x
			deploy a db`, `
			delete a.lb:1
			delete a.x:1
			cleanup a
			a::1 db:1
			a::2* db:1`},
		{"kept versions keep their resources", `
			deploy a db lb =foo:db
			deploy b a.foo
			deploy a lb* =bar()`, `
			b::2 leaves foo at a::1: "foo" is not provided
			a::1 db:1 lb:1
			a::3* lb:3
			b::2* foo→a::1`},
		{"a kept version needs the sources of its values", `
			deploy a net db(net) lb =foo:db
			deploy b a.foo
			deploy a net! db(net) lb!`, `
			b::2 leaves foo at a::1: "foo" is not provided
			conflict: changes a.net:1, which a::1 needs for foo of b::2`},
		{"a kept version needs all resources for a verb", `
			deploy a net lb =foo()
			deploy b a.foo()
			deploy a net lb^`, `
			b::2 leaves foo at a::1: "foo" is not provided
			conflict: deletes a.lb:1, which a::1 needs for foo of b::2
			delete a.lb:1`},
		{"resources that a kept version does not need follow the newest", `
			deploy a db lb =foo:db
			deploy b a.foo
			deploy a db new lb!(new)`, `
			b::2 leaves foo at a::1: "foo" is not provided
			a::1 db:1 new:3 lb:3
			a::3* db:1 new:3 lb:3
			b::2* foo→a::1`},
		{"dependents of removed resources are removed", `
			deploy a db net lb(net) =foo:db
			deploy b a.foo
			deploy a db net^`, `
			b::2 leaves foo at a::1: "foo" is not provided
			delete a.lb:1
			delete a.net:1
			a::1 db:1
			a::3* db:1 net:3
			b::2* foo→a::1`},
		{"a move is not a change", `
			deploy a net db(net) =foo:db
			deploy b a.foo
			deploy a net>vpc`, `
			b::2 leaves foo at a::1: "foo" is not provided
			a::1 vpc:1 db:1
			a::3* vpc:1
			b::2* foo→a::1`},
		{"references follow a move", `
			deploy a net db(net) =foo:db
			deploy b a.foo
			deploy a net>vpc db(vpc)`, `
			b::2 leaves foo at a::1: "foo" is not provided
			a::1 vpc:1 db:1
			a::3* vpc:1 db:1
			b::2* foo→a::1`},
		{"a move displaces a resource with its URN", `
			deploy a db x y =foo:db
			deploy b a.foo
			deploy a db x>y`, `
			b::2 leaves foo at a::1: "foo" is not provided
			delete a.y:1
			a::1 db:1 y:1
			a::3* db:1 y:1
			b::2* foo→a::1`},
		{"a move does not displace a needed resource", `
			deploy a db x =foo:db
			deploy b a.foo
			deploy a x>db`, `
			b::2 leaves foo at a::1: "foo" is not provided (stale)
			conflict: deletes a.db:1, which a::1 needs for foo of b::2
			delete a.db:1`},
		{"an interrupted module reads the changed value", `
			deploy a db =foo:db
			deploy b a.foo
			deploy a db! !b`, `
			b::2 leaves foo at a::1: "foo" is not provided (stale)
			a::1 db:3
			a::3* db:3
			b::2* foo→a::1`},
		{"an interrupted module loses a predicate", `
			deploy a db =foo:db
			deploy b a.foo?value=="db:1"
			deploy a db! !b`, `
			b::2 leaves foo at a::1: "foo" is not provided (stale) (broken)
			a::1 db:3
			a::3* db:3
			b::2* foo→a::1 (broken: "foo" is "db:3", which does not satisfy the predicate value=="db:1")`},
		{"an interruption breaks the edge", `
			deploy a net db(net) =foo:db
			deploy b a.foo
			deploy a net^ !b`, `
			b::2 leaves foo at a::1: "foo" is not provided (broken)
			delete a.db:1
			delete a.net:1
			a::1
			a::3* net:3
			b::2* foo→a::1 (broken: interrupted: a::3 deleted a.net:1)`},
		{"a move heals a broken edge", `
			deploy a db =foo:db
			deploy b a.foo
			deploy a db^ !b
			deploy a db! =foo:db`, `
			b::2 moves foo from a::1 to a::4 (stale)
			cleanup a
			a::1
			a::3
			a::4* db:4
			b::2* foo→a::4`},
		{"one module is interrupted, another is not", `
			deploy a db =foo:db
			deploy b a.foo
			deploy c a.foo
			deploy a db^ =foo:db !b`, `
			b::2 leaves foo at a::1: "foo" comes from a.db:1, which the new version does not contain (stale) (broken)
			c::3 leaves foo at a::1: "foo" comes from a.db:1, which the new version does not contain (stale)
			conflict: deletes a.db:1, which a::1 needs for foo of c::3
			delete a.db:1`},
		{"versions that wait for a cleanup lose changed resources", `
			deploy a db lb x =foo()
			deploy b a.foo()
			deploy a db lb x
			deploy b
			deploy a db! lb`, `
			delete a.x:1
			cleanup a b
			a::1 lb:1
			a::3 lb:1
			a::5* db:5 lb:1
			b::2 foo→a::1
			b::4*`},

		{"a cleanup removes resources that only unreachable versions contain", `
			deploy a db lb =foo:db
			deploy b a.foo
			deploy a db* lb
			deploy b
			cleanup a`, `
			cleanup b
			a::1 db:1 lb:1
			a::3* db:3 lb:1
			b::2 foo→a::1
			b::4*`},
		{"a cleanup that removes the last edge causes another", `
			deploy a db =foo()
			deploy b a.foo()
			deploy a
			deploy b
			cleanup b`, `
			cleanup a
			a::1 db:1
			a::3*
			b::4*`},
		{"a cleanup keeps referenced versions", `
			deploy a db =foo()
			deploy b a.foo()
			deploy a
			deploy b
			cleanup a`, `
			cleanup b
			a::1 db:1
			a::3*
			b::2 foo→a::1
			b::4*`},

		{"a used module is not destroyed", `
			deploy a =foo() =bar()
			deploy b a.foo() a.bar()
			destroy a`, `
			b uses a.bar: deploy b without it, or destroy b first
			b uses a.foo: deploy b without it, or destroy b first`},
		{"all users are named", `
			deploy a =foo() =bar()
			deploy b a.foo() a.bar()
			deploy c a.bar()
			destroy a`, `
			b uses a.bar: deploy b without it, or destroy b first
			b uses a.foo: deploy b without it, or destroy b first
			c uses a.bar: deploy c without it, or destroy c first`},
		{"a missing module is not destroyed", `
			destroy a`, `
			module a not found`},
		{"destroying removes all versions", `
			deploy a db =foo()
			deploy b a.foo()
			deploy a lb
			deploy b
			fail a +db
			destroy a`, `
			delete a.db:1
			delete a.db:5
			delete a.lb:3
			cleanup b
			a::1
			b::2 foo→a::1
			b::4*`},
		{"destroying releases the used modules", `
			deploy a db =foo()
			deploy b a.foo()
			deploy a
			destroy b`, `
			cleanup a
			a::1 db:1
			a::3*`},
		{"a referenced version stays without resources", `
			deploy a db =foo()
			deploy b a.foo()
			deploy b
			destroy a`, `
			delete a.db:1
			cleanup b
			a::1
			b::2 foo→a::1
			b::3*`},

		{"created resources are in a partial version", `
			deploy a db
			fail a +lb`, `
			a::1* db:1
			a::2 partial lb:2`},
		{"a replacement exists next to the old resource", `
			deploy a db
			fail a +db`, `
			a::1* db:1
			a::2 partial db:2`},
		{"changes in place apply to all versions", `
			deploy a db =foo:db
			deploy b a.foo
			deploy a db =foo()
			fail a db!`, `
			a::1 db:4
			a::3* db:4
			b::2* foo→a::1`},
		{"edges broken by a failed deployment are marked", `
			deploy a db lb =foo:db =bar:lb
			deploy b a.foo?value=="db:1" a.bar
			fail a db! lb-`, `
			a::1* db:3
			b::2* bar→a::1 (broken: a::3 deleted a.lb:1) foo→a::1 (broken: "foo" is "db:3", which does not satisfy the predicate value=="db:1")`},
		{"a result changes a resource of an earlier deployment", `
			fail a +db +lb
			fail a db!
			fail a lb-`, `
			a::1 partial db:2`},
		{"a deployment adopts or deletes partial resources", `
			fail a +db +lb
			deploy a db`, `
			delete a.lb:1
			a::2* db:1`},
		{"a cleanup keeps partial resources", `
			fail a +db
			cleanup a`, `
			a::1 partial db:1`},

		{"remaining resources are pending", `
			deploy a db lb
			deploy a
			leave a`, `
			a::1
			a::2*
			pending a.db:1
			pending a.lb:1`},
		{"a cleanup deletes pending resources", `
			deploy a db lb
			deploy a
			leave a
			cleanup a`, `
			delete a.db:1
			delete a.lb:1
			a::2*`},
		{"a deployment deletes pending resources", `
			deploy a db lb
			deploy a
			leave a
			deploy a`, `
			delete a.db:1
			delete a.lb:1
			cleanup a
			a::1
			a::2
			a::3*`},
		{"a deployment holds deletions while a pending resource of another module refers to them", `
			deploy a net db(net) lb =foo:db
			deploy b vm(a.db) a.foo
			destroy b
			leave b
			deploy a`, `
			delete a.lb:1
			cleanup a
			a::1
			a::3*
			pending a.db:1 (held)
			pending a.net:1 (held)
			pending b.vm:2`},
		{"so does a cleanup", `
			deploy a db =foo()
			deploy b vm(a.db) a.foo()
			deploy a =foo(x)
			destroy b
			leave b
			cleanup a`, `
			a::3*
			pending a.db:1 (held)
			pending b.vm:2`},
		{"so does the removal of a module", `
			deploy a db =foo:db
			deploy b vm(a.db) a.foo
			destroy b
			leave b
			destroy a`, `
			pending a.db:1 (held)
			pending b.vm:2`},
		{"the cleanup that deletes the last such resource queues the cleanup of what it held", `
			deploy a db =foo:db
			deploy b vm(a.db) a.foo
			destroy b
			leave b
			destroy a
			cleanup b`, `
			delete b.vm:2
			cleanup a
			pending a.db:1 (held)`},
		{"the cleanup of what was held queues none if it fails", `
			deploy a db =foo:db
			deploy b vm(a.db) a.foo
			destroy b
			leave b
			destroy a
			cleanup b
			cleanup a
			leave a`, `
			pending a.db:1`},
		{"a cleanup holds a deletion that failed before", `
			deploy a db =foo:db
			deploy b vm(a.db) a.foo
			destroy b
			leave b
			destroy a
			leave a
			cleanup a`, `
			pending a.db:1 (held)
			pending b.vm:2`},
		{"a deletion waits for resources that contain an output as text", `
			deploy a db =foo:db
			deploy b vm(a~db) a.foo
			destroy b
			leave b
			destroy a`, `
			pending a.db:1 (held)
			pending b.vm:2`},
		{"what is replaced is not held if it is deleted first", `
			deploy a db =foo:db
			deploy b vm(a.db) a.foo
			destroy b
			leave b
			deploy a db^`, `
			delete a.db:1
			cleanup a
			a::1
			a::3* db:3
			pending b.vm:2`},
	} {
		t.Run(strings.ReplaceAll(test.rule, " ", "-"), func(t *testing.T) {
			t.Parallel()
			got := must.Get(new(world).run(test.script))(t)
			if want := dedent(test.want); got != want {
				t.Errorf("output =\n%swant\n%s", got, want)
			}
		})
	}
}

func dedent(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}

// Moving edges takes linear time. Quadratic time would be about a minute.
func TestDeployScales(t *testing.T) {
	t.Parallel()
	const n = 20_000
	provider := func(d graph.Deployment) *graph.Version {
		v := graph.NewVersion(graph.VersionID{Module: "a", Deployment: d}, nil)
		for i := range n {
			v.Provides = append(v.Provides, graph.Provided{Name: fmt.Sprintf("%05d", i), Type: graph.Type{Form: lumigl.TextOf("any")}})
		}
		return v
	}
	user := graph.NewVersion(graph.VersionID{Module: "b", Deployment: 2}, nil)
	for _, p := range provider(1).Provides {
		user.Uses = append(user.Uses, graph.Edge{Constraint: graph.Constraint{Module: "a", Name: p.Name, Type: p.Type}})
	}
	start, g := time.Now(), &graph.Graph{Environment: "dev"}
	for _, v := range []*graph.Version{provider(1), user, provider(3)} {
		done := must.Get(g.Deploy(graph.Update{Version: v}))(t)
		g = done.Graph
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("three deployments with %d uses took %v, want at most 10s", n, took)
	}
	if e := g.Newest("b").Uses[n-1]; e.To.Deployment != 3 {
		t.Errorf("target of the last edge = %s, want deployment 3", e.To)
	}
}
