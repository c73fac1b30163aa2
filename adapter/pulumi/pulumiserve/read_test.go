package pulumiserve

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/lumi-idl/lumi/adapter/pulumi/internal/traps"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestRefresh(t *testing.T) {
	c := traps.NewCloud()
	p := startTraps(t, c)
	inputs, outputs, id := p.made(`{"label": "x", "code": "a", "password": "pass"}`)
	read := &pulumirpc.ReadRequest{Urn: boxURN, Id: id, Properties: outputs, Inputs: inputs}
	resp := must.Get(p.Read(t.Context(), read))(t)
	expect.Equal(t, outputs.AsMap(), resp.GetProperties().AsMap())
	expect.Equal(t, inputs.AsMap(), resp.GetInputs().AsMap())

	c.Drift(id, "A", 9) // The code differs only in notation.
	resp = must.Get(p.Read(t.Context(), read))(t)
	same(t, `{"label": "x", "code": "a", "password": {"$sig": "$secret", "value": "pass"}, "size": 9, "shape": {"round": {"radius": 9}},
		"serial": "serial of box-1", "token": {"$sig": "$secret", "value": "token of box-1"}, "count": 0, "owner": "north",
		"keeper": "none"}`, resp.GetProperties())
	same(t, `{"label": "x", "code": "a", "password": {"$sig": "$secret", "value": "pass"}, "shape": {"round": {"radius": 9}}}`,
		without(resp.GetInputs(), seedName))
	expect.Equal(t, inputs.GetFields()[seedName].String(), resp.GetInputs().GetFields()[seedName].String())
	expect.Equal(t, map[string]string{"shape": "DELETE"}, kinds(p.diff(id, resp.GetProperties(), inputs)))

	c.Lose(id)
	expect.Equal(t, "", must.Get(p.Read(t.Context(), read))(t).GetId())
}

func TestImport(t *testing.T) {
	c := traps.NewCloud()
	p := startTraps(t, c)
	_, outputs, id := p.made(`{"label": "x", "code": "a", "password": "pass", "size": 3}`)
	const given = `{"script": {"$sig": "$asset", "text": "a"}}`
	for name, read := range map[string]*pulumirpc.ReadRequest{
		"import": {Urn: boxURN, Id: id},
		"get":    {Urn: boxURN, Id: id, Properties: object(t, given), Inputs: object(t, given)},
	} {
		resp := must.Get(p.Read(t.Context(), read))(t)
		expect.Equal(t, id, resp.GetId(), name)
		expect.Equal(t, without(outputs, "password").AsMap(), resp.GetProperties().AsMap(), name)
		same(t, `{"label": "x", "code": "a"}`, without(resp.GetInputs(), seedName))
		again := p.check(boxURN, `{"label": "x", "code": "a"}`, resp.GetInputs())
		expect.Equal(t, resp.GetInputs().AsMap(), again.AsMap(), name)
		expect.Equal(t, "DIFF_NONE", p.diff(id, resp.GetProperties(), again).GetChanges().String(), name)
	}
	c.Lose(id)
	expect.Equal(t, "", must.Get(p.Read(t.Context(), &pulumirpc.ReadRequest{Urn: boxURN, Id: id}))(t).GetId())
}

// TestUpgrade passes a state with former names.
func TestUpgrade(t *testing.T) {
	p := startTraps(t, traps.NewCloud())
	p.create(lidURN, p.check(lidURN, `{}`, nil))
	inputs, outputs, id := p.made(`{"label": "x", "code": "a", "lid": "lid-cover"}`)
	olds, news := without(outputs, "code", "lid"), without(inputs, "code", "lid")
	for now, was := range map[string]string{"code": "cipher", "lid": "cover"} {
		olds.Fields[was], news.Fields[was] = outputs.GetFields()[now], inputs.GetFields()[now]
	}
	expect.Equal(t, map[string]string{}, kinds(p.diff(id, olds, inputs)))
	resp := must.Get(p.Read(t.Context(), &pulumirpc.ReadRequest{Urn: boxURN, Id: id, Properties: olds, Inputs: news}))(t)
	expect.Equal(t, outputs.AsMap(), resp.GetProperties().AsMap())
	expect.Equal(t, inputs.AsMap(), resp.GetInputs().AsMap())
}

// TestReferences refers to a lid that is updated and deleted.
func TestReferences(t *testing.T) {
	p := startTraps(t, traps.NewCloud())
	owner := func() string {
		_, outputs, _ := p.made(`{"label": "x", "lid": "lid-cover"}`)
		return outputs.GetFields()["owner"].GetStringValue()
	}
	red, blue := p.check(lidURN, `{"color": "red"}`, nil), p.check(lidURN, `{"color": "blue"}`, nil)
	lid := p.create(lidURN, red)
	expect.Equal(t, "north", owner())
	update := &pulumirpc.UpdateRequest{Urn: lidURN, Id: lid.GetId(), Olds: lid.GetProperties(), OldInputs: red, News: blue}
	updated := must.Get(p.Update(t.Context(), update))(t).GetProperties()
	expect.Equal(t, "blue", owner())
	inputs, outputs, id := p.made(`{"label": "x", "lid": "lid-cover"}`)
	read := &pulumirpc.ReadRequest{Urn: boxURN, Id: id, Properties: without(outputs, "lid", "keeper"), Inputs: inputs}
	expect.Equal(t, "lid-cover", must.Get(p.Read(t.Context(), read))(t).GetProperties().GetFields()["lid"].GetStringValue())
	must.Get(p.Delete(t.Context(), &pulumirpc.DeleteRequest{Urn: lidURN, Id: lid.GetId(), Properties: updated}))(t)
	expect.Equal(t, "north", owner())
}
