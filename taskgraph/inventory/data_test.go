package inventory_test

import (
	"encoding/json"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/test/kit/expect"
)

// data returns the data of an environment that contains the node web.
func data(t *testing.T) (*inventory.Data, *inventory.Node) {
	t.Helper()
	d := &inventory.Data{
		Environment: "prod", Type: "upgrade", Event: "deploy_changes", Snapshot: snapshot(t),
		Inventory: &inventory.Inventory{
			Parameters: map[string]any{"size": json.Number("1"), "zone": "eu", "db": map[string]any{"port": json.Number("5432")}},
			Nodes: []inventory.Node{{
				Name: "web", Address: "10.0.0.1", Roles: []string{"web", "app"}, Parameters: map[string]any{"size": json.Number("3")},
			}},
		},
	}
	return d, &d.Inventory.Nodes[0]
}

func TestCondition(t *testing.T) {
	t.Parallel()
	d, web := data(t)
	for expression, want := range map[string]string{
		"$.node.name = web and web in $.node.roles":                  "true",
		"$.node.address = '10.0.0.1' and $.node.parameters.size = 3": "true",
		"$.parameters.size = 3 and $.parameters.zone = eu":           "true",
		"$.env.name = prod and $.env.parameters.size = 1":            "true",
		"$.event = deploy_changes and $.type = upgrade":              "true",
		"$.env.outputs.get('net/core').zone = 'eu-2'":                "false",
		"not $.env.outputs.get('net/core').containsKey('?model')":    "true",
		"$.env.outputs.containsKey(shop)":                            "false",
		"$.node = null":                                              "false",
		// Parameters are keys of $, and all nodes are known.
		"$.size = 3 and $.zone = eu and $.db.port = 5432":                "true",
		"$.uid = web and app in $.roles":                                 "true",
		"$.nodes.web = $.node and $.nodes.values().uid.toList() = [web]": "true",
		// The form of Fuel.
		"settings:size == 3 and not (cluster:zone == 'us')": "true",
		"'app' in node:roles and env:name == 'prod'":        "true",
		"db:port != 5432":       "false",
		"settings:db.ports==1":  "1:1: settings:db.ports does not exist: no ports in settings:db",
		"env:outputs.shop == 1": "1:1: env:outputs.shop does not exist: no shop in env:outputs",
		"env:outputs == 1":      "1:1: env.outputs.net/core.token is a secret",
		"settings:size ==":      "1:17: unexpected end of condition",
		// Expressions with errors.
		"$.env.outputs.get('net/core').token = hunter2": "1:37: env.outputs.net/core.token is a secret",
		"$.env.outputs.get('net/core').token":           "env.outputs.net/core.token is a secret",
		"$.parameters.size":                             "a condition must be true or false, such as $.parameters.size = 3",
		"$.parameters.sise = 3":                         `1:13: missing key "sise"`,
		"$.":                                            "1:3: unexpected end of expression",
	} {
		for range 2 { // the second time, everything is cached
			expect.Equal(t, want, outcome(d.Condition(t.Context(), expression, web)), expression)
		}
	}
	for expression, want := range map[string]string{
		"$.node = null and $.parameters.size = 1": "true",
		"$.node.name = web":                       `1:7: null has no property "name"`,
		"$.uid = null and $.roles = []":           "true",
		"node:name == 'web'":                      "1:1: node:name does not exist: no name in node",
	} {
		expect.Equal(t, want, outcome(d.Condition(t.Context(), expression, nil)), expression)
	}
	d.Inventory.Parameters["settings"] = map[string]any{"ha": true}
	d.Inventory.Parameters["node"] = "hidden by the node"
	d = &inventory.Data{Inventory: d.Inventory}
	expect.Equal(t, "true", outcome(d.Condition(t.Context(), "settings:ha and cluster:settings.ha and node:uid == 'web'", web)), "settings")
	d = &inventory.Data{Inventory: &inventory.Inventory{}}
	if got := outcome(d.Condition(t.Context(), "$.env = {name => '', parameters => {}, outputs => {}} and $.parameters = {}", nil)); got != "true" {
		t.Errorf("Condition without data = %s, want true", got)
	}
	d = &inventory.Data{Inventory: &inventory.Inventory{Parameters: map[string]any{"n": json.Number("1e999")}}}
	for range 2 {
		if got := outcome(d.Condition(t.Context(), "true", nil)); got != `invalid number "1e999"` {
			t.Errorf("Condition with an invalid number = %s, want an error", got)
		}
	}
}

func outcome(holds bool, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case holds:
		return "true"
	}
	return "false"
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	d, web := data(t)
	other := inventory.Node{Name: "other"}
	size := d.Refresh([]string{"size"}, web)
	if len(size) != 24 || d.Refresh(nil, web) != "" {
		t.Errorf("Refresh = %q, want 24 characters and \"\" for no paths", size)
	}
	for name, digest := range map[string]string{
		"environment's":   d.Refresh([]string{"size"}, &other),
		"stage":           d.Refresh([]string{"zone"}, nil),
		"other path":      d.Refresh([]string{"zone"}, web),
		"two paths":       d.Refresh([]string{"size", "zone"}, web),
		"absent":          d.Refresh([]string{"none"}, web),
		"absent below":    d.Refresh([]string{"size.none"}, web),
		"absent resource": d.Refresh([]string{"urn:lumi:prod::shop:index::aws:ec2:VPC::none"}, web),
	} {
		if digest == size || len(digest) != 24 {
			t.Errorf("%s: Refresh = %s, want a digest other than %s", name, digest, size)
		}
	}
	// change reports whether a change affects the digest for a path.
	change := func(path string, change func()) bool {
		before := d.Refresh([]string{path}, web)
		change()
		return d.Refresh([]string{path}, web) != before
	}
	if !change("db.port", func() { d.Inventory.Parameters["db"] = map[string]any{"port": json.Number("5433")} }) {
		t.Error("Refresh did not change with db.port")
	}
	if !change("none", func() { d.Inventory.Parameters["none"] = nil }) {
		t.Error("Refresh returned the same digest for null and a missing value")
	}
	db := d.Snapshot.Vertex(urnOf + "db")
	set := func(key string, v lumigl.Value) func() {
		return func() { db.Properties = db.Properties.With(key, v) }
	}
	password := db.Properties.Get("password")
	if change(db.Key(), set("password", password.With("value", lumigl.TextOf("other")))) {
		t.Error("Refresh changed with a secret")
	}
	if change(db.Key(), func() {
		db.Properties = db.Properties.With("encrypted", lumigl.Value{}).With("encrypted", lumigl.BoolOf(true))
	}) {
		t.Error("Refresh changed with the order of properties")
	}
	if !change(db.Key(), set("encrypted", lumigl.BoolOf(false))) {
		t.Error("Refresh did not change with a property")
	}
	if !change(db.Key(), func() { db.ID = "i-3" }) {
		t.Error("Refresh did not change with the replacement of a resource")
	}
	if !change(db.Key(), func() { d.Snapshot = nil }) {
		t.Error("Refresh did not change with the deletion of a resource")
	}
}
