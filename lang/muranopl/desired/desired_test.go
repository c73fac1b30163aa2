package desired_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/lumi-idl/lumi/idl/compile"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/lang/muranopl"
	"github.com/lumi-idl/lumi/lang/muranopl/catalog"
	"github.com/lumi-idl/lumi/lang/muranopl/desired"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/golden"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// schemas returns the schemas of the examples and a schema with unions.
var schemas = sync.OnceValues(func() ([]*schema.Package, error) {
	var all []*schema.Package
	for _, name := range []string{"examples/local", "examples/aws", "testdata/golden/unions"} {
		p, diagnostics, err := compile.Load(context.Background(), compile.Options{Dir: "../../../" + name + "/idl"})
		if err != nil || len(diagnostics) > 0 {
			return nil, fmt.Errorf("%s: %v %w", name, diagnostics, err)
		}
		all = append(all, p)
	}
	return all, nil
})

// TestGolden deploys the models of each archive in turn. After each deployment, the outputs are set to arbitrary
// values.
func TestGolden(t *testing.T) {
	golden.Archives(t, "testdata/*.txtar", deploy)
}

func deploy(t *testing.T, archive *txtar.Archive) {
	in := desired.Input{Module: "my/shop", Environment: "dev", Classes: classesOf(t, archive), Schemas: must.Get(schemas())(t)}
	var out strings.Builder
	in.Log = func(level, message string) { fmt.Fprintf(&out, "%s: %s\n", level, message) }
	for i, f := range archive.Files {
		if strings.HasPrefix(f.Name, "config") {
			in.Config = must.Get(lumigl.Parser{}.ParseValue(string(f.Data)))(t)
		}
		if !strings.HasSuffix(f.Name, ".json") {
			continue
		}
		model := must.Get(catalog.Model(f.Name, f.Data))(t)
		out.Reset()
		in.Model = model
		graph, saved, err := desired.Evaluate(context.Background(), in)
		if err != nil {
			fmt.Fprintf(&out, "error: %v\n", err)
		} else {
			in.Last = filledIn(t, in.Schemas, saved)
			out.WriteString(textOf(t, graph, saved))
		}
		if i+1 == len(archive.Files) || archive.Files[i+1].Name != f.Name+" evaluated" {
			t.Fatalf("the archive has no result for %s", f.Name)
		}
		golden.Part(t, &archive.Files[i+1], out.String())
	}
}

func classesOf(t testing.TB, archive *txtar.Archive) muranopl.Declarations {
	t.Helper()
	classes, errs := catalog.Folder("", must.Get(txtar.FS(archive))(t))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return classes
}

// textOf formats a graph and the saved model as the engine stores them.
func textOf(t *testing.T, graph *lumigl.Snapshot, saved lumigl.Value) string {
	t.Helper()
	const own = "urn:lumi:dev::my/shop:index::lumi:index:Module::shop"
	v := graph.Vertex(own)
	if v == nil {
		v = must.Get(graph.Add(own))(t)
	}
	entry := lumigl.ObjectOf(lumigl.Member{Key: "type", Value: lumigl.TextOf("any")}, lumigl.Member{Key: "value", Value: saved})
	provides := v.Properties.Get("provides").With("?model", entry)
	v.Properties = v.Properties.With("provides", provides)
	text := must.Get(lumigl.Append(nil, graph))(t)
	must.Get(lumigl.ParseSnapshot(string(text)))(t)
	return string(text)
}

// filledIn returns a saved model in which outputs are set to arbitrary values.
func filledIn(t *testing.T, schemas []*schema.Package, saved lumigl.Value) lumigl.Value {
	t.Helper()
	v := must.Get(expr.Evaluate(saved, func(v *lumigl.Vertex, property string) (lumigl.Value, bool) {
		text := lumigl.TextOf(v.URN().Name() + "." + property)
		for _, p := range schemas {
			for d := range p.Decls() {
				r, ok := d.(*schema.Resource)
				if !ok || r.Token != string(v.Type) {
					continue
				}
				for _, p := range r.Properties {
					if _, isMap := p.Type.(*schema.Map); p.Name == property && isMap {
						return lumigl.ObjectOf(lumigl.Member{Key: "a", Value: text}), true
					} else if p.Name == property && p.Secret {
						return secret(text), true
					}
				}
			}
		}
		return text, true
	}))(t)
	return v
}

func secret(v lumigl.Value) lumigl.Value {
	return lumigl.ObjectOf(
		lumigl.Member{Key: wire.Signature, Value: lumigl.TextOf(wire.Secret)}, lumigl.Member{Key: "value", Value: v})
}
