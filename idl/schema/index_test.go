package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// Find returns what Read does, for every declaration with a token, and for everything that it refers to.
func TestIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, n := drawPackage(t), 0
		for d := range p.Decls() {
			if r, ok := d.(*schema.Resource); ok {
				r.Token, n = fmt.Sprint("p:m:R", n), n+1 // unique
			}
		}
		compact := must.Get(schema.Compact(p))(t)
		p = must.Get(schema.Read(bytes.NewReader(compact)))(t)
		index := must.Get(schema.NewIndex(string(compact)))(t)
		if index.Name() != p.Name {
			t.Fatalf("Name = %q, want %q", index.Name(), p.Name)
		}
		tokens := map[string][]string{}
		var config *schema.Config
		for want := range p.Decls() {
			var got schema.Decl
			switch d := want.(type) {
			case *schema.Resource:
				got = must.Get(index.Find(d.Token))(t)
				tokens["resource"] = append(tokens["resource"], d.Token)
			case *schema.Function:
				got = must.Get(index.Find(d.Token))(t)
				tokens["function"] = append(tokens["function"], d.Token)
			case *schema.Config:
				if config != nil {
					continue
				}
				config = d
				got = must.Get(index.Config())(t)
			default:
				continue
			}
			sameDecls(t, got, want, map[schema.Decl]bool{})
		}
		for kind, want := range tokens {
			if diff := cmp.Diff(want, index.Tokens(kind)); diff != "" {
				t.Fatalf("Tokens(%s) (-want +got):\n%s", kind, diff)
			}
		}
	})
}

// sameDecls compares two declarations and what they refer to. Resources are references in the JSON of others, so only the first
// is compared as a whole.
func sameDecls(t *rapid.T, got, want schema.Decl, seen map[schema.Decl]bool) {
	if seen[want] {
		return
	}
	seen[want] = true
	if r, ok := want.(*schema.Resource); ok && len(seen) > 1 {
		if g, ok := got.(*schema.Resource); !ok || g.Token != r.Token || g.Name != r.Name || g.File.Path() != r.File.Path() {
			t.Fatalf("Find(…) refers to %v, want %s", got, r.Token)
		}
		return
	}
	if g, w := must.Get(json.Marshal(got))(t), must.Get(json.Marshal(want))(t); string(g) != string(w) {
		t.Fatalf("got  %s\nwant %s", g, w)
	}
	if got.Head().File.Doc != want.Head().File.Doc {
		t.Fatalf("the file of %s differs", want.Head().Name)
	}
	sameType := func(got, want schema.Type) {
		var refs []*schema.Ref
		for ref := range schema.Refs(got) {
			refs = append(refs, ref)
		}
		for ref := range schema.Refs(want) {
			sameDecls(t, refs[0].Decl, ref.Decl, seen)
			refs = refs[1:]
		}
	}
	if a, ok := want.(*schema.Alias); ok {
		sameType(got.(*schema.Alias).Target, a.Target)
	}
	for i, p := range schema.Properties(want) {
		sameType(schema.Properties(got)[i].Type, p.Type)
	}
}

// References to resources of other packages work, and absent declarations are nil.
func TestIndexOfOtherPackages(t *testing.T) {
	zone := &schema.Resource{Header: schema.Header{Name: "Zone"}, Token: "acme/dns:index:Zone"}
	record := &schema.Resource{Header: schema.Header{Name: "Record"}, Token: "a:index:Record", Properties: []*schema.Property{
		{Field: "Zone", Name: "zone", Type: &schema.Ref{Decl: zone}},
	}}
	p := &schema.Package{
		Name: "a", Modules: []*schema.Module{{GoName: "a", Files: []*schema.File{{Name: "a.go", Decls: []schema.Decl{record}}}}},
		Packages: []*schema.Package{{Name: "acme/dns", NPM: "@acme/dns", Modules: []*schema.Module{
			{GoName: "dns", Files: []*schema.File{{Name: "zone.go", Decls: []schema.Decl{zone}}}},
		}}},
	}
	p.Link()
	index := must.Get(schema.NewIndex(string(must.Get(schema.Compact(p))(t))))(t)
	d := must.Get(index.Find("a:index:Record"))(t).(*schema.Resource)
	if got := d.Properties[0].Type.(*schema.Ref).Decl.(*schema.Resource); got.Token != zone.Token || got.Foreign().NPM != "@acme/dns" {
		t.Errorf("the zone is %+v", got)
	}
	if d, err := index.Find("acme/dns:index:Zone"); d != nil || err != nil {
		t.Errorf("Find(Zone) = %v, %v, want nil", d, err)
	}
	if c, err := index.Config(); c != nil || err != nil {
		t.Errorf("Config = %v, %v, want nil", c, err)
	}
}

func TestIndexErrors(t *testing.T) {
	const expected = "schema: expected the constant JSON of a lumischema package, which cidlc --out-provider writes"
	const token = `{"kind":"resource","name":"R","token":"t"`
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", expected},
		{"indented", "{\n  \"version\": 1\n}", expected},
		{"version", `{"version":2}`, "schema: unsupported version 2, expected 1"},
		{"member", `{"version":1,"more":2}`, `schema: line 1: unknown member "more"`},
		{"no module", "{\"version\":1,\"name\":\"p\",\"modules\":[\n" + token + "}", `schema: unknown member "version"`},
		{"cut", "{\"version\":1,\"name\":\"p\",\"modules\":[\n{\"path\":\"\",\"goName\":\"p\",\"files\":[\n{\"name\":\"a.go\",\"decls\":[\n" + token,
			"schema: R: unexpected EOF"},
		{"wrong", "{\"version\":1,\"name\":\"p\",\"modules\":[\n{\"path\":\"\",\"goName\":\"p\",\"files\":[\n{\"name\":\"a.go\",\"decls\":[\n" +
			token + `,"a":1}`, `schema: a.go: R: unknown member "a"`},
		{"packages", "{\"version\":1,\"name\":\"p\",\"modules\":[\n" + token + "}],\"packages\":[\n]", "schema: packages: unexpected EOF"},
	} {
		t.Run(test.name, func(t *testing.T) {
			index, err := schema.NewIndex(test.text)
			if err == nil {
				_, err = index.Find("t")
			}
			if err == nil || err.Error() != test.want {
				t.Errorf("%v\nwant %s", err, test.want)
			}
		})
	}
}

func FuzzIndex(f *testing.F) {
	p := must.Get(schema.Read(strings.NewReader(`{"version":1,"name":"p","modules":[{"path":"m","goName":"m","files":[{"name":"f.go","decls":[
		{"kind":"config","name":"C","properties":[{"field":"S","name":"s","type":{"kind":"ref","module":"m","name":"S"}}]},
		{"kind":"struct","name":"S","properties":[{"field":"R","name":"r","type":{"kind":"ref","module":"m","name":"R"}}]},
		{"kind":"resource","name":"R","token":"p:m:R","properties":[{"field":"S","name":"s","type":{"kind":"ref","module":"m","name":"S"}}]}
		]}]}]}`)))(f)
	f.Add(string(must.Get(schema.Compact(p))(f)))
	f.Fuzz(func(_ *testing.T, text string) {
		index, err := schema.NewIndex(text)
		if err != nil {
			return
		}
		_, _ = index.Config()
		for _, kind := range []string{"resource", "function"} {
			for _, token := range index.Tokens(kind) {
				_, _ = index.Find(token)
			}
		}
	})
}
