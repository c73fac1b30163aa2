package breaking_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/gen/gostubs"
	"github.com/lumi-idl/lumi/gen/typescript"
	"github.com/lumi-idl/lumi/idl/breaking"
	"github.com/lumi-idl/lumi/idl/compile"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/test/kit/randidl"
	// Stubs are compiled offline. Importing their dependencies here keeps these in the module cache.
	_ "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/test/kit/must"
)

const (
	stubModule  = "example.com/stubs"
	runtimePath = "github.com/lumi-idl/lumi/runtime"
)

// trial is a change to an IDL, with its findings and the output of the compilers.
type trial struct {
	name     string
	old, new *schema.Package
	findings []breaking.Finding
	impact   breaking.Impact // the maximum impact of all findings
	// random is set for random changes. A finding about one of them may be wrong, since the changed element may be
	// unused.
	random bool

	programs, provider string // compiler errors
}

// TestFindingsMatchCompilers compiles programs and providers written for the old version of an IDL against code
// generated from the new version. They must compile if no finding affects them, and fail if one does. The new stubs
// must also decode state and arguments from the old version. The trials are the examples of the catalog and random
// changes to random IDLs, whose number is set by LUMI_BREAKING_TRIALS.
func TestFindingsMatchCompilers(t *testing.T) {
	if testing.Short() {
		t.Skip("the test runs compilers")
	}
	t.Parallel()
	var trials []*trial
	for _, e := range breaking.Catalog() {
		m := impactLine.FindStringSubmatch(e.Text)
		trials = append(trials, &trial{name: e.Code, old: loadExample(t, m[2]), new: loadExample(t, m[3])})
	}
	trials = append(trials, randomTrials(t)...)
	for _, tr := range trials {
		tr.findings = compare(tr.old, tr.new)
		for _, f := range tr.findings {
			tr.impact.Programs = max(tr.impact.Programs, f.Impact.Programs)
			tr.impact.Provider = max(tr.impact.Provider, f.Impact.Provider)
			tr.impact.Wire = max(tr.impact.Wire, f.Impact.Wire)
			tr.impact.Deployed = max(tr.impact.Deployed, f.Impact.Deployed)
		}
	}
	compileTypeScript(t, trials)
	dir := compileGo(t, trials)
	harmless := 0
	for _, tr := range trials {
		tr.judge(t, "programs", tr.impact.Programs, tr.programs)
		tr.judge(t, "providers", tr.impact.Provider, tr.provider)
		if tr.random && len(tr.findings) == 0 {
			harmless++
		}
	}
	if harmless == 0 {
		t.Error("all random changes have findings, want some without")
	}
	if !t.Failed() {
		decode(t, dir, trials)
	}
}

func (tr *trial) judge(t *testing.T, whom string, impact breaking.Severity, faults string) {
	t.Helper()
	switch {
	case impact == breaking.None && faults != "":
		t.Errorf("%s: %s fail to compile, want a finding about it:\n%s\nfindings:\n%s", tr.name, whom, faults, text(t, tr.findings))
	case impact == breaking.Breaks && faults == "" && !tr.random:
		t.Errorf("%s: %s compile, want errors because of the findings:\n%s", tr.name, whom, text(t, tr.findings))
	}
}

// randomTrials returns trials that make random changes to random IDLs.
func randomTrials(t *testing.T) []*trial {
	number := 12
	if s := os.Getenv("LUMI_BREAKING_TRIALS"); s != "" {
		number = must.Get(strconv.Atoi(s))(t)
	}
	draw := rapid.Custom(func(t *rapid.T) map[string]string {
		if rapid.Bool().Draw(t, "folders") {
			return randidl.Package(t)
		}
		return map[string]string{"source.go": randidl.Source(t)}
	})
	archive := must.Get(txtar.ParseFile("testdata/judges/unions.txtar"))(t)
	unions := map[string]string{}
	for _, f := range archive.Files {
		unions[f.Name] = string(f.Data)
	}
	var trials []*trial
	for seed := 1; len(trials) < number; seed++ {
		dir := t.TempDir()
		write(t, dir, "go.mod", "module example.com/shop\n\ngo 1.26.0\n\nrequire github.com/lumi-idl/lumi v0.0.0\n\n"+
			"replace github.com/lumi-idl/lumi => "+checkout(t)+"\n")
		sources := draw.Example(seed)
		if seed%3 == 1 { // random IDLs rarely use unions
			sources = unions
		}
		for name, source := range sources {
			write(t, dir, "idl/"+name, source)
		}
		pkg, _, err := compile.Load(t.Context(), compile.Options{Dir: filepath.Join(dir, "idl"), Package: "shop"})
		if err != nil {
			t.Fatal(err)
		}
		if pkg == nil {
			continue // rejected by the compiler
		}
		for i := range 3 {
			c := &changer{rand.New(rand.NewPCG(uint64(seed), uint64(i))), copyOf(t, pkg), nil}
			// One in three changes is harmless.
			c.change(i == 0)
			trials = append(trials, &trial{
				name: fmt.Sprintf("seed %d.%d, %s", seed, i, strings.Join(c.done, ", ")), old: pkg, new: copyOf(t, c.pkg), random: true,
			})
		}
	}
	return trials
}

// copyOf returns a checked and linked deep copy of a model.
func copyOf(t *testing.T, pkg *schema.Package) *schema.Package {
	t.Helper()
	makeLegal(pkg)
	var b bytes.Buffer
	must.Do(t, schema.Write(&b, pkg))
	return must.Get(schema.Read(&b))(t)
}

func checkout(t *testing.T) string {
	t.Helper()
	return must.Get(filepath.Abs("../.."))(t)
}

// compileTypeScript compiles all old programs against the new packages in one tsc call.
func compileTypeScript(t *testing.T, trials []*trial) {
	t.Helper()
	dir := t.TempDir()
	npm := filepath.Join(checkout(t), "runtime", "typescript")
	var files []string
	for i, tr := range trials {
		folder := "t" + strconv.Itoa(i)
		modules, _, err := typescript.Generate(tr.new, typescript.Options{})
		if err == nil {
			modules, err = gen.Rendered(modules)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range modules {
			if !f.Scaffold {
				write(t, dir, path.Join(folder, "pack", f.Path), string(f.Content))
			}
		}
		write(t, dir, folder+"/program.ts", program(tr.old))
		files = append(files, folder+"/program.ts")
	}
	config := must.Get(json.Marshal(map[string]any{
		"compilerOptions": map[string]any{
			"target": "es2022", "lib": []string{"es2022", "es2024.string"}, "module": "nodenext", "noEmit": true,
			"types": []string{"node"}, "typeRoots": []string{npm + "/node_modules/@types"},
			"strict": true, "verbatimModuleSyntax": true, "exactOptionalPropertyTypes": true,
			"paths": map[string][]string{"@lumi/lumi": {npm + "/src/index.ts"}},
		},
		"files": files,
	}))(t)
	write(t, dir, "tsconfig.json", string(config))
	write(t, dir, "package.json", `{"type": "module"}`)
	cmd := exec.Command(filepath.Join(npm, "node_modules", ".bin", "tsc"), "--pretty", "false")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if failed := new(exec.ExitError); err != nil && !errors.As(err, &failed) {
		t.Fatalf("tsc: %v; run 'npm ci' in %s", err, npm)
	}
	sortErrors(t, string(out), func(i int) *string { return &trials[i].programs })
}

var inTrial = regexp.MustCompile(`(?:^|[ /])t(\d+)/`)

// sortErrors assigns each line of compiler output to its trial.
func sortErrors(t *testing.T, out string, of func(i int) *string) {
	t.Helper()
	for line := range strings.Lines(out) {
		if m := inTrial.FindStringSubmatch(line); strings.ContainsAny(line[:1], " \t#") {
			continue
		} else if m != nil {
			i, _ := strconv.Atoi(m[1])
			*of(i) += line
		} else {
			t.Errorf("compiler output contains an unknown line: %s", line)
		}
	}
}

// compileGo compiles the old provider code against the new stubs and returns the folder of the module.
func compileGo(t *testing.T, trials []*trial) string {
	t.Helper()
	dir, root := t.TempDir(), checkout(t)
	goMod := must.Get(os.ReadFile(filepath.Join(root, "go.mod")))(t)
	goSum := must.Get(os.ReadFile(filepath.Join(root, "go.sum")))(t)
	_, requirements, _ := strings.Cut(string(goMod), "\n")
	write(t, dir, "go.mod", "module "+stubModule+"\n"+requirements+"\nrequire github.com/lumi-idl/lumi v0.0.0\n\nreplace github.com/lumi-idl/lumi => "+root+"\n")
	write(t, dir, "go.sum", string(goSum))
	for i, tr := range trials {
		folder := "t" + strconv.Itoa(i)
		stubs, err := gen.Rendered(gostubs.Generate(tr.new, gostubs.Options{ImportPath: stubModule + "/" + folder}))
		if err != nil {
			t.Fatalf("%s: Generate: %v", tr.name, err)
		}
		for _, f := range stubs {
			write(t, dir, path.Join(folder, f.Path), string(f.Content))
		}
		for _, m := range tr.old.Modules {
			if slices.ContainsFunc(tr.new.Modules, func(n *schema.Module) bool { return n.Path == m.Path && n.GoName != m.GoName }) {
				tr.provider += "a folder has files of two packages" // otherwise the go command would report nothing else
				continue
			}
			write(t, dir, path.Join(folder, m.Path, "zz_author.go"), author(m, stubModule+"/"+folder))
		}
	}
	out, _ := goCommand(dir, "vet", "-bools", "./...").CombinedOutput()
	sortErrors(t, string(out), func(i int) *string { return &trials[i].provider })
	return dir
}

func goCommand(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	return cmd
}

// task is one input of the decoder program.
type task struct {
	Trial, Token string
	State, Args  map[string]any
	Want         map[string]any // the state with the property names of the new version
}

// decode runs the new stubs on old state and on arguments of old programs, wherever no finding affects them.
func decode(t *testing.T, dir string, trials []*trial) {
	t.Helper()
	var tasks []task
	var main, uses strings.Builder
	main.WriteString("import (\n")
	for i, tr := range trials {
		if tr.provider != "" { // the decoder needs a provider adapted to the change
			for _, m := range tr.new.Modules {
				folder := "t" + strconv.Itoa(i)
				write(t, dir, path.Join(folder, m.Path, "zz_author.go"), author(m, stubModule+"/"+folder))
			}
		}
		imported := map[string]bool{}
		for d := range tr.old.Decls() {
			if r, ok := d.(*schema.Resource); ok && served(tr.new, r) != nil {
				now := served(tr.new, r)
				all, set := state(r.Properties, 3)
				if tr.impact.Deployed != breaking.None {
					all = nil
				}
				if tr.impact.Wire != breaking.None || tr.random && limited(r.Properties, map[schema.Decl]bool{}) {
					set = nil // values in random trials may violate constraints
				}
				if all == nil && set == nil {
					continue
				}
				tasks = append(tasks, task{tr.name, r.Token, all, set, renamed(now, all)})
				name := fmt.Sprintf("t%dm%d", i, slices.Index(tr.new.Modules, now.File.Module))
				fmt.Fprintf(&uses, "\t{&%s.ZZSeen, %[1]s.ZZProviders[%q]},\n", name, now.Token)
				if !imported[name] {
					fmt.Fprintf(&main, "\t%s %q\n", name, path.Join(stubModule, "t"+strconv.Itoa(i), now.File.Module.Path))
				}
				imported[name] = true
			}
		}
	}
	if len(tasks) == 0 {
		t.Error("no state or arguments to decode, want some")
		return
	}
	write(t, dir, "main/tasks.json", string(must.Get(json.Marshal(tasks))(t)))
	source := strings.Replace(decoder, "import (\n", main.String(), 1)
	write(t, dir, "main/main.go", strings.Replace(source, "// USES\n", uses.String(), 1))
	out, err := goCommand(dir, "run", "./main").CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("decoder: %v\n%s", err, out)
	}
}

// limited reports whether any property has constraints, directly or in nested structs.
func limited(properties []*schema.Property, seen map[schema.Decl]bool) bool {
	return slices.ContainsFunc(properties, func(p *schema.Property) bool {
		for ref := range schema.Refs(p.Type) {
			if kind := ref.Decl.Head().Kind; kind == "resource" || seen[ref.Decl] {
				continue
			}
			if seen[ref.Decl] = true; limited(schema.Properties(ref.Decl), seen) {
				return true
			}
		}
		return p.Constrained()
	})
}

// served returns the resource in pkg that serves r's token, or nil if there is none.
func served(pkg *schema.Package, r *schema.Resource) *schema.Resource {
	for d := range pkg.Decls() {
		if now, ok := d.(*schema.Resource); ok && (now.Token == r.Token || slices.Contains(now.Was, r.Token)) {
			return now
		}
	}
	return nil
}

// renamed returns state with the property names of the new version, omitting removed properties.
func renamed(d schema.Decl, state map[string]any) map[string]any {
	now := map[string]any{}
	for _, p := range schema.Properties(d) {
		for _, name := range append([]string{p.Name}, p.Was...) {
			if v, ok := state[name]; ok {
				now[p.Name] = renamedIn(p.Type, v)
				break
			}
		}
	}
	return now
}

func renamedIn(t schema.Type, v any) any {
	switch v := v.(type) {
	case []any:
		if list, ok := schema.Underlying(t).(*schema.List); ok && len(v) > 0 {
			return []any{renamedIn(list.Elem, v[0])}
		}
	case map[string]any:
		if secret, ok := v["value"]; ok && v[signature] != nil {
			v = maps.Clone(v)
			v["value"] = renamedIn(t, secret)
			return v
		}
		switch t := schema.Underlying(t).(type) {
		case *schema.Map:
			v = maps.Clone(v)
			for key := range v {
				v[key] = renamedIn(t.Elem, v[key])
			}
		case *schema.Ref:
			return renamed(t.Decl, v)
		}
		return v
	}
	return v
}

// decoder is the source of a program that decodes all tasks and prints errors.
const decoder = `package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/urn"
)

//go:embed tasks.json
var tasks []byte

var providers = []struct {
	seen     *lumi.Bag
	provider lumi.ResourceProvider
}{
// USES
}

func main() {
	var list []struct {
		Trial, Token string
		State, Args  map[string]any
		Want         map[string]any
	}
	if err := json.Unmarshal(tasks, &list); err != nil {
		panic(err)
	}
	for i, task := range list {
		p := providers[i]
		state, err := structpb.NewStruct(task.State)
		if err != nil {
			panic(err)
		}
		args, err := structpb.NewStruct(task.Args)
		if err != nil {
			panic(err)
		}
		fail := func(format string, args ...any) {
			fmt.Printf("%s: %s: %s\n", task.Trial, task.Token, fmt.Sprintf(format, args...))
		}
		ctx := context.Background()
		if validator, ok := p.provider.(interface {
			Validate(context.Context, lumi.Bag, ...lumi.Fault) error
		}); !ok {
			fail("cannot validate")
		} else if task.Args == nil {
		} else if err := validator.Validate(ctx, lumi.BagOf(args)); err != nil {
			fail("%v\n%v", err, args)
		}
		if task.State == nil {
			continue
		}
		if task.Args != nil {
			resp, err := p.provider.InspectChange(ctx, &lumi.InspectChangeRequest{
				URN: urn.URN("urn:lumi:test::shop:index::" + task.Token + "::thing"), ID: "thing", Old: lumi.BagOf(state), New: lumi.BagOf(args),
			})
			if err != nil {
				fail("%v", err)
			} else if len(resp.Replaces) > 0 {
				fail("is replaced for %v", resp.Replaces)
			}
		}
		*p.seen = lumi.Bag{}
		if _, err := p.provider.Delete(ctx, &lumi.DeleteRequest{Properties: lumi.BagOf(state)}); err != nil {
			fail("%v", err)
		} else if kept := p.seen.Struct().AsMap(); !within(task.Want, kept) {
			fail("state is decoded to something else:\n%v\n%v", task.Want, kept)
		}
	}
}

// within reports whether a is a subset of b.
func within(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		for key := range maps.Keys(a) {
			ok = ok && within(a[key], b[key])
		}
		return ok
	case []any:
		b, ok := b.([]any)
		ok = ok && len(a) == len(b)
		for i := range a {
			ok = ok && within(a[i], b[i])
		}
		return ok
	}
	return a == b
}
`
