package pulumiserve

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/lumi-idl/lumi/adapter/pulumi/internal/traps"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestLife(t *testing.T) {
	p := startTraps(t, traps.NewCloud())
	lid := p.check(lidURN, `{"color": "red", "__defaults": []}`, nil)
	same(t, `{"color": "red", "name": "cover"}`, without(lid, seedName)) // the name of the URN
	lidID := p.create(lidURN, lid).GetId()
	expect.Equal(t, "lid-cover", lidID)

	inputs, outputs, id := p.made(`{"label": "x", "code": "Ab", "password": {"$sig": "$secret", "value": "pass"}, "lid": "lid-cover",
		"parts": {"a": [{"name": "n", "__defaults": [], "inner": {"name": "m", "key": "k"}}]}}`)
	same(t, `{"label": "x", "code": "Ab", "password": {"$sig": "$secret", "value": "pass"}, "lid": "lid-cover", "size": 7,
		"parts": {"a": [{"name": "n", "inner": {"name": "m", "key": {"$sig": "$secret", "value": "k"}}}]}, "serial": "serial of box-1",
		"token": {"$sig": "$secret", "value": "token of box-1"}, "count": 1, "owner": "north", "keeper": "lid-cover"}`, outputs)

	again := p.check(boxURN, `{"label": "x", "code": "aB", "password": "pass", "lid": "lid-cover",
		"parts": {"a": [{"name": "n", "inner": {"name": "m", "key": "k"}}]}}`, inputs)
	expect.Equal(t, "DIFF_NONE", p.diff(id, outputs, again).GetChanges().String())

	again = p.check(boxURN, `{"label": "x", "code": "aB", "password": "other", "lid": "lid-cover", "extra": {"a": [null]}}`, inputs)
	diff := p.diff(id, outputs, again)
	expect.Equal(t, "DIFF_SOME", diff.GetChanges().String())
	expect.Equal(t, map[string]string{"extra": "ADD", "parts": "DELETE", "password": "UPDATE"}, kinds(diff))
	expect.Equal(t, []string{"serial"}, diff.GetStables())

	update := &pulumirpc.UpdateRequest{Urn: boxURN, Id: id, Olds: outputs, OldInputs: inputs, News: again, Preview: true}
	planned := must.Get(p.Update(t.Context(), update))(t).GetProperties()
	same(t, `{"label": "x", "code": "Ab", "password": {"$sig": "$secret", "value": "other"}, "lid": "lid-cover", "size": 7,
		"extra": {"a": [null]}, "serial": "serial of box-1", "token": {"$sig": "$secret", "value": "$unknown"}, "count": "$unknown",
		"owner": "$unknown", "keeper": "$unknown"}`, planned)
	update.Preview = false
	outputs = must.Get(p.Update(t.Context(), update))(t).GetProperties()
	same(t, `{"label": "x", "code": "Ab", "password": {"$sig": "$secret", "value": "other"}, "lid": "lid-cover", "size": 7,
		"extra": {"a": [null]}, "serial": "serial of box-1", "token": {"$sig": "$secret", "value": "token of box-1"}, "count": 0,
		"owner": "north", "keeper": "lid-cover"}`, outputs)
	expect.Equal(t, "DIFF_NONE", p.diff(id, outputs, again).GetChanges().String())

	must.Get(p.Delete(t.Context(), &pulumirpc.DeleteRequest{Urn: boxURN, Id: id, Properties: outputs, OldInputs: again}))(t)
	read := must.Get(p.Read(t.Context(), &pulumirpc.ReadRequest{Urn: boxURN, Id: id, Properties: outputs, Inputs: again}))(t)
	expect.Equal(t, "", read.GetId())
}

// kinds returns the kinds of changes by path.
func kinds(d *pulumirpc.DiffResponse) map[string]string {
	all := map[string]string{}
	for path, p := range d.GetDetailedDiff() {
		all[path] = p.GetKind().String()
	}
	return all
}
