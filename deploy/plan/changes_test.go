package plan_test

import (
	"context"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/must"
)

const (
	db       = `"Db::a": {"engine": "pg", "size": 1}`
	url      = `{"type": "string", "value": {"#ref": "Db::a", "property": "url"}}`
	program  = `{` + db + `, "Item::#1": {"key": "k"}, "Item::#2": {"key": "l"}, "$provides": {"url": ` + url + `}}`
	user     = `{"$uses": {"p": {"url": {"type": "string"}}}, "Db::b": {"engine": {"#ref": "$p", "property": "provides.url"}}}`
	password = `{"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": "hunter2"}`
)

// deployments lists pairs of a deployment name and a program, as in [TestMake].
type deployments [][2]string

// planned runs all deployments except the last and returns the plan of the last one.
func (d deployments) planned(t *testing.T) *plan.Plan {
	t.Helper()
	s := &story{T: t, graph: &graph.Graph{Environment: "prod", Lineage: "l"}, types: parseTypes(
		"Db replaces=engine outputs=url\nItem replaces=key\nKey outputs=key secrets=key\nDisk named replaces=name")}
	for _, before := range d[:len(d)-1] {
		if got := s.deploy(before[0], before[1]); strings.HasPrefix(got, "error") {
			t.Fatalf("deploying %q: %s", before[0], got)
		}
	}
	var err error
	if s.graph, err = graph.FromLumiGL(s.graph.LumiGL()); err != nil {
		t.Fatal(err)
	}
	return must.Get(plan.Make(context.Background(), s.request(d[len(d)-1][0], d[len(d)-1][1])))(t)
}

func TestHasChanges(t *testing.T) {
	first, again := [2]string{"", program}, func(old, new string) [2]string {
		if !strings.Contains(program, old) {
			t.Fatalf("the program does not contain %q", old)
		}
		return [2]string{"", strings.Replace(program, old, new, 1)}
	}
	empty, uses := [2]string{"", "{}"}, [2]string{"b:", user}
	for name, test := range map[string]struct {
		deployments
		want bool
	}{
		"an empty module":                            {deployments{empty}, true},
		"an empty module again":                      {deployments{empty, empty}, false},
		"a first deployment":                         {deployments{first}, true},
		"the same":                                   {deployments{first, first}, false},
		"another order":                              {deployments{first, {"", strings.Replace(program, `"Item::#1": {"key": "k"}, "Item::#2": {"key": "l"}`, `"Item::#1": {"key": "l"}, "Item::#2": {"key": "k"}`, 1)}}, false},
		"an unchanged asset":                         {deployments{{"", `{"Db::a": {"file": {"4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17", "text": "x"}}}`}, {"", `{"Db::a": {"file": {"4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17", "text": "x"}}}`}}, false},
		"a property":                                 {deployments{first, again(`"size": 1`, `"size": 2`)}, true},
		"an option":                                  {deployments{first, again(`"size": 1`, `"size": 1, "$options": {"protect": true}`)}, true},
		"a dependency whose value is equal":          {deployments{{"", `{` + db + `, "Db::b": {"of": "url-a"}}`}, {"", `{` + db + `, "Db::b": {"of": {"#ref": "Db::a", "property": "url"}}}`}}, true},
		"a removed resource":                         {deployments{first, again(`, "Item::#2": {"key": "l"}`, ``)}, true},
		"a removed provided value":                   {deployments{first, again(`"url": `+url, ``)}, true},
		"a renamed provided value":                   {deployments{first, again(`"url": `+url, `"uri": `+url)}, true},
		"a provided value with another type":         {deployments{first, again(`{"type": "string"`, `{"type": "any"`)}, true},
		"a provided value with another source":       {deployments{first, again(`{"#ref": "Db::a", "property": "url"}`, `"url-a"`)}, true},
		"a configuration":                            {deployments{first, again(`"$provides"`, `"$configuration": {"x": {"region": "r"}}, "$provides"`)}, true},
		"the same configuration":                     {deployments{{"", `{"$configuration": {"x": {"region": "r"}}}`}, {"", `{"$configuration": {"x": {"region": "r"}}}`}}, false},
		"a program's configuration":                  {deployments{first, again(`"$provides"`, `"$config": {"size": 1}, "$provides"`)}, true},
		"another value of a program's configuration": {deployments{{"", `{"$config": {"size": 1}}`}, {"", `{"$config": {"size": 2}}`}}, true},
		"the same configuration of a program":        {deployments{{"", `{"$config": {"size": 1}}`}, {"", `{"$config": {"size": 1.0, "note": null}}`}}, false},
		"a module that uses another one":             {deployments{first, uses}, true},
		"a used module as it was":                    {deployments{first, uses, uses}, false},
		"a used module of a new version":             {deployments{first, uses, again(`"size": 1`, `"size": 2`), uses}, false},
		"a used module that was replaced":            {deployments{first, uses, again(`"engine": "pg"`, `"engine": "my"`), uses}, true},
		"a module that is used":                      {deployments{first, uses, first}, false},
		"another predicate":                          {deployments{first, uses, {"b:", strings.Replace(user, `{"type": "string"}`, `{"type": "string", "where": "value != ''"}`, 1)}}, true},
		"a used value with another type":             {deployments{first, uses, {"b:", strings.Replace(user, `{"type": "string"}`, `{"type": "any"}`, 1)}}, true},
		"completing a failed deployment":             {deployments{empty, {"fails after 1", `{"Db::a": {}, "Db::b": {}}`}, {"", `{"Db::a": {}}`}}, true},
		"removing the result of a failed deployment": {deployments{empty, {"fails after 1", `{"Db::a": {}, "Db::b": {}}`}, empty}, true},
		"a failed deployment without results":        {deployments{empty, {"fails after 0", `{"Db::a": {}, "Db::b": {}}`}, empty}, false},
		"requested with --replace":                   {deployments{first, {"±Db::a", program}}, true},
		"a target that stays the same":               {deployments{first, {"Db::a", strings.Replace(program, `"k"`, `"other"`, 1)}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if p := test.planned(t); p.HasChanges() != test.want {
				t.Errorf("HasChanges() = %t, want %t", p.HasChanges(), test.want)
			}
		})
	}
}

func TestHasChangesRemoval(t *testing.T) {
	g := deployments{{"", program}, {"", program}}.planned(t).Transition.Graph
	x := func(tokens.Type) string { return "x" }
	first := plan.MakeCleanup(g, "p", x)
	second := plan.MakeCleanup(first.Transition.Graph, "p", x)
	if !first.HasChanges() || second.HasChanges() {
		t.Errorf("HasChanges() of two consecutive cleanups = %t, %t, want true, false", first.HasChanges(), second.HasChanges())
	}
	if p, err := plan.MakeDestroy(g, "p", x); err != nil || !p.HasChanges() || p.HasSecrets() {
		t.Errorf("MakeDestroy() error = %v; want a plan with changes and without secrets", err)
	}
}

func TestHasSecrets(t *testing.T) {
	secret := [2]string{"", `{"$provides": {"url": {"type": "string", "value": ` + password + `}}}`}
	for name, test := range map[string]struct {
		deployments
		want bool
	}{
		"nothing":                      {deployments{{"", program}}, false},
		"again":                        {deployments{{"", program}, {"", program}}, false},
		"a secret in a property":       {deployments{{"", `{"Db::a": {"users": [{"password": ` + password + `}]}}`}}, true},
		"a secret that is not changed": {deployments{{"", `{"Db::a": {"password": ` + password + `}}`}, {"", `{"Db::a": {"password": ` + password + `}}`}}, true},
		"a type with secrets":          {deployments{{"", `{"Key::a": {}}`}}, true},
		"a type that stays the same":   {deployments{{"", `{"Key::a": {}}`}, {"", `{"Key::a": {}, ` + db + `}`}}, false},
		"a type that is deleted":       {deployments{{"", `{"Key::a": {}}`}, {"", `{}`}}, false},
		"an import":                    {deployments{{"", `{"Key::a": {"$options": {"import": "k"}}}`}}, true},
		"a replacement":                {deployments{{"", `{"Key::a": {}}`}, {"±Key::a", `{"Key::a": {}}`}}, true},
		"a provided value":             {deployments{secret}, true},
		"a value of another module":    {deployments{secret, {"b:", user}}, true},
		"a value that is passed on": {deployments{secret, {"b:", `{"$uses": {"p": {"url": {"type": "string"}}},
			"$provides": {"again": {"type": "any", "value": {"#ref": "$p", "property": "provides.url"}}}}`}}, true},
		"configuration":              {deployments{{"", `{"$configuration": {"x": {"token": ` + password + `}}}`}}, true},
		"a resource that is skipped": {deployments{{"", program}, {"Db::a", strings.Replace(program, `"Item::#2": {"key": "l"}`, `"Db::b": {"password": `+password+`}`, 1)}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if p := test.planned(t); p.HasSecrets() != test.want {
				t.Errorf("HasSecrets() = %t, want %t", p.HasSecrets(), test.want)
			}
		})
	}
}
