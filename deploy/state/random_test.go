package state_test

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// plain is a part of every secret and of no other value.
const plain = "hunter2"

func object(members ...lumigl.Member) lumigl.Value { return lumigl.ObjectOf(members...) }

func field(key string, v lumigl.Value) lumigl.Member { return lumigl.Member{Key: key, Value: v} }

func secretOf(v lumigl.Value) lumigl.Value {
	return object(field(wire.Signature, lumigl.TextOf(wire.Secret)), field("value", v))
}

func urnOf(module string, n int) urn.URN {
	return urn.URN(fmt.Sprintf("urn:lumi:prod::%s:index::t:m:T::r%d", module, n))
}

func refTo(u urn.URN, property string) lumigl.Value {
	v, err := lumigl.NewResource(u)
	if err != nil {
		panic(err)
	}
	return lumigl.PropertyOf(v, property)
}

var anyText = rapid.SampledFrom([]string{"", "#ref", "##ref", "property", "x y", "é\n<\"", "a/~b", "urn:lumi:prod::a:index::t:m:T::r0", "a::1", wire.Unknown})

func anyValue(t *rapid.T, references []lumigl.Value, depth int) lumigl.Value {
	switch rapid.IntRange(0, 4+3*min(depth, 1)).Draw(t, "kind") {
	case 0:
		return lumigl.NullValue()
	case 1:
		return lumigl.BoolOf(rapid.Bool().Draw(t, "bool"))
	case 2:
		return lumigl.IntOf(rapid.Int64().Draw(t, "int"))
	case 3:
		return lumigl.TextOf(anyText.Draw(t, "text"))
	case 4:
		return rapid.SampledFrom(references).Draw(t, "reference")
	case 5:
		return lumigl.ListOf(anyValue(t, references, depth-1), anyValue(t, references, depth-1))
	case 6:
		return secretOf(lumigl.ListOf(lumigl.TextOf(plain), anyValue(t, references, 0)))
	default:
		return anyObject(t, references, depth-1)
	}
}

func anyObject(t *rapid.T, references []lumigl.Value, depth int) lumigl.Value {
	var members []lumigl.Member
	for _, key := range rapid.SliceOfNDistinct(anyText, 0, 3, rapid.ID).Draw(t, "keys") {
		members = append(members, field(key, anyValue(t, references, depth)))
	}
	return object(members...)
}

// anyResource draws a resource that refers to resources with smaller numbers, which may not exist.
func anyResource(t *rapid.T, module string, n int, d graph.Deployment, id string) *graph.Resource {
	references := []lumigl.Value{refTo(urnOf("b", 7), "provides")}
	for i := range n {
		references = append(references, refTo(urnOf(module, i), ""), refTo(urnOf(module, i), "arn"))
	}
	r := &graph.Resource{
		URN: urnOf(module, n), Deployment: d, ID: id, Label: anyText.Draw(t, "label"), Seed: []byte{byte(d)}, Source: anyText.Draw(t, "source"),
		Inputs: anyObject(t, references, 2), Outputs: anyObject(t, references, 2), Metadata: anyObject(t, references, 1),
	}
	r.Checked = r.Inputs
	if rapid.Bool().Draw(t, "protected") {
		r.Options = object(field("protect", lumigl.BoolOf(true)))
	}
	return r
}

var number = graph.Type{Form: lumigl.TextOf("any")}

func nextGraph(t *rapid.T, g *graph.Graph, d graph.Deployment) *graph.Graph {
	module := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "module")
	id := graph.VersionID{Module: module, Deployment: d}
	newest := g.Newest(module)
	if newest == nil {
		newest = graph.NewVersion(graph.VersionID{Module: module}, nil)
	}
	update := graph.Update{Became: map[*graph.Resource]*graph.Resource{}, Interrupt: []string{"a", "b"}}
	var resources []*graph.Resource
	var results []graph.Result
	for n := range 3 {
		held := newest.Resource(urnOf(module, n))
		switch now := anyResource(t, module, n, d, fmt.Sprint("id", d)); rapid.IntRange(0, 3).Draw(t, "becomes") {
		case 0:
			if held != nil {
				resources = append(resources, held)
			}
		case 1:
			if held != nil {
				now.ID = held.ID
				update.Became[held] = now
			}
			resources, results = append(resources, now), append(results, graph.Result{Old: held, New: now})
		case 2:
			resources, results = append(resources, now), append(results, graph.Result{New: now})
		}
	}
	switch rapid.IntRange(0, 6).Draw(t, "happens") {
	case 0:
		return g.Overlay(id, lumigl.Value{}, results)
	case 1:
		again := anyResource(t, module, 1, d, "again")
		return g.Overlay(id, lumigl.Value{}, []graph.Result{{New: anyResource(t, module, 1, d, "first")}, {New: again}})
	case 2:
		return g.Leave(module, graph.Pending{
			Resource: anyResource(t, module, 4, d, "left"), Configuration: anyObject(t, []lumigl.Value{lumigl.NullValue()}, 1),
		})
	case 3:
		return g.Cleanup(module).Graph
	case 4:
		if done, err := g.Destroy(module); err == nil {
			return done.Graph
		}
		return g
	}
	update.Version = graph.NewVersion(id, resources)
	update.Version.Configuration = anyObject(t, []lumigl.Value{lumigl.NullValue()}, 2)
	update.Version.Config = anyObject(t, []lumigl.Value{lumigl.NullValue()}, 2)
	value := anyValue(t, []lumigl.Value{refTo(urnOf(module, 1), "arn")}, 2)
	update.Version.Provides = []graph.Provided{{Name: "foo", Type: number, Value: value, Result: value}}
	if module == "b" && rapid.Bool().Draw(t, "uses") {
		update.Version.Uses = []graph.Edge{{Constraint: graph.Constraint{Module: "a", Name: "foo", Type: number}}}
	}
	done, err := g.Deploy(update)
	if err != nil {
		return g
	}
	return done.Graph
}
