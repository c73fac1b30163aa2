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
	for name, read := range map[string]*pulumirpc.ReadRequest{
		"import": {Urn: boxURN, Id: id},
		"get":    {Urn: boxURN, Id: id, Properties: object(t, `{"code": "z"}`), Inputs: object(t, `{"code": "z"}`)},
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

// TestUpgrade passes a state with a former name.
func TestUpgrade(t *testing.T) {
	p := startTraps(t, traps.NewCloud())
	inputs, outputs, id := p.made(`{"label": "x", "code": "a"}`)
	former := func(json string) *pulumirpc.ReadRequest {
		olds, news := without(outputs, "code"), without(inputs, "code")
		olds.Fields["cipher"], news.Fields["cipher"] = object(t, json).GetFields()["code"], object(t, json).GetFields()["code"]
		return &pulumirpc.ReadRequest{Urn: "urn:pulumi:prod::Shop::acme-traps:index:Box::b", Id: id, Properties: olds, Inputs: news}
	}
	expect.Equal(t, "DIFF_NONE", p.diff(id, former(`{"code": "a"}`).GetProperties(), inputs).GetChanges().String())
	resp := must.Get(p.Read(t.Context(), former(`{"code": "a"}`)))(t)
	expect.Equal(t, outputs.AsMap(), resp.GetProperties().AsMap())
	expect.Equal(t, inputs.AsMap(), resp.GetInputs().AsMap())
}
