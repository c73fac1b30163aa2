package pulumiserve

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/lumi-idl/lumi/adapter/pulumi/internal/traps"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// TestValues sends properties to Check and compares what it returns.
func TestValues(t *testing.T) {
	p := startTraps(t, traps.NewCloud())
	const near = `{"type": "other:net:Thing", "id": "t"}`
	for _, test := range []struct{ name, sent, back string }{
		{"a bool", `{"extra": "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7"}`, `{"extra": "$unknown"}`},
		{"a number", `{"size": "3eeb2bf0-c639-47a8-9e75-3b44932eb421"}`, `{"size": "$unknown"}`},
		{"a string", `{"code": "$unknown"}`, `{"code": "$unknown"}`},
		{"a list", `{"parts": {"a": "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2"}}`, `{"parts": {"a": "$unknown"}}`},
		{"an asset", `{"script": "030794c1-ac77-496b-92df-f27374a8bd58"}`, `{"script": "$unknown"}`},
		{"an archive", `{"files": "e48ece36-62e2-4504-bad9-02848725956a"}`, `{"files": "$unknown"}`},
		{"an object", `{"shape": "dd056dcd-154b-4c76-9bd3-c8f88648b5ff"}`, `{"shape": "$unknown"}`},
		{"in a list", `{"parts": {"a": [{"name": "$unknown"}]}}`, `{"parts": {"a": [{"name": "$unknown"}]}}`},

		{"a secret", `{"code": {"$sig": "$secret", "value": "x"}}`, `{"code": {"$sig": "$secret", "value": "x"}}`},
		{"a secret unknown", `{"size": {"$sig": "$secret", "value": "3eeb2bf0-c639-47a8-9e75-3b44932eb421"}}`,
			`{"size": {"$sig": "$secret", "value": "$unknown"}}`},
		{"an output", `{"code": {"$sig": "$output", "value": "x", "dependencies": ["urn:pulumi:a::b::c::d"]}}`, `{"code": "x"}`},
		{"a secret output", `{"code": {"$sig": "$output", "value": "x", "secret": true}}`, `{"code": {"$sig": "$secret", "value": "x"}}`},
		{"an unknown output", `{"code": {"$sig": "$output", "secret": true}}`, `{"code": {"$sig": "$secret", "value": "$unknown"}}`},
		{"a secret part", `{"parts": {"a": [{"name": "n", "key": "k"}]}}`,
			`{"parts": {"a": [{"name": "n", "key": {"$sig": "$secret", "value": "k"}}]}}`},
		{"a variant", `{"shape": {"round": {"radius": 1}, "__defaults": []}}`, `{"shape": {"round": {"radius": 1}}}`},
		{"any", `{"extra": {"a": [1, null, {"__x": true}]}}`, `{"extra": {"a": [1, null, {"__x": true}]}}`},

		{"an id", `{"lid": "l", "lids": ["l", "$unknown"]}`, `{"lid": "l", "lids": ["l", "$unknown"]}`},
		{"a secret id", `{"lid": {"$sig": "$secret", "value": "l"}}`, `{"lid": {"$sig": "$secret", "value": "l"}}`},
		{"a resource", `{"lid": {"$sig": "$resource", "urn": "` + lidURN + `", "id": "l"}}`, `{"lid": "l"}`},
		{"a resource instead of an id", `{"extra": {"$sig": "$resource", "urn": "` + lidURN + `", "id": "l"}}`, `{"extra": "l"}`},
		{"a planned resource", `{"lid": {"$sig": "$resource", "urn": "` + lidURN + `", "id": ""}}`, `{"lid": "$unknown"}`},
		{"a resource with an unknown id", `{"lid": {"$sig": "$resource", "urn": "` + lidURN + `", "id": "$unknown"}}`, `{"lid": "$unknown"}`},
		{"any resource", `{"near": {"$sig": "$resource", "urn": "` + lidURN + `", "id": "l"}}`,
			`{"near": {"type": "acme_traps:index:Lid", "id": "l"}}`},
		{"a type and an id", `{"near": ` + near + `}`, `{"near": ` + near + `}`},
		{"a type and an unknown id", `{"near": {"type": "a:b:C", "id": "$unknown"}}`, `{"near": "$unknown"}`},
		{"a type and a secret id", `{"near": {"type": "a:b:C", "id": {"$sig": "$secret", "value": "c"}}}`,
			`{"near": {"$sig": "$secret", "value": {"type": "a:b:C", "id": "c"}}}`},
		{"one of two resources", `{"closer": {"type": "acme_traps:index:Box", "id": "b"}}`,
			`{"closer": {"type": "acme_traps:index:Box", "id": "b"}}`},

		{"a text", `{"script": {"$sig": "$asset", "text": "a", "hash": "of the engine"}}`,
			`{"script": {"$sig": "$asset", "text": "a", "hash": "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"}}`},
		{"an empty text", `{"script": {"$sig": "$asset", "hash": "of the engine"}}`,
			`{"script": {"$sig": "$asset", "hash": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}}`},
		{"a URI", `{"script": {"$sig": "$asset", "uri": "http://a/b", "hash": "of the engine"}}`,
			`{"script": {"$sig": "$asset", "uri": "http://a/b", "hash": "7073dd9c3e46dfdcecf4de38d915f0024ae25be04a1a8a176ee5d3d48b27a706"}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			req := &pulumirpc.CheckRequest{Urn: boxURN, News: object(t, test.sent)}
			resp := must.Get(p.Check(t.Context(), req))(t)
			expect.Equal(t, 0, len(resp.GetFailures()), resp.GetFailures())
			same(t, test.back, without(resp.GetInputs(), seedName, "label"))
		})
	}
}

func TestFaults(t *testing.T) {
	p := startTraps(t, traps.NewCloud())
	for _, test := range []struct{ sent, property, reason string }{
		{`{"size": "x"}`, "size", `expected a whole number, found a string "x"`},
		{`{"parts": {"a b": [{"name": 1}]}}`, `parts["a b"][0].name`, "expected a string, found a number 1"},
		{`{"cod": "x"}`, "cod", `no such property; did you mean "code"?`},
		{`{"password": 12345}`, "", "password: expected a string, found a number"},
		{`{"shape": {"round": {"radius": 1}, "square": {"side": 1}}}`, "", "shape: exactly one of round, square is required, found round, square"},
		{`{"lid": ""}`, "lid", `expected a resource of type acme/traps:index:Lid, found a string ""`},
		{`{"lid": {"$sig": "$resource", "urn": "` + boxURN + `", "id": "b"}}`, "lid",
			`expected a resource of type acme/traps:index:Lid, found a resource acme/traps:index:Box "b"`},
		{`{"script": {"$sig": "$asset", "path": "missing"}}`, "script", `"missing": no such file in "` + must.Get(os.Getwd())(t) + `"`},
	} {
		req := &pulumirpc.CheckRequest{Urn: boxURN, News: object(t, test.sent)}
		for _, f := range must.Get(p.Check(t.Context(), req))(t).GetFailures() {
			expect.Equal(t, test.property+"|"+test.reason, f.GetProperty()+"|"+f.GetReason())
		}
	}
}

func TestContent(t *testing.T) {
	c := traps.NewCloud()
	p := startTraps(t, c)
	file := filepath.Join(t.TempDir(), "a")
	must.Do(t, os.WriteFile(file, []byte("1"), 0o600))
	script := `{"label": "x", "script": {"$sig": "$asset", "path": "` + file + `", "hash": "?"}}`
	inputs, outputs, id := p.made(script)
	expect.Equal(t, "DIFF_NONE", p.diff(id, outputs, p.check(boxURN, script, inputs)).GetChanges().String())

	must.Do(t, os.WriteFile(file, []byte("2"), 0o600))
	again := p.check(boxURN, script, inputs)
	expect.Equal(t, map[string]string{"script": "UPDATE"}, kinds(p.diff(id, outputs, again)))
	update := &pulumirpc.UpdateRequest{Urn: boxURN, Id: id, Olds: elided(outputs), OldInputs: elided(inputs), News: again}
	updated := must.Get(p.Update(t.Context(), update))(t).GetProperties()
	expect.Equal(t, again.GetFields()["script"].String(), updated.GetFields()["script"].String())

	// A text with the same content is no change, and a property next to it is updated without a new script.
	same := p.check(boxURN, `{"label": "x", "code": "c", "script": {"$sig": "$asset", "text": "2"}}`, again)
	expect.Equal(t, map[string]string{"code": "ADD"}, kinds(p.diff(id, updated, same)))
	update = &pulumirpc.UpdateRequest{Urn: boxURN, Id: id, Olds: elided(updated), OldInputs: elided(again), News: same}
	updated = must.Get(p.Update(t.Context(), update))(t).GetProperties()
	expect.Equal(t, same.GetFields()["script"].String(), updated.GetFields()["script"].String())

	expect.Equal(t, "+ code: \"c\"\n", c.Changes)

	read := &pulumirpc.ReadRequest{Urn: boxURN, Id: id, Properties: elided(updated), Inputs: elided(same)}
	resp := must.Get(p.Read(t.Context(), read))(t)
	expect.Equal(t, elided(updated).GetFields()["script"].String(), resp.GetProperties().GetFields()["script"].String())
	expect.Equal(t, elided(same).GetFields()["script"].String(), resp.GetInputs().GetFields()["script"].String())

	archive := p.check(boxURN, `{"label": "x", "files": {"$sig": "$archive", "assets": {
		"a": {"$sig": "$asset", "text": "1"}, "b": {"$sig": "$asset", "uri": "http://a/b"}}}}`, same)
	diff := p.diff(id, without(updated, "script", "code"), archive)
	expect.Equal(t, map[string]string{"files": "ADD_REPLACE"}, kinds(diff))
	expect.Equal(t, []string{"files"}, diff.GetReplaces())
	expect.Equal(t, true, diff.GetDeleteBeforeReplace())
}
