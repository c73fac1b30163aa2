// Package desired evaluates MuranoPL object models to graphs of desired state. The workflow that deploys the root
// object requests resources by creating objects of class io.lumi.Resource.
package desired

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/jsonpointer"
	"github.com/lumi-idl/lumi/lang/muranopl"
	"github.com/lumi-idl/lumi/lang/yaql"
	"github.com/lumi-idl/lumi/lumigl"
)

// Evaluate returns the graph of desired state and the saved model. The graph's field "config" contains the configuration
// that workflows have read. The saved model consists of the model in the file
// and the model after the workflow. Outputs in it are references to properties of resources in the graph, or
// expressions; replace them with their values after the deployment, and pass the result as Input.Last to the next
// evaluation. Errors in the model and the classes are of type [*muranopl.Error].
func Evaluate(ctx context.Context, in Input) (graph *lumigl.Snapshot, saved lumigl.Value, err error) {
	e := &evaluation{
		Input: in, ctx: ctx, graph: &lumigl.Snapshot{Package: in.Module}, types: map[string]*schema.Resource{}, unnamed: map[string]int{},
		places: map[string]muranopl.Position{},
	}
	for _, p := range in.Schemas {
		for d := range p.Decls() {
			if r, ok := d.(*schema.Resource); ok {
				e.types[r.Token] = r
				e.tokens = append(e.tokens, r.Token)
			}
		}
	}
	e.in = muranopl.New(muranopl.Resolvers{e.library(), in.Classes, murano}, muranopl.Options{
		Config: e.config,
		Sleep:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	file, err := export(in.Model.Data(), true)
	if err != nil {
		return nil, lumigl.Value{}, err
	}
	m := &merger{in: e.in, live: map[string]bool{}, placed: map[string]bool{}, log: in.Log}
	if m.file, err = newModels(tree(file, in.Model)); err != nil {
		return nil, lumigl.Value{}, err
	}
	m.last, _ = newModels(tree(in.Last.Get("file"), nil)) // checked before it was saved
	m.saved, _ = newModels(tree(in.Last.Get("saved"), nil))
	root, err := m.load(e)
	if err == nil {
		_, err = e.in.Call(ctx, root, cmp.Or(in.Method, "deploy"))
	}
	if err == nil {
		err = e.destroy(root)
	}
	if err == nil {
		saved, err = export(e.in.Save(root), false)
	}
	if err == nil {
		err = e.sort()
	}
	if err != nil {
		return nil, lumigl.Value{}, err
	}
	if e.read.Exists() {
		e.graph.Fields = append(e.graph.Fields, lumigl.Member{Key: "config", Value: e.read})
	}
	return e.graph, lumigl.ObjectOf(lumigl.Member{Key: "file", Value: file}, lumigl.Member{Key: "saved", Value: saved}), nil
}

// sort sorts the graph. If the graph is invalid, sort returns its first error with the position of the instruction that
// requested the resource.
func (e *evaluation) sort() error {
	err := e.graph.Sort()
	invalid, ok := errors.AsType[*lumigl.InvalidError](err)
	if !ok {
		return err
	}
	first := invalid.Faults[0]
	at := failAt(e.Model.Pos, yaql.Value, "%s", &first)
	for v := range e.graph.Vertices() {
		if strings.HasPrefix(first.Pointer, jsonpointer.Within("/resources", v.Key())) {
			at = failAt(e.places[v.Key()], yaql.Value, "%s: %s", title(string(v.Type), v.URN().Name()), first.Message)
		}
	}
	return at
}

// destroy calls .destroy on unreachable objects or, if root is nil, on objects that were removed from the model. It
// returns the first error.
func (e *evaluation) destroy(root *muranopl.Object) error {
	if errs := e.in.Destroy(e.ctx, root); len(errs) > 0 {
		return errs[0]
	}
	return nil
}
