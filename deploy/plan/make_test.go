package plan_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/golden"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// TestMake runs the stories in testdata/make. A story is a sequence of deployments. Each file contains the resources of
// a deployment in short form: an object with a member for each resource, such as "Vpc::main", whose value is an object
// of properties. "$options" holds options, "$id" the ID, "$provides" and "$uses" the provided and used values, and "$configuration"
// the configuration of providers. Types are described by lines such as "Vpc named replaces=cidr outputs=arn". The
// expected plan of a deployment follows it, and is run before the next deployment. The name of a deployment may contain
// the module as "a:" (default p), targets as "Vpc::main", resources to replace as "±Vpc::main", and modules that may be
// interrupted as "!b". With "(planned)", the plan is not run, and the next deployment starts from the expected graph.
// With "fails after 2" at the end, only two steps are run. With "(retried)", the previous deployment is run again. With
// "(latest N)", functions return results that end with N. With "(unique)", resources get unique names. "{$unique" starts a unique name; the plan shows its text after "as". A file
// "drift" accepts the actual values of properties, such as Vpc::main {"size": 2}, and marks resources as gone.
func TestMake(t *testing.T) {
	golden.Archives(t, "testdata/make/*.txtar", func(t *testing.T, archive *txtar.Archive) {
		s := story{T: t, graph: &graph.Graph{Environment: "prod", Lineage: "l"}}
		for i, f := range archive.Files {
			switch {
			case f.Name == "types":
				s.types = parseTypes(string(f.Data))
			case strings.HasPrefix(f.Name, "drift"):
				s.drift(string(f.Data))
			case strings.HasPrefix(f.Name, "deploy"):
				golden.Part(t, &archive.Files[i+1], s.deploy(f.Name, string(f.Data)))
			}
		}
	})
}

// story is a sequence of deployments.
type story struct {
	*testing.T
	types typeTable
	graph *graph.Graph
	next  graph.Deployment
}

func (s *story) request(name, src string) plan.Request {
	if !strings.Contains(name, "(retried)") {
		s.next++
	}
	r := plan.Request{Graph: s.graph, Deployment: s.next, Provider: s.types, Provisioner: func(tokens.Type) string { return "x" }}
	module := "p"
	for _, word := range strings.Fields(name) {
		switch interrupted, ok := strings.CutPrefix(word, "!"); {
		case ok:
			r.Interrupt = append(r.Interrupt, interrupted)
		case strings.HasPrefix(word, "±"):
			r.Replace = append(r.Replace, urn.URN(prefix(module)+strings.TrimPrefix(word, "±")))
		case strings.Contains(word, "::"):
			r.Targets = append(r.Targets, urn.URN(prefix(module)+word))
		case len(word) == 2 && word[1] == ':':
			module = word[:1]
		}
	}
	if _, latest, ok := strings.Cut(name, "(latest "); ok {
		s.types["latest"] = plan.Description{Type: tokens.Type(latest[:1])}
	}
	r.UniqueNames = strings.Contains(name, "(unique)")
	r.Desired = s.desired(module, src)
	return r
}

// deploy plans and runs a deployment. It returns the plan as text.
func (s *story) deploy(name, src string) string {
	r := s.request(name, src)
	p, err := plan.Make(context.Background(), r)
	if wrong := (*plan.Error)(nil); errors.As(err, &wrong) {
		return "error: " + shorten(err.Error()) + "\n"
	} else if err != nil {
		s.Fatal(err)
	}
	if err := p.Transition.Graph.Check(); err != nil {
		s.Error(err)
	}
	if s.graph = p.Transition.Graph; !strings.Contains(name, "(planned)") {
		failsAfter := -1
		if _, number, ok := strings.Cut(name, "fails after "); ok {
			failsAfter, _ = strconv.Atoi(number)
		}
		s.graph = s.carryOut(r.Graph, p, failsAfter)
		if err := s.graph.Check(); err != nil {
			s.Error(err)
		}
	}
	var b strings.Builder
	for _, step := range p.Steps {
		b.WriteString(stepLine(step))
	}
	for _, m := range p.Transition.Bound {
		if m.Unchecked {
			fmt.Fprintf(&b, "%s is not checked yet\n", m.Edge.Constraint)
		}
	}
	for _, m := range p.Transition.Moved {
		fmt.Fprintf(&b, "%s.%s moves to %s", m.From.Module, m.Edge.Name, m.Edge.To)
		if m.Stale {
			b.WriteString(", stale")
		}
		if m.Unchecked {
			b.WriteString(", unchecked")
		}
		b.WriteString("\n")
	}
	for _, m := range p.Transition.Stayed {
		fmt.Fprintf(&b, "%s.%s stays at %s: %s", m.From.Module, m.Edge.Name, m.Edge.To, m.Reason)
		if m.Edge.Broken != "" {
			fmt.Fprintf(&b, "; broken: %s", m.Edge.Broken)
		}
		b.WriteString("\n")
	}
	for _, c := range p.Cleanups {
		for _, r := range c.Deleted {
			fmt.Fprintf(&b, "Cleanup[%s] deletes %s\n", c.Module, r.Key())
		}
	}
	for _, m := range p.Moves {
		fmt.Fprintf(&b, "perhaps %s is %s\n", short(m.New.URN()), short(m.Old.URN()))
	}
	return b.String()
}

// drift accepts the actual state of resources of module p.
func (s *story) drift(src string) {
	actual := map[*graph.Resource]*graph.Resource{}
	for line := range strings.Lines(src) {
		key, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		r := s.graph.Newest("p").Resource(urn.URN(prefix("p") + key))
		now := *r
		if actual[r] = &now; what == "gone" {
			now.ID, now.Drifted = "", []string{"id"}
			continue
		}
		for name, v := range must.Get(lumigl.Parser{}.ParseValue(what))(s).Members() {
			now.Drifted = append(now.Drifted, name)
			if slices.Contains(s.types[r.Type()].Outputs, name) {
				now.Outputs = now.Outputs.With(name, v)
			} else {
				now.Checked = now.Checked.With(name, v)
			}
		}
	}
	s.graph = s.graph.Refresh(actual)
	if err := s.graph.Check(); err != nil {
		s.Error(err)
	}
}

// prefix returns the common prefix of a module's URNs, which ends within the type.
func prefix(module string) string { return "urn:lumi:prod::" + module + ":index::x:m:" }

var longURN = regexp.MustCompile(`urn:lumi:prod::(\w):index::x:m:`)

// shorten removes the prefix from URNs of module p and shortens other URNs.
func shorten(text string) string {
	return longURN.ReplaceAllStringFunc(text, func(long string) string {
		return strings.TrimPrefix(longURN.FindStringSubmatch(long)[1]+":", "p:")
	})
}

// desired parses the short form of a desired graph.
func (s *story) desired(module, src string) *lumigl.Snapshot {
	src = strings.ReplaceAll(src, `"#ref": "`, `"#ref": "`+prefix(module))
	src = strings.ReplaceAll(src, "$expr", fmt.Sprintf("%q: %q", wire.Signature, wire.Expression))
	src = strings.ReplaceAll(src, "$unique", fmt.Sprintf("%q: %q, %q", wire.Signature, wire.Expression, "uniqueName"))
	src = regexp.MustCompile(`"#ref": "[^"$]*\$(\w)"`).ReplaceAllString(src, `"#ref": "urn:lumi:prod::$1:index::lumi:index:Module::$1"`)
	v := must.Get(lumigl.Parser{}.ParseValue(src))(s)
	var resources lumigl.ObjectBuilder
	add := func(u string, options, properties lumigl.Value) {
		resources.Set(u, lumigl.ObjectOf(lumigl.Member{Key: "type", Value: lumigl.TextOf(string(urn.URN(u).Type()))},
			lumigl.Member{Key: "id", Value: properties.Get("$id")}, lumigl.Member{Key: "options", Value: options},
			lumigl.Member{Key: "properties", Value: properties.With("$id", lumigl.Value{})}))
	}
	moduleURN := func(name string) string { return "urn:lumi:prod::" + name + ":index::lumi:index:Module::" + name }
	for used, uses := range v.Get("$uses").Members() {
		add(moduleURN(used), lumigl.Value{}, lumigl.ObjectOf(lumigl.Member{Key: "uses", Value: uses}))
	}
	for key, properties := range v.Members() {
		if !strings.HasPrefix(key, "$") {
			add(prefix(module)+key, properties.Get("$options"), properties.With("$options", lumigl.Value{}))
		}
	}
	if provides := v.Get("$provides"); provides.Exists() {
		add(moduleURN(module), lumigl.Value{}, lumigl.ObjectOf(lumigl.Member{Key: "provides", Value: provides}))
	}
	whole := &lumigl.Graph{Tag: "#tag", Fields: []lumigl.Member{{Key: "all", Value: resources.Object()}}}
	b := must.Get(lumigl.Append(nil, whole))(s)
	_, text, _ := strings.Cut(string(b), `"all": `)
	text, _, _ = strings.Cut(text, `"vertices"`)
	text, _ = strings.CutSuffix(strings.TrimSpace(text), ",")
	text = fmt.Sprintf(`{"package": %q, "resources": %s}`, module, strings.TrimSuffix(strings.TrimSpace(text), "}"))
	parsed, err := lumigl.ParseSnapshot(text)
	if err != nil {
		s.Fatalf("ParseSnapshot: %v\n%s", err, text)
	}
	for _, key := range []string{"config", "configuration"} {
		if value := v.Get("$" + key); value.Exists() {
			parsed.Fields = append(parsed.Fields, lumigl.Member{Key: key, Value: value})
		}
	}
	return parsed
}

func stepLine(s *plan.Step) string {
	if s.Kind == plan.Same {
		if s.New == s.Old {
			return ""
		}
		return fmt.Sprintf("note %s\n", short(s.URN))
	}
	var b strings.Builder
	b.WriteString(s.Kind.String())
	if s.Possible {
		b.WriteString("?")
	}
	b.WriteString(" " + short(s.URN))
	if s.Old != nil && s.Old.URN != s.URN {
		b.WriteString(" was " + short(s.Old.URN))
	}
	if s.New != nil && s.New.Inputs.Get("name").IsExpression() {
		name, _ := s.New.Checked.Get("name").Text()
		b.WriteString(" as " + name)
	}
	for _, flag := range []struct {
		set  bool
		name string
	}{{s.DeleteFirst, "delete first"}, {s.Replaced, "replaced"}, {s.NotCompared, "not compared"}} {
		if flag.set {
			b.WriteString(", " + flag.name)
		}
	}
	if len(s.Reasons) > 0 {
		b.WriteString(" (" + strings.Join(s.Reasons, "; ") + ")")
	}
	var after []string
	for _, a := range s.After {
		after = append(after, a.Kind.String()+" "+short(a.URN))
	}
	if len(after) > 0 {
		slices.Sort(after)
		b.WriteString(" after " + strings.Join(after, ", "))
	}
	return b.String() + "\n"
}

func short(u urn.URN) string { return shorten(string(u)) }

// carryOut runs a plan and the resulting cleanups, and returns the resulting graph. A created resource gets the ID
// "id-NAME-DEPLOYMENT"; an update keeps outputs. If failsAfter is not negative, the deployment fails after that many
// steps.
func (s *story) carryOut(before *graph.Graph, p *plan.Plan, failsAfter int) *graph.Graph {
	planned := p.Transition.Graph.Newest(p.Module)
	u := graph.Update{Became: map[*graph.Resource]*graph.Resource{}}
	now := map[urn.URN]*graph.Resource{}
	resolve := func(target *lumigl.Vertex, property string) (lumigl.Value, bool) {
		if r := now[target.URN()]; r != nil {
			return r.Output(property)
		}
		for _, e := range planned.Uses {
			if "provides."+e.Name == property && e.Module == target.URN().Name() {
				return before.Version(e.To).Provided(e.Name).Result, true
			}
		}
		s.Fatalf("reference to unknown resource %s", target.Key())
		return lumigl.Value{}, false
	}
	steps := map[*graph.Resource]*plan.Step{}
	for _, step := range p.Steps {
		if step.New != nil {
			steps[step.New] = step
		}
	}
	var resources []*graph.Resource
	made := map[*plan.Step]*graph.Resource{}
	for r := range planned.Resources() {
		step := steps[r]
		if step != nil && step.New != step.Old {
			done := *r
			var err error
			if done.Inputs, err = expr.Evaluate(r.Inputs, resolve); err != nil {
				s.Fatal(err)
			}
			if step.Kind != plan.Same && step.Kind != plan.Move && (step.Kind != plan.Read || step.Waits()) {
				done.Checked = done.Inputs.With("name", r.Checked.Get("name"))
				done.Referents = graph.ReferentsOf(done.Checked, func(u urn.URN) string {
					if to := now[u]; to != nil {
						return to.ID
					}
					return p.References(step)[u].ID
				})
				done.ID = cmp.Or(r.ID, fmt.Sprintf("id-%s-%d", r.URN.Name(), p.Deployment))
				for _, name := range s.types[r.Type()].Outputs {
					done.Outputs = done.Outputs.With(name, lumigl.TextOf(fmt.Sprintf("%s-%s", name, r.URN.Name())))
				}
			}
			switch {
			case step.Kind == plan.Read:
			case step.Old != nil && step.Kind != plan.Replace:
				u.Became[step.Old] = &done
			case step.Kind == plan.Replace && step.DeleteFirst:
				u.Removed = append(u.Removed, step.Old)
			}
			r, made[step] = &done, &done
		}
		now[r.URN] = r
		resources = append(resources, r)
	}
	if failsAfter >= 0 {
		var results []graph.Result
		for _, step := range p.Steps {
			if step.Kind != plan.Same && step.Kind != plan.Move && len(results) < failsAfter {
				results = append(results, graph.Result{Old: step.Old, New: made[step]})
			}
		}
		return before.Overlay(planned.VersionID, planned.Configuration, results)
	}
	u.Version, u.Interrupt = graph.NewVersion(planned.VersionID, resources), s.graph.Modules()
	u.Version.Uses, u.Version.Provides = planned.Uses, slices.Clone(planned.Provides)
	u.Version.Configuration, u.Version.Config = planned.Configuration, planned.Config
	for i := range u.Version.Provides {
		u.Version.Provides[i].Result = must.Get(expr.Evaluate(u.Version.Provides[i].Value, resolve))(s)
	}
	transition := must.Get(before.Deploy(u))(s)
	for len(transition.Cleanups) > 0 {
		transition = transition.Graph.Cleanup(transition.Cleanups[0])
	}
	return transition.Graph
}

// typeTable is a provider of the types parsed by parseTypes. Its Check sets the property "region" by default.
type typeTable map[tokens.Type]plan.Description

func parseTypes(src string) typeTable {
	all := typeTable{}
	for line := range strings.Lines(src) {
		fields := strings.Fields(line)
		d := plan.Description{Type: tokens.Type("x:m:" + fields[0])}
		for _, f := range fields[1:] {
			name, list, _ := strings.Cut(f, "=")
			switch name {
			case "named":
				d.Named = true
			case "function":
				d.Function = true
			case "replaces":
				d.Replaces = strings.Split(list, ",")
			case "outputs":
				d.Outputs = strings.Split(list, ",")
			case "fixed":
				d.Fixed = strings.Split(list, ",")
			case "computed":
				d.Computed = strings.Split(list, ",")
			case "secrets":
				d.Secrets = strings.Split(list, ",")
			case "minLength":
				d.Name.MinLength, _ = strconv.Atoi(list)
			case "maxLength":
				d.Name.MaxLength, _ = strconv.Atoi(list)
			case "pattern":
				d.Name.Pattern = list
			case "scope":
				d.Name.Scope = list
			}
		}
		all[d.Type] = d
	}
	return all
}

func (t typeTable) Describe(_ context.Context, types []tokens.Type) (all []plan.Description, err error) {
	for _, one := range types {
		all = append(all, t[one])
	}
	return all, nil
}

func (t typeTable) Check(_ context.Context, r plan.CheckRequest) (lumigl.Value, error) {
	if wrong, ok := r.Properties.Get("wrong").Text(); ok {
		return lumigl.Value{}, errors.New(wrong)
	}
	return r.Properties, nil
}

func (t typeTable) Name(_ context.Context, r plan.Desired) (string, error) {
	name, ok := r.Properties.Get("key").Text()
	if !ok {
		return "", errors.New("the key is not known")
	}
	return name, nil
}

// Call returns results that list the arguments.
func (t typeTable) Call(_ context.Context, r plan.Desired) (results lumigl.Value, err error) {
	if wrong, ok := r.Properties.Get("wrong").Text(); ok {
		return results, errors.New(wrong)
	}
	text := ""
	for key, v := range r.Properties.Members() {
		if to, _, ok := v.Target(); ok {
			v = lumigl.TextOf(r.References[to.URN()].ID)
		}
		argument, _ := v.Text()
		text += " " + key + " " + argument
	}
	for _, name := range t[r.URN.Type()].Outputs {
		results = results.With(name, lumigl.TextOf(name+" of"+text+string(t["latest"].Type)))
	}
	return results, nil
}

// Get returns properties only for an ID that contains a plus sign, and outputs for one that contains "shared". An ID that
// contains a star or "gone" does not exist.
func (t typeTable) Get(_ context.Context, r plan.Existing) (inputs, outputs lumigl.Value, err error) {
	if strings.Contains(r.ID, "gone") {
		return inputs, outputs, &plan.NotFoundError{Err: errors.New("not found")}
	}
	for _, name := range t[r.URN.Type()].Outputs {
		if strings.Contains(r.ID, "shared") {
			outputs = outputs.With(name, lumigl.TextOf(name+" of "+r.ID))
		}
	}
	if strings.Contains(r.ID, "*") {
		return inputs, outputs, errors.New("no such resource")
	}
	if strings.Contains(r.ID, "+") {
		inputs = lumigl.ObjectOf(lumigl.Member{Key: "key", Value: lumigl.TextOf("k")}, lumigl.Member{Key: "pin", Value: lumigl.TextOf("1234")})
	}
	return inputs, outputs, nil
}

func (t typeTable) InspectChange(_ context.Context, r plan.InspectChangeRequest) (d plan.Difference, err error) {
	description := t[r.URN.Type()]
	names := map[string]bool{}
	for name := range r.Old.Members() {
		names[name] = true
	}
	for name := range r.Properties.Members() {
		names[name] = true
	}
	for name := range names {
		old, new := r.Old.Get(name), r.Properties.Get(name)
		if !old.Equal(new) && !slices.Contains(description.Outputs, name) {
			d.Changes = append(d.Changes, plan.Change{
				Path: name, Unknown: !expr.IsKnown(new), Replaces: slices.Contains(description.Replaces, name),
			})
		}
	}
	slices.SortFunc(d.Changes, func(a, b plan.Change) int { return strings.Compare(a.Path, b.Path) })
	return d, nil
}
