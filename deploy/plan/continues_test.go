package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// effectsOf returns a plan with one step per line. A line consists of a kind, a name, and inputs, such as `update?
// aws/x {"a": 1}`. A question mark sets Possible, an exclamation mark DeleteFirst. The line "cleanup aws/x" adds a
// deletion by a cleanup.
func effectsOf(t *testing.T, lines string) *Plan {
	p := &Plan{Module: "a", Transition: &graph.Transition{Graph: &graph.Graph{}}}
	for line := range strings.Lines(lines) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, inputs, _ := strings.Cut(rest, " ")
		name, option, _ := strings.Cut(name, "+")
		r := resource(name, 1)
		if option != "" {
			r.Options = r.Options.With(option, lumigl.BoolOf(true))
		}
		if inputs != "" {
			var err error
			if r.Inputs, err = (lumigl.Parser{}).ParseValue(inputs); err != nil {
				t.Fatal(err)
			}
		}
		s := &Step{URN: r.URN, Old: resource(name, 1), New: r}
		word, s.Possible = strings.CutSuffix(word, "?")
		word, s.DeleteFirst = strings.CutSuffix(word, "!")
		for kind, k := range kinds {
			if k.name == word {
				s.Kind = Kind(kind)
			}
		}
		switch {
		case word == "cleanup":
			p.Cleanups = append(p.Cleanups, Cleanup{Module: "a", Deleted: []*graph.Resource{r}})
			continue
		case s.Kind == Create:
			s.Old = nil
		case s.Kind == Move:
			s.Old = resource("aws/was", 1)
		case s.removes():
			s.New = nil
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

// configured returns the transition to an empty module with the given configuration.
func configured(t *testing.T, configuration string) *graph.Transition {
	v := graph.NewVersion(graph.VersionID{Module: "a", Deployment: 1}, nil)
	var err error
	if v.Configuration, err = (lumigl.Parser{}).ParseValue(configuration); err != nil {
		t.Fatal(err)
	}
	return must.Get((&graph.Graph{}).Deploy(graph.Update{Version: v}))(t)
}

var long = strings.Repeat("0123456789abcdef", 100)

const (
	unknown = `"04da6b54-80e4-46f7-96ec-b56ff0331ba9"`
	secret  = `{"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": `
)

func TestContinues(t *testing.T) {
	for _, test := range []struct{ name, shown, now, want string }{
		{"the same", "create aws/a\ndelete aws/b\ncleanup aws/c", "create aws/a\ndelete aws/b\ncleanup aws/c", ""},
		{"less", "replace? aws/a\nupdate? aws/b\nforget aws/d\ndelete aws/e", "update aws/a\nsame aws/b\nforget aws/e", ""},
		{"only options are left", "update? aws/a\nreplace? aws/b", "same aws/a+protect\nsame aws/b+protect", ""},
		{"a cleanup deletes", "delete aws/a\ncleanup aws/b\ncleanup aws/c+retainOnDelete", "cleanup aws/a\ndelete aws/b\nforget aws/c", ""},
		{"filled in", `create aws/a {"x": ` + unknown + `, "y": [1, {"z": ` + unknown + `}], "gone": ` + unknown + `}`,
			`create aws/a {"x": {"b": 1}, "y": [1, {"z": 2}]}`, ""},
		{"more", "same aws/a", "update aws/a\ndelete aws/b",
			"aws/a would be updated, which is not in the approved plan\naws/b would be deleted, which is not in the approved plan"},
		{"deleted twice", "delete aws/a", "delete aws/a\ncleanup aws/a", "aws/a would be deleted, which is not in the approved plan"},
		{"another kind", "update aws/a\nforget aws/b", "replace aws/a\ndelete aws/b",
			"aws/a would be replaced instead of updated\naws/b would be deleted instead of forgotten"},
		{"certain, and less", "replace aws/a", "update aws/a", "aws/a would be updated instead of replaced"},
		{"from another", "update aws/a", "create aws/a", "aws/a would be created instead of updated"},
		{"deleted first", "replace aws/a\ndelete aws/a", "replace! aws/a\ndelete! aws/a",
			"aws/a would be deleted before its replacement is created, which is not in the approved plan"},
		{"another value", `create aws/a {"x": 1}`, `create aws/a {"x": 2}`, `aws/a would be created with a different "x" than approved`},
		{"another element", `create aws/a {"x": [1]}`, `create aws/a {"x": [1, 2]}`, `aws/a would be created with a different "x" than approved`},
		{"another property", `create aws/a {"x": {}}`, `create aws/a {"x": {}, "y": 1}`, `aws/a would be created with a different "y" than approved`},
		{"a property less", `create aws/a {"x": 1}`, `create aws/a {}`, `aws/a would be created with a different "x" than approved`},
		{"a long text", `create aws/a {"x": "` + long + `"}`, `create aws/a {"x": "` + long + `"}`, ""},
		{"another long text", `create aws/a {"x": "` + long + `a"}`, `create aws/a {"x": "` + long + `b"}`,
			`aws/a would be created with a different "x" than approved`},
		{"many", "", "delete aws/a\ndelete aws/b\ndelete aws/c\ndelete aws/d\ndelete aws/e", "aws/a would be deleted, which is not in the approved plan\n" +
			"aws/b would be deleted, which is not in the approved plan\naws/c would be deleted, which is not in the approved plan\nand 2 more"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := ""
			if err := effectsOf(t, test.now).Continues(effectsOf(t, test.shown).Effects()); err != nil {
				got = strings.NewReplacer("main.ts:1:1: ", "", string(urnOf("aws/")), "aws/", ": would", " would", ": plan again", "").Replace(err.Error())
			}
			expect.Equal(t, test.want, got)
		})
	}
	shown := effectsOf(t, `create aws/a {"x": "`+long+`"}`)
	all := shown.Effects()
	if text, _ := all[0].Inputs.Get("x").Text(); len(text) > 100 {
		t.Errorf("Effects() contains the long text %s, want its hash", text)
	}
	all[0].Inputs = shown.Steps[0].New.Inputs // as stored by older releases, which did not hash long texts
	must.Do(t, shown.Continues(all))
	moved, elsewhere := effectsOf(t, "move aws/a"), effectsOf(t, "move aws/a")
	elsewhere.Steps[0].Old = resource("aws/x", 1)
	want := "main.ts:1:1: " + string(urnOf("aws/a")) + `: would be moved from "` + string(urnOf("aws/x")) + `" instead of "` +
		string(urnOf("aws/was")) + `": plan again`
	if err := elsewhere.Continues(moved.Effects()); err == nil || err.Error() != want {
		t.Errorf("Continues() = %v, want %s", err, want)
	}
}

// What was changed outside Lumi is part of a plan.
func TestDrift(t *testing.T) {
	drifted := func(plan, checked string, paths ...string) *Plan {
		p := effectsOf(t, plan)
		old := *resource("aws/a", 1)
		old.Checked, old.Drifted = must.Get((lumigl.Parser{}).ParseValue(checked))(t), paths
		p.Steps[0].Old = &old
		return p
	}
	const update = "update aws/a {}"
	base := drifted(update, `{"x": 1, "y": 2}`, "x")
	secrets := [2]*Plan{drifted(update, `{"x": `+secret+`{"k": 1}}}`, "x.k"), drifted(update, `{"x": `+secret+`{"k": 2}}}`, "x.k")}
	if digest(secrets[0]) != digest(secrets[1]) {
		t.Error("digest depends on a part of a drifted secret")
	}
	want := "main.ts:1:1: " + string(urnOf("aws/a")) + ": would be updated, but it was changed outside Lumi since the plan was approved: plan again"
	for _, test := range []struct {
		name       string
		now        *Plan
		same, goes bool
	}{
		{"the same", drifted(update, `{"x": 1, "y": 3}`, "x"), true, true},
		{"another value", drifted(update, `{"x": 2, "y": 2}`, "x"), false, false},
		{"another path", drifted(update, `{"x": 1, "y": 2}`, "y"), false, false},
		{"another path more", drifted(update, `{"x": 1, "y": 2}`, "x", "y"), false, false},
		{"no drift", drifted(update, `{"x": 1, "y": 2}`), false, true},
		{"nothing left to do", drifted("same aws/a {}", `{"x": 1}`), false, true},
	} {
		if same := digest(test.now) == digest(base); same != test.same {
			t.Errorf("%s: digests are equal = %t, want %t", test.name, same, test.same)
		}
		err := test.now.Continues(base.Effects())
		if goes := err == nil; goes != test.goes || err != nil && err.Error() != want {
			t.Errorf("%s: Continues() = %v, want %t or %s", test.name, err, test.goes, want)
		}
	}
	if err := base.Continues(drifted(update, "{}").Effects()); err == nil || err.Error() != want {
		t.Errorf("Continues() of a plan without drift = %v, want %s", err, want)
	}
}

func TestDigest(t *testing.T) {
	const plan = "create aws/a {\"x\": 1, \"y\": [true, null]}\nreplace aws/b\ndelete aws/b\nsame aws/c"
	base := digest(effectsOf(t, plan))
	for _, same := range []string{
		"delete aws/b\nreplace aws/b\ncreate aws/a {\"y\": [true, null], \"x\": 1}",
		"create aws/a {\"x\": 1, \"y\": [true, null]}\nreplace aws/b\ncleanup aws/b",
	} {
		if got := digest(effectsOf(t, same)); got != base || len(got) != 32 {
			t.Errorf("digest(%s) = %s, want %s", same, got, base)
		}
	}
	for _, other := range []string{
		"", plan + "\nupdate aws/c", strings.Replace(plan, "1", "2", 1), strings.Replace(plan, "null", `""`, 1),
		strings.Replace(plan, "replace", "replace!", 1), strings.Replace(plan, "replace", "replace?", 1), strings.Replace(plan, "aws/a", "aws/a+protect", 1),
		strings.Replace(plan, "1", secret+"1}", 1), strings.Replace(plan, "1", unknown, 1), strings.Replace(plan, "delete", "forget", 1),
	} {
		if digest(effectsOf(t, other)) == base {
			t.Errorf("digest(%s) = digest(%s), want different digests", other, plan)
		}
	}
	for i, change := range []func(*Plan){
		func(p *Plan) { p.Purpose = ToDestroy },
		func(p *Plan) { p.Environment = "prod" },
		func(p *Plan) { p.Module = "b" },
		func(p *Plan) { p.Transition = configured(t, `{"aws": {"region": "a"}}`) },
		func(p *Plan) { p.Transition.Graph.Newest("a").Config = lumigl.ObjectOf() },
	} {
		p := effectsOf(t, "")
		p.Transition = configured(t, `{"aws": {"region": "b"}}`)
		before := digest(p)
		if change(p); digest(p) == before {
			t.Errorf("digest is unchanged by change %d", i)
		}
	}
	if digest(effectsOf(t, `create aws/a {"x": "`+long+`a"}`)) == digest(effectsOf(t, `create aws/a {"x": "`+long+`b"}`)) {
		t.Error("digest does not depend on the ends of long texts")
	}
	one, other := effectsOf(t, `create aws/a {"x": "k", "y": `+secret+`"k"}}`), effectsOf(t, `create aws/a {"x": "k", "y": `+secret+`"l"}}`)
	if digest(one) != digest(other) {
		t.Error("digest depends on the content of a secret")
	}
	for i, p := range []*Plan{one, other} {
		p.Transition = configured(t, `{}`)
		config := must.Get(lumigl.Parser{}.ParseValue(fmt.Sprintf(`{"password": %s"%d"}}`, secret, i)))(t)
		p.Transition.Graph.Newest("a").Config = config
	}
	if digest(one) != digest(other) {
		t.Error("digest depends on a secret in the program's configuration")
	}
	waits := []*Plan{effectsOf(t, `read aws/r+call {"of": "a"}`), effectsOf(t, `read aws/r+call {"of": "b"}`)}
	if digest(waits[0]) == digest(waits[1]) {
		t.Error("digest does not depend on the arguments of a call that waits")
	}
	called := effectsOf(t, `read aws/r+call {"of": "a"}`+"\n"+`read aws/s+call {"of": "b"}`)
	if is, n := called.Differing(digest(waits[1])), strings.Count(digest(called), "-"); n != 1 || len(is) != 1 || is[0] != "aws:index:Thing" {
		t.Errorf("Differing() = %v, and the digest has %d functions, want 1", is, n)
	}
	for i, p := range waits {
		p.Steps[0].New.Outputs = lumigl.ObjectOf()
		p.Transition = configured(t, `{}`)
		target := must.Get(lumigl.NewResource(p.Steps[0].URN))(t)
		p.Transition.Graph.Newest("a").Provides = []graph.Provided{{Value: lumigl.PropertyOf(target, "value"), Result: lumigl.IntOf(int64(i))}}
	}
	if digest(waits[0]) == digest(waits[1]) {
		t.Error("digest does not depend on a provided result of a call")
	}
	one.Steps[0].NotCompared = true
	if got := digest(one); got != "" {
		t.Errorf(`digest() = %q, want "" if secrets were not compared`, got)
	}
}
