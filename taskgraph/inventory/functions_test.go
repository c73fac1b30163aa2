package inventory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func load(t *testing.T, src string) inventory.Inventory {
	t.Helper()
	return *must.Get(inventory.Load(src, "inventory.yaml", nil))(t)
}

const beforeYAML = `
parameters: {version: 1, ratio: 1.0, pools: [a, b], ports: {http: 80, ftp: 21}, gone: true, same: {x: [1, {y: null}]}}
nodes: {web: {address: h, roles: [web]}, db: {address: h, roles: [db]}}
`

const nowYAML = `
parameters: {version: 2, ratio: 1, pools: [b, c], ports: {http: 8080, ssh: 22}, fresh: true, same: {x: [1, {y: null}]}}
nodes: {web: {address: h, roles: [web], parameters: {size: 3}}, db: {address: h, roles: [db]}, new: {address: h, roles: [web]}}
`

// history returns data whose last successful run had other values.
func history(t *testing.T) *inventory.Data {
	t.Helper()
	now, before := load(t, nowYAML), load(t, beforeYAML)
	d := &inventory.Data{
		Environment: "prod", Type: "upgrade", Event: "e", Inventory: &now, Snapshot: snapshot(t),
	}
	outputs := must.Get((&inventory.Data{Inventory: &before, Snapshot: d.Snapshot}).Known())(t)
	expect.Equal(t, `{"net/core": {"zone": "eu-1"}}`, string(outputs), "Known")
	d.History = func(context.Context) ([]inventory.Past, error) {
		return []inventory.Past{{Inventory: before, Outputs: outputs}}, nil
	}
	return d
}

func node(d *inventory.Data, name string) *inventory.Node {
	for i := range d.Inventory.Nodes {
		if d.Inventory.Nodes[i].Name == name {
			return &d.Inventory.Nodes[i]
		}
	}
	return nil
}

func value(t *testing.T, d *inventory.Data, expression, on string) string {
	t.Helper()
	v, err := d.Evaluate(t.Context(), expression, node(d, on))
	if err != nil {
		return err.Error()
	}
	return string(must.Get(json.Marshal(v))(t))
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	d := history(t)
	for expression, want := range map[string]string{
		"new($.version)":                   "2",
		"old($.version)":                   "1",
		"[$.version, old($.version)]":      "[2,1]",
		"changed($.version)":               "true",
		"changed($.same)":                  "false",
		"changed($.ratio)":                 "false",
		"changed($.pools.select($ + '!'))": "true",
		"changed($.same.x.select($))":      "false",
		"changed($.uid)":                   "false",
		"changed($)":                       "true",
		"changed($.env.outputs)":           "false", // apart from secrets, which are ignored
		"changed($.fresh)":                 "true",
		"changed(old($.version))":          "false",
		"changedAny($.same, $.version)":    "true",
		"changedAny($.same, $.uid)":        "false",
		"changedAny()":                     "false",
		"changedAll($.same, $.version)":    "false",
		"changedAll($.pools, $.version)":   "true",
		"changedAll()":                     "true",
		"added($.pools)":                   `["c"]`,
		"deleted($.pools)":                 `["a"]`,
		"added($.pools.toSet())":           `["c"]`,
		"deleted($.pools.toSet())":         `["a"]`,
		"added($.ports)":                   `{"ssh":22}`,
		"deleted($.ports)":                 `{"ftp":21}`,
		"added($.pools.where($ != c))":     "[]",
		"added($.version)":                 "2",
		"added($.uid)":                     "null",
		"deleted($.version)":               "1",
		"added($.fresh)":                   "true",
		"deleted($.fresh)":                 "[]",
		"added(switch(isUndef(old($.fresh)) => $.pools, true => $.ports))": `["c"]`,
		"changed($.env.outputs.get('net/core').keys())":                    "false",
		"changed([1] + $.env.outputs.values().select($.len()))":            "false",
		"added($.env.outputs.get('net/core').keys().toList())":             "[]",
		"added($.nodes).keys().toList()":                                   `["new"]`,
		"deleted($.nodes)":                                                 "{}",
		"$.uid in added($.nodes.values()).uid":                             "true",
		"isUndef(old($.fresh))":                                            "true",
		"isUndef(old($.gone))":                                             "false",
		"isUndef(null)":                                                    "false",
		"old($.gone) and not $.containsKey(gone)":                          "true",
		"$.pools.where(changed($))":                                        `["b","c"]`, // in a lambda of changed, $ is all data
		"$.ports.toJson()":                                                 `"{\"http\": 8080, \"ssh\": 22}"`,
		"$.same.toYaml()":                                                  `"x:\n  - 1\n  - \"y\": null\n"`,
		"[].toYaml() + 'no'.toYaml() + ''.toJson()":                        `"[]\n\"no\"\n\"\""`,
		"$.pools.select($ + '!').toJson()":                                 `"[\"b!\", \"c!\"]"`,
		// Errors.
		"old($.fresh)":    "undefined value cannot be written as JSON",
		"new($.gone)":     `1:6: missing key "gone"`,
		"changed($.gone)": `1:10: missing key "gone"`,
		"old($.fresh).x":  `1:13: undefined value has no property "x"`,
		"changed($.env.outputs.get('net/core').token)": "1:1: env.outputs.net/core.token is a secret",
		"$.toJson()":                             "1:3: env.outputs.net/core.token is a secret",
		"$.env.toYaml()":                         "1:7: env.outputs.net/core.token is a secret",
		"$.env.outputs":                          "env.outputs.net/core.token is a secret",
		"$.":                                     "1:3: unexpected end of expression",
		"x * 2000000":                            "the value is larger than 1048576 bytes",
		"$%data":                                 `1:2: unexpected character '%'`,
		"changed(range(0, 1000000000).toList())": "1:30: more than 1000000 items",
		"old(range(0, 1000000000).toList())":     "1:26: more than 1000000 items", // limits are errors on the old data, too
	} {
		expect.Equal(t, want, value(t, d, expression, "web"), expression)
	}
	for expression, want := range map[string]string{
		"$.uid in added($.nodes.values()).uid": "true", "changed($)": "true", "isUndef(old($))": "true", "old(1) = null": "false",
	} {
		expect.Equal(t, want, value(t, d, expression, "new"), expression)
		is, err := d.Condition(t.Context(), expression, node(d, "new"))
		expect.Equal(t, want, outcome(is, err), expression)
	}
	expect.Equal(t, "false", value(t, d, "$.uid in added($.nodes.values()).uid", "db"), "db")
	expect.Equal(t, "1", value(t, d, "old($.version)", ""), "without a node")
}

// Without an earlier run, everything has changed.
func TestWithoutHistory(t *testing.T) {
	t.Parallel()
	for name, earlier := range map[string]func(context.Context) ([]inventory.Past, error){
		"nil": nil, "empty": func(context.Context) ([]inventory.Past, error) { return nil, nil },
	} {
		d := history(t)
		d.History = earlier
		expect.Equal(t, `[true,true,["b","c"],[]]`, value(t, d, "[changed($), isUndef(old($)), added($.pools), deleted($.pools)]", "web"), name)
	}
	d := history(t)
	d.History = func(context.Context) ([]inventory.Past, error) { return nil, errors.New("disk on fire") }
	expect.Equal(t, "1:1: disk on fire", value(t, d, "changed($.version)", "web"), "error")
}

// The old data of a node comes from the last successful run that included it.
func TestPartialHistory(t *testing.T) {
	t.Parallel()
	d := history(t)
	past := func(version, only string) inventory.Past {
		return inventory.Past{Only: strings.Fields(only), Inventory: load(t, strings.Replace(beforeYAML, "version: 1", "version: "+version, 1))}
	}
	d.History = func(context.Context) ([]inventory.Past, error) {
		return []inventory.Past{past("8", "db"), past("9", "web db"), past("7", "")}, nil
	}
	got := value(t, d, "old($.version)", "web") + value(t, d, "old($.version)", "db") + value(t, d, "isUndef(old($.version))", "new") +
		value(t, d, "old($.version)", "")
	expect.Equal(t, "98true8", got, "versions")
}

func TestPlain(t *testing.T) {
	t.Parallel()
	d := history(t)
	all := must.Get(d.Plain(node(d, "web")))(t)
	text := must.Get(json.Marshal([]any{all["uid"], all["size"], all["same"], all["env"]}))(t)
	expect.Equal(t, `["web",3,{"x":[1,{"y":null}]},{"name":"prod","outputs":{"net/core":{"zone":"eu-1"}},"parameters":`+
		`{"fresh":true,"pools":["b","c"],"ports":{"http":8080,"ssh":22},"ratio":1,"same":{"x":[1,{"y":null}]},"version":2}}]`, string(text), "Plain")
	if size, ok := all["size"].(int64); !ok || size != 3 {
		t.Errorf("size = %#v, want an int64", all["size"])
	}
}

// nodes returns an inventory of nodes.
func nodes(names ...string) *inventory.Inventory {
	var all inventory.Inventory
	for _, name := range names {
		all.Nodes = append(all.Nodes, inventory.Node{Name: name})
	}
	return &all
}

// Results are shared only by nodes with the same old data.
func TestSharedResults(t *testing.T) {
	t.Parallel()
	d := &inventory.Data{Inventory: nodes("a", "b", "c", "d"), History: func(context.Context) ([]inventory.Past, error) {
		return []inventory.Past{{Only: []string{"a"}, Inventory: *nodes("a", "b", "x")}, {Inventory: *nodes("a", "b", "c")}}, nil
	}}
	for range 2 {
		for name, want := range map[string]string{
			"a": `[["c","d"],["x"],true]`, "b": `[["d"],[],true]`, "c": `[["d"],[],true]`, "d": `[["a","b","c","d"],[],true]`, "": `[["c","d"],["x"],true]`,
		} {
			expect.Equal(t, want, value(t, d, "[added($.nodes.keys()), deleted($.nodes.keys()), changed($.nodes)]", name), name)
		}
	}
}

// Comparing all nodes for each of them takes linear time.
func TestSharedCost(t *testing.T) {
	var names []string
	for i := range 2000 {
		names = append(names, fmt.Sprint("n", i))
	}
	d := &inventory.Data{Inventory: nodes(names...), History: func(context.Context) ([]inventory.Past, error) {
		return []inventory.Past{{Inventory: *nodes(names[:1999]...)}}, nil
	}}
	at := 0
	allocations := testing.AllocsPerRun(100, func() {
		at++
		if is, err := d.Condition(t.Context(), "$.uid in added($.nodes.values()).uid", &d.Inventory.Nodes[at]); is || err != nil {
			t.Fatal(is, err)
		}
	})
	if allocations > 500 {
		t.Errorf("evaluating a condition for one of 2,000 nodes allocates %v times, want at most 500", allocations)
	}
}
