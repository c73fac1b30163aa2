package render_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/render"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestPathNames(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"a": "a", "z": "z", "A": "A", "Z": "Z", "_": "_", "a0": "a0", "a9": "a9", "a-b": "a-b",
		"": `[""]`, "0a": `["0a"]`, "-a": `["-a"]`, "a.b": `["a.b"]`, "a b": `["a b"]`, "ä": `["ä"]`,
		"a/": `["a/"]`, "a:": `["a:"]`, "`": "[\"`\"]", "{": `["{"]`, "\x7f": `["␡"]`, "\u200d": "[\"\u200d\"]",
		"\ufffe": `["␦"]`, "\ufffd": `["␦"]`, "\u202e": `["␦"]`, "~": `["~"]`,
	} {
		g := &lumigl.Graph{}
		to, _ := g.Add("to")
		v, _ := g.Add("v")
		secret := lumigl.ObjectOf(
			lumigl.Member{Key: wire.Signature, Value: lumigl.TextOf(wire.Secret)},
			lumigl.Member{Key: "value", Value: lumigl.ListOf(lumigl.ReferenceTo(to))})
		v.Properties = lumigl.ObjectOf(lumigl.Member{Key: "secret", Value: secret},
			lumigl.Member{Key: key, Value: lumigl.ObjectOf(lumigl.Member{Key: "in", Value: lumigl.ReferenceTo(to)})})
		arrows := render.Summarize(g, render.Options{}).Arrows
		expect.Equal(t, []string{"secret", want + ".in"}, arrows[0].Paths, key)
	}
}

func TestClusters(t *testing.T) {
	t.Parallel()
	const u = "urn:lumi:prod::p:index::"
	doc := must.Get(lumigl.Parse(`{"resources": {
		"` + u + `aws:ec2:VPC::a": {"type": "aws:ec2:VPC", "properties": {}},
		"` + u + `aws:ec2:VPC::b": {"type": "aws:ec2:VPC", "properties": {}},
		"` + u + `aws:iam:Role::c": {"type": "aws:iam:Role", "properties": {}}}}`))(t)
	frame := regexp.MustCompile(`subgraph s\d+\["(.*)"\]`)
	for cluster, want := range map[render.Cluster][]string{
		render.NoCluster: nil, render.ByPackage: {"aws"}, render.ByModule: {"aws:ec2", "aws:iam"},
		render.ByType: {"aws:ec2:VPC", "aws:iam:Role"},
	} {
		var got []string
		for _, found := range frame.FindAllStringSubmatch(drawn(t, "mmd", doc, render.Options{Cluster: cluster}), -1) {
			got = append(got, found[1])
		}
		expect.Equal(t, want, got, cluster)
	}
	// Vertices without a type have no frame.
	graph := drawn(t, "mmd", parse(t, "graph.json"), render.Options{Cluster: render.ByModule})
	if strings.Contains(graph, "subgraph") {
		t.Errorf("vertices without a type are in a frame:\n%s", graph)
	}
}

func TestPageData(t *testing.T) {
	t.Parallel()
	const key = "urn:lumi:prod::p:index::a:b:C::x"
	doc := must.Get(lumigl.Parse(`{"resources": {"` + key + `": {"type": "a:b:C", "properties": {
		"asset": {"` + wire.Signature + `": "` + wire.Asset + `", "path": "p"},
		"archive": {"` + wire.Signature + `": "` + wire.Archive + `", "uri": "u"},
		"object": {"empty": {}, "list": []}}, "extensions": {"e": 1}}},
		"pending": {"deletes": [{"urn": "` + key + `", "type": "a:b:C", "id": "0", "properties": {}}],
			"operations": [{"operation": "create", "urn": "` + key + `", "type": "a:b:C", "properties": {}},
				{"operation": "update", "urn": "` + key + `", "type": "a:b:C", "id": "1", "properties": {}}]}}`))(t)
	data := dataOf(t, drawn(t, "html", doc, render.Options{Cluster: render.ByType}))
	for _, want := range []string{
		`"pending":3,`, `["asset","path","p"]`, `["archive","uri","u"]`, `["object","empty",["object"],"list",["list"]]`,
		`"extensions":["object","e",["number","1"]]`,
	} {
		if !strings.Contains(data, want) {
			t.Errorf("page does not contain %s:\n%s", want, data)
		}
	}
}

func TestProgram(t *testing.T) {
	t.Parallel()
	const u = "urn:lumi:prod::p:index::a:b:C::"
	expression := `{"` + wire.Signature + `": "` + wire.Expression + `", `
	arn := `{"#ref": "` + u + `x", "property": "arn"}`
	doc := must.Get(lumigl.Parse(`{"resources": {
		"` + u + `x": {"type": "a:b:C", "properties": {}},
		"` + u + `y": {"type": "a:b:C", "source": "main.ts:1:2", "options": {"protect": true, "dependsOn": [{"#ref": "` + u + `x"}]}, "properties": {
			"arn": ` + expression + `"interpolate": [` + arn + `, "/*", 1, true, {"` + wire.Signature + `": "` + wire.Secret + `", "value": "hunter2"}]},
			"policy": ` + expression + `"jsonStringify": {"Resource": ` + expression + `"get": ` + arn + `, "path": "[0]"}}},
			"none": ` + expression + `"jsonStringify": null},
			"nested": ` + expression + `"interpolate": ["p=", ` + expression + `"jsonStringify": {"a": ` + arn + `}}]}}}}}`))(t)
	data := dataOf(t, drawn(t, "html", doc, render.Options{}))
	for _, want := range []string{
		`"source":"main.ts:1:2"`, `"options":["object","protect",true,"dependsOn",["list",["ref","` + u + `x",""]]]`,
		`["expression","` + "`${x.arn}/*${1}${true}${(secret)}`" + `"]`, `["jsonStringify","Resource",["expression","x.arn[0]"]]`,
		`["expression","jsonStringify(null)"]`, `["object","interpolate",["list","p=",["jsonStringify","a",["ref",`,
	} {
		if !strings.Contains(data, want) {
			t.Errorf("page does not contain %s:\n%s", want, data)
		}
	}
	if strings.Contains(data, "hunter") {
		t.Error("the page reveals a secret")
	}
	var paths []string
	for _, a := range render.Summarize(doc, render.Options{}).Arrows {
		paths = append(paths, a.Paths...)
	}
	expect.Equal(t, []string{"dependsOn[0]", "arn (arn)", "policy.Resource (arn)"}, paths, "the paths")
}

func TestWriteError(t *testing.T) {
	t.Parallel()
	doc := parse(t, "graph.json")
	for name, err := range map[string]error{
		"DOT": render.DOT(full{}, doc, render.Options{}), "Mermaid": render.Mermaid(full{}, doc, render.Options{}),
		"Page": render.Page(full{}, doc, render.Options{}),
	} {
		if !errors.Is(err, errFull) {
			t.Errorf("%s to a full disk = %v, want %v", name, err, errFull)
		}
	}
}

var errFull = errors.New("the disk is full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestLongNames(t *testing.T) {
	t.Parallel()
	whole := `module.net["` + strings.Repeat("ä", 80) + `"].aws_subnet.this[7]`
	short := `module.net["` + strings.Repeat("ä", 28) + "…" + strings.Repeat("ä", 18) + `"].aws_subnet.this[7]`
	fits := strings.Repeat("ä", 80)
	g := &lumigl.Graph{}
	for _, key := range []string{whole, fits} {
		must.Get(g.Add(key))(t)
	}
	vertices := render.Summarize(g, render.Options{}).Vertices
	if vertices[0].Name != short || vertices[1].Name != fits {
		t.Errorf("names = %q and %q, want %q and %q", vertices[0].Name, vertices[1].Name, short, fits)
	}
	for format, want := range map[string]string{
		"dot": strings.ReplaceAll(short, `"`, `\"`), "mmd": "…" + strings.Repeat("ä", 18), "html": `"name":` + jsonOf(t, whole),
	} {
		if text := drawn(t, format, g, render.Options{}); !strings.Contains(text, want) {
			t.Errorf("output in format %s does not contain %s:\n%s", format, want, text)
		}
	}
}
