package breaking_test

import (
	"fmt"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"

	"github.com/lumi-idl/lumi/idl/breaking"
	"github.com/lumi-idl/lumi/idl/compile"
	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/golden"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// load compiles an IDL, given by its files, in a module of its own.
func load(t testing.TB, files map[string]string, opts compile.Options) *schema.Package {
	t.Helper()
	checkout := must.Get(filepath.Abs("../.."))(t)
	dir := t.TempDir()
	write(t, dir, "go.mod", "module example.com/work\n\ngo 1.26.0\n\nrequire github.com/lumi-idl/lumi v0.0.0\n\n"+
		"replace github.com/lumi-idl/lumi => "+checkout+"\n")
	for name, content := range files {
		write(t, dir, "idl/"+name, content)
	}
	opts.Dir = filepath.Join(dir, "idl")
	if opts.Package == "" {
		opts.Package = "shop"
	}
	pkg, diags, err := compile.Load(t.Context(), opts)
	if err != nil || len(diags) > 0 {
		t.Fatalf("Load = %v, %v, want no error and no diagnostics", err, diags)
	}
	return pkg
}

func write(t testing.TB, dir, name, content string) {
	t.Helper()
	name = filepath.Join(dir, filepath.FromSlash(name))
	must.Do(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must.Do(t, os.WriteFile(name, []byte(content), 0o644))
}

func compare(old, new *schema.Package) []breaking.Finding {
	in := func(dir string) func(string) string {
		return func(name string) string { return path.Join(dir, name) }
	}
	return breaking.Compare(breaking.Version{Package: old, Display: in("old")}, breaking.Version{Package: new, Display: in("new")})
}

func text(t testing.TB, findings []breaking.Finding) string {
	t.Helper()
	var list []diag.Diagnostic
	for _, f := range findings {
		list = append(list, f.Explained())
	}
	var b strings.Builder
	must.Do(t, diag.Text(&b, list, diag.TextOptions{}))
	return b.String()
}

// Each archive in testdata contains the folders old and new, and the expected findings in the file want.
func TestCompare(t *testing.T) {
	golden.Archives(t, "testdata/*.txtar", func(t *testing.T, archive *txtar.Archive) {
		t.Parallel()
		versions := map[string]map[string]string{"old": {}, "new": {}}
		want := -1
		for i, f := range archive.Files {
			if version, file, ok := strings.Cut(f.Name, "/"); ok {
				versions[version][file] = string(f.Data)
			} else {
				want = i
			}
		}
		old, new := load(t, versions["old"], compile.Options{}), load(t, versions["new"], compile.Options{})
		golden.Part(t, &archive.Files[want], text(t, compare(old, new)))
		for _, same := range []*schema.Package{old, new} {
			if found := compare(same, same); len(found) > 0 {
				t.Errorf("Compare of an IDL with itself found:\n%s\nwant no findings", text(t, found))
			}
		}
	})
}

var (
	impactLine = regexp.MustCompile(`(?s)\nThe example (.*?)\.\n\n## Old\n(.*)\n## New\n(.*)`)
	fences     = regexp.MustCompile("(?s)```go(?: (\\S+))?\n(.*?)```\n")
	option     = regexp.MustCompile("With `--(package|tokens)=(\\w+)`:")
)

// No IDL compiles to a package without files.
func TestCompareNoFiles(t *testing.T) {
	one := &schema.Package{Name: "one", Modules: []*schema.Module{{GoName: "one"}}}
	two := &schema.Package{Name: "two", Modules: []*schema.Module{{GoName: "two"}}}
	const want = "error GoPackageRenamed: index is now the Go package two (was one)\nnote: breaks providers\nhelp: write package one\n\n" +
		"error PackageRenamed: two is the new package name (was one)\n" +
		"note: breaks the wire and deployed resources; may break providers\nhelp: keep the name: --package=one\n\n2 errors\n"
	expect.Equal(t, want, text(t, compare(one, two)))
}

// loaded caches loaded examples by section.
var loaded sync.Map

func loadExample(t testing.TB, section string) *schema.Package {
	t.Helper()
	if pkg, ok := loaded.Load(section); ok {
		return pkg.(*schema.Package)
	}
	files, opts := map[string]string{}, compile.Options{}
	for _, m := range fences.FindAllStringSubmatch(section, -1) {
		if m[1] == "" {
			m[1] = "idl.go"
		}
		files[m[1]] = m[2]
	}
	for _, m := range option.FindAllStringSubmatch(section, -1) {
		if m[1] == "package" {
			opts.Package = m[2]
		} else {
			opts.Tokens = compile.TokenForm(m[2])
		}
	}
	pkg := load(t, files, opts)
	loaded.Store(section, pkg)
	return pkg
}

func TestCatalog(t *testing.T) {
	for _, e := range breaking.Catalog() {
		t.Run(e.Code, func(t *testing.T) {
			t.Parallel()
			m := impactLine.FindStringSubmatch(e.Text)
			if m == nil {
				t.Fatal("the entry lacks the impact or the headings Old and New")
			}
			found := compare(loadExample(t, m[2]), loadExample(t, m[3]))
			if len(found) != 1 || string(found[0].Code) != e.Code {
				t.Fatalf("Compare of the examples found:\n%swant only %s", text(t, found), e.Code)
			}
			if impact := strings.Replace(strings.Join(strings.Fields(m[1]), " "), "; it may", "; may", 1); impact != found[0].Impact.String() {
				t.Errorf("impact in the catalog = %s\nimpact of the finding = %s", impact, found[0].Impact)
			}
		})
	}
}

func TestCatalogComplete(t *testing.T) {
	codes := breaking.Catalog().Codes()
	reported := regexp.MustCompile(`(?:report\(|change\{|return )"([A-Z]\w+)"`)
	sources := must.Get(filepath.Glob("*.go"))(t)
	found := map[string]bool{}
	for _, name := range sources {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source := must.Get(os.ReadFile(name))(t)
		for _, m := range reported.FindAllStringSubmatch(string(source), -1) {
			if found[m[1]] = true; !slices.Contains(codes, m[1]) {
				t.Errorf("%s reports %s, want only codes in the catalog", name, m[1])
			}
		}
	}
	entries := must.Get(os.ReadDir("catalog"))(t)
	for _, entry := range entries {
		if code, ok := strings.CutSuffix(entry.Name(), ".md"); ok && (!found[code] || !slices.Contains(codes, code)) {
			t.Errorf("catalog/%s: code is never reported or missing from index.txt", entry.Name())
		}
	}
	for _, code := range diag.Catalog().Codes() {
		if slices.Contains(codes, code) {
			t.Errorf("code %s is both a breaking change and a diagnostic", code)
		}
	}
}

// elsewhere maps the fields of the model without a rule to the place where they are compared.
var elsewhere = map[string]string{
	"Package.Name": "comparePackages", "Package.Modules": "comparePackages", "Package.NPM": "comparePackages", "Module.GoName": "comparePackages",
	"Package.Versions": "a requirement of the npm package", "Package.Packages": "pairForeign", "Module.Foreign": "symbolOf",
	"Module.Path": "what modules are paired by", "Module.Files": "Header.File", "Module.Imports": "decides about Go names",
	"File.Module": "Header.File", "File.Name": "Header.File", "File.Decls": "pair", "File.Doc": "documentation",
	"Header.Doc": "documentation", "Header.Deprecated": "a warning only", "Header.Pos": "where findings are",
	"Resource.Header": "a part", "Struct.Header": "a part", "Config.Header": "a part", "Enum.Header": "a part",
	"Union.Header": "a part", "Function.Header": "a part", "Union.Variants": "compareProperties",
	"Alias.Header": "a part", "Const.Header": "a part", "Const.Type": "Const.Value",
	"Member.Name": "Enum.Members", "Member.Value": "Enum.Members", "Member.Doc": "documentation", "Member.Deprecated": "a warning only", "Member.Pos": "where findings are",
	"Property.Name": "what properties are paired by", "Property.Doc": "documentation", "Property.Deprecated": "a warning only",
	"Property.ConflictsWith": "compareRelations", "Property.RequiredWith": "compareRelations", "Property.ExactlyOneOf": "compareRelations",
	"Relation.Rule": "compareRelations", "Relation.Properties": "compareRelations", "Property.Pos": "where findings are",
	"Rule.Message": "compareRules", "Rule.Expr": "compareRules", "List.Elem": "relate", "Map.Key": "relate", "Map.Elem": "relate", "Ref.Decl": "relate",
	"Position.Line": "where findings are", "Position.Column": "where findings are",
}

// Every field of the model has a rule or an entry in elsewhere.
func TestFieldsHaveRules(t *testing.T) {
	considered := map[string]bool{}
	consider := func(v any) {
		typ := reflect.TypeOf(v)
		for i := range typ.NumField() {
			name := typ.Name() + "." + typ.Field(i).Name
			considered[name] = true
			hasRow := slices.Contains(breaking.Fields(), name) || typ.Field(i).Name == "Properties" && name != "Relation.Properties" || typ.Field(i).Name == "Rules"
			switch {
			case !hasRow && elsewhere[name] == "":
				t.Errorf("schema.%s has no rule; add one, or an entry in elsewhere", name)
			case hasRow && elsewhere[name] != "":
				t.Errorf("schema.%s has a rule; remove it from elsewhere", name)
			}
		}
	}
	types := []any{
		schema.Package{}, schema.Module{}, schema.File{}, schema.Header{}, schema.Resource{}, schema.Struct{}, schema.Config{}, schema.Union{}, schema.Function{},
		schema.Enum{}, schema.Member{}, schema.Alias{}, schema.Const{}, schema.Property{}, schema.List{}, schema.Map{},
		schema.Ref{}, schema.Position{}, schema.Constraints{}, schema.Relation{}, schema.Rule{},
	}
	for f := range reflect.TypeFor[schema.Constraints]().Fields() {
		elsewhere["Constraints."+f.Name] = "compareLimits, which TestConstraints asks about each"
	}
	names := map[string]bool{}
	for _, v := range types {
		consider(v)
		names[reflect.TypeOf(v).Name()] = true
	}
	for name := range elsewhere {
		if !considered[name] {
			t.Errorf("elsewhere contains the unknown field %s", name)
		}
	}
	pkgs := must.Get(packages.Load(&packages.Config{Mode: packages.NeedSyntax | packages.NeedFiles}, "../schema"))(t)
	for _, file := range pkgs[0].Syntax {
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.IsExported() {
				_, isStruct := spec.Type.(*ast.StructType)
				if isStruct && !names[spec.Name.Name] && spec.Name.Name != "Index" { // finds parts of a model
					t.Errorf("types lacks schema.%s", spec.Name.Name)
				}
			}
			return true
		})
	}
}

func TestConstraints(t *testing.T) {
	one, two := map[reflect.Kind]any{reflect.Float64: 1.0, reflect.Int: 1, reflect.String: "a", reflect.Bool: true},
		map[reflect.Kind]any{reflect.Float64: 2.0, reflect.Int: 2, reflect.String: "b", reflect.Bool: true}
	for f := range reflect.TypeFor[schema.Constraints]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		model := func(value any) *schema.Package {
			p := &schema.Property{Field: "A", Name: "a", Type: schema.String}
			if value != nil {
				p.Constraints = &schema.Constraints{}
				p.Constraints.Set(name, value)
			}
			m := &schema.Module{GoName: "shop"}
			m.Files = []*schema.File{{Module: m, Name: "shop.go", Decls: []schema.Decl{
				&schema.Resource{Header: schema.Header{Name: "Server"}, Token: "shop:index:Server", Properties: []*schema.Property{p}},
			}}}
			pkg := &schema.Package{Name: "shop", Modules: []*schema.Module{m}}
			pkg.Link()
			return pkg
		}
		kind := schema.ConstraintType(name)
		added, removed, changed := "ConstraintAdded", "ConstraintRemoved", "ConstraintTightened"
		switch {
		case name == "equal":
			added, removed, changed = "", "EqualRemoved", "EqualChanged"
		case kind == reflect.Bool:
			changed = ""
		case kind == reflect.String:
			changed = "ConstraintChanged"
		case strings.Contains(name, "ax"):
			changed = "ConstraintLoosened"
		}
		for _, pair := range []struct {
			old, new any
			want     string
		}{
			{nil, one[kind], added}, {one[kind], nil, removed}, {one[kind], two[kind], changed},
		} {
			if name == "says" { // only the wording of messages
				pair.want = ""
			}
			var codes []string
			for _, f := range compare(model(pair.old), model(pair.new)) {
				codes = append(codes, string(f.Code))
			}
			if got := strings.Join(codes, " "); got != pair.want {
				t.Errorf("codes for a change of %s from %v to %v = %q, want %q", name, pair.old, pair.new, got, pair.want)
			}
		}
	}
}

func TestAllowList(t *testing.T) {
	list := must.Get(breaking.ParseAllowList("allow.txt", "# Version 2.\n\nPropertyRemoved Server.size nobody set it\nTypeChanged Servr.zone   was never right\nOutAdded a.B.c x\n"))(t)
	finding := func(code diag.Code, symbol string) breaking.Finding {
		return breaking.Finding{Diagnostic: diag.Diagnostic{Code: code}, Symbol: symbol}
	}
	left, unused := list.Filter([]breaking.Finding{
		finding("PropertyRemoved", "Server.size"), finding("PropertyRemoved", "Server.zone"), finding("TypeChanged", "Server.zone"),
	})
	if len(left) != 2 || left[0].Symbol != "Server.zone" || left[1].Code != "TypeChanged" {
		t.Errorf("Filter = %v, want the findings PropertyRemoved and TypeChanged for Server.zone", left)
	}
	var b strings.Builder
	must.Do(t, diag.Text(&b, unused, diag.TextOptions{}))
	const want = `allow.txt:4:1: warning: no finding matches this line
help: remove it

allow.txt:5:1: warning: no finding matches this line
help: remove it

2 warnings
`
	expect.Equal(t, want, b.String(), "unused entries")
}

func TestParseAllowListErrors(t *testing.T) {
	_, err := breaking.ParseAllowList("allow.txt", "PropertyRemoved Server.size x\n  PropertyRemved Server.zone x\nQuux A x\n"+
		"PropertyRemoved Server.zone\nPropertyRemoved\n")
	const want = `allow.txt:2: unknown code "PropertyRemved"; did you mean PropertyRemoved?
allow.txt:3: unknown code "Quux"; 'cidlc explain' lists all codes
allow.txt:4: expected a code, a symbol, and a reason, such as 'PropertyRemoved Server.size no program ever set it'
allow.txt:5: expected a code, a symbol, and a reason, such as 'PropertyRemoved Server.size no program ever set it'`
	expect.Equal(t, want, fmt.Sprint(err))
}
