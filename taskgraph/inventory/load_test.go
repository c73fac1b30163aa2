package inventory_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/test/kit/must"
)

const urnOf = "urn:lumi:prod::shop:index::aws:ec2:Instance::"

// snapshot returns a state with an output of a module and two instances, web and db. db has secrets.
func snapshot(t testing.TB) *lumigl.Snapshot {
	t.Helper()
	s := must.Get(lumigl.ParseSnapshot(strings.NewReplacer("SECRET", `{"`+wire.Signature+`": "`+wire.Secret+`", "value": "hunter2"}`,
		"UNKNOWN", `"`+wire.Unknown+`"`, "URN:", urnOf).Replace(`{"package": "shop", "resources": {
  "urn:lumi:prod::shop:index::aws:ec2:VPC::main": {"type": "aws:ec2:VPC", "id": "vpc-1", "properties": {"cidr": "10.0.0.0/16"}},
  "URN:web": {"type": "aws:ec2:Instance", "id": "i-1", "properties": {"ip": "10.0.0.1", "port": 2222, "size": 1.50,
    "tags": {"role": "web, app"}, "vpc": {"#ref": "urn:lumi:prod::shop:index::aws:ec2:VPC::main"},
    "cidr": {"#ref": "urn:lumi:prod::shop:index::aws:ec2:VPC::main", "property": "cidr"}}},
  "URN:db": {"type": "aws:ec2:Instance", "id": "i-2", "properties": {"ip": UNKNOWN, "password": SECRET, "tags": {"role": null},
    "disks": [{"key": SECRET}], "encrypted": true, "huge": 1e999}},
  "urn:lumi:prod::net/core:index::lumi:index:Module::core": {"type": "lumi:index:Module", "properties": {"provides": {
    "?model": {"type": "any", "value": {}}, "zone": {"type": "string", "value": "eu-1"}, "token": {"type": "string", "value": SECRET}}}}
}}`)))(t)
	return s
}

func TestLoad(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ src, want string }{
		"empty":         {"", `{"nodes": null}`},
		"empty object":  {"{}", `{"nodes": null}`},
		"empty entries": {"parameters:\nnodes:\nresources:\n", `{"nodes": null}`},
		"nodes": {`
parameters: {version: 1.10, list: [0x1F, True, ~, 2026-01-02, x]}
nodes:
  web-1: {address: 10.0.0.1, port: 2222, user: admin, key: keys/id, roles: "web, app,web", parameters: {size: 12345678901234567890}}
  Db.2: &db {address: db, key: ~/id, roles: [db, web], connection: ssh}
  db_3: {<<: *db, key: /id, roles: }
  4: {connection: local, tags: "db, db-1"}
`, `{"parameters": {"version": 1.10, "list": [31, true, null, "2026-01-02", "x"]}, "nodes": [
  {"name": "4", "local": true, "tags": ["db", "db-1"]},
  {"name": "Db.2", "address": "db", "key": "~/id", "roles": ["db", "web"]},
  {"name": "db_3", "address": "db", "key": "/id"},
  {"name": "web-1", "address": "10.0.0.1", "port": 2222, "user": "admin", "key": "site/keys/id", "roles": ["web", "app"],
    "parameters": {"size": 12345678901234567890}}]}`},
		"JSON": {`{"nodes": {"a": {"address": "a"}}}`, `{"nodes": [{"name": "a", "address": "a"}]}`},
		"resources": {`
resources:
- query: type == "aws:ec2:Instance" && id == "i-1"
  name: $.name + "-1"
  address: $.properties.ip
  port: $.properties.port
  roles: $.properties.tags.role
  parameters: {id: $.id, size: $.properties.size, fixed: 7, deep: [$.properties.vpc.ref, {cidr: $.properties.cidr}]}
- {query: name == "db", name: $.id, connection: local, roles: $.properties.tags.role, parameters: {is: $.properties.encrypted, huge: $.properties.huge}}
- {query: 'type == "none"', name: $.name, address: $.properties.none}
`, `{"nodes": [
  {"name": "i-2", "local": true, "parameters": {"is": true, "huge": null}},
  {"name": "web-1", "address": "10.0.0.1", "port": 2222, "roles": ["web", "app"], "parameters": {
    "id": "i-1", "size": 1.5, "fixed": 7, "deep": ["urn:lumi:prod::shop:index::aws:ec2:VPC::main",
      {"cidr": {"ref": "urn:lumi:prod::shop:index::aws:ec2:VPC::main", "property": "cidr"}}]}}]}`},
		"all of a resource": {`
resources:
- {query: id == "vpc-1", name: net, connection: local, parameters: {all: "$", name: "$.environment + $.pkg + $.module + $.type"}}
`, `{"nodes": [{"name": "net", "local": true, "parameters": {"name": "prodshopindexaws:ec2:VPC", "all": {
  "key": "urn:lumi:prod::shop:index::aws:ec2:VPC::main", "type": "aws:ec2:VPC", "id": "vpc-1", "name": "main", "environment": "prod",
  "pkg": "shop", "module": "index", "properties": {"cidr": "10.0.0.0/16"}}}}]}`},
		"escapes of JSON": {`{"nodes": {"a": {"address": "a", "parameters": {"x": "\/\ud83d\ude00"}}}}`, `{"nodes": [{"name": "a", "address": "a", "parameters": {"x": "/😀"}}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := must.Get(inventory.Load(test.src, "site/inventory.yaml", snapshot(t)))(t)
			text := must.Get(json.Marshal(i))(t)
			if diff := cmp.Diff(decoded(t, test.want), decoded(t, string(text))); diff != "" {
				t.Errorf("Load mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// decoded returns the value of JSON text, in which numbers keep all their digits.
func decoded(t *testing.T, text string) (v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	must.Do(t, d.Decode(&v))
	return v
}

func TestLoadWithoutState(t *testing.T) {
	t.Parallel()
	i, err := inventory.Load("resources: [{query: 'true', name: $.name}]", "i", nil)
	if err != nil || len(i.Nodes) != 0 {
		t.Errorf("Load = %v, %v, want no nodes", i, err)
	}
}

const nameRule = "; use a letter or digit, then up to 127 letters, digits, _, -, and ."

func TestLoadErrors(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"[":               "2:1: invalid YAML: did not find expected node content",
		"nodes:\n\ta: {}": "2:1: invalid YAML: this is a tab; use spaces",
		"a: 1\na: 2":      "2:1: duplicate key",
		"[]":              "1:1: an inventory must be an object",
		"{}\n---\n{}":     "2:1: unexpected second document",
		"node: {}":        `1:1: unknown key "node"; expected parameters, nodes, or resources`,
		"parameters: []":  "1:13: parameters must be an object",
		"parameters: {a: .inf, b: [.NaN]}": "1:17: .inf is not a valid JSON number; put it in quotes if it is text\n" +
			"1:27: .NaN is not a valid JSON number; put it in quotes if it is text",
		"parameters: {1: a}": "1:14: a key must be a string; put it in quotes",
		"nodes: []":          "1:8: nodes must be an object",
		"nodes: {a: []}":     "1:12: a node must be an object",
		"nodes: {a: , b: {roles: [x]}}": "1:9: a node must have an address or connection: local\n" +
			"1:14: a node must have an address or connection: local",
		"nodes: {a b: {address: x}}": `1:9: invalid node name "a b"` + nameRule,
		"nodes: {'': {address: x}}":  `1:9: invalid node name ""` + nameRule,
		"nodes: {[a]: {address: x}}": `1:9: invalid node name ""` + nameRule,
		"nodes: {a: {address: 7, port: 65536, user: [], key: {}, roles: 7, connection: winrm, parameters: x, name: b}}": "" +
			"1:22: address must be a non-empty string\n" +
			"1:31: port must be a number from 1 to 65535\n" +
			"1:44: user must be a non-empty string\n" +
			"1:53: key must be a file path\n" +
			"1:64: roles must be a list of names or a comma-separated string; names consist of letters, digits, _, -, and .\n" +
			"1:79: connection must be ssh or local\n" +
			"1:98: parameters must be an object\n" +
			`1:101: unknown key "name"; expected one of address, port, user, key, jump, known_hosts, become, become_secret, roles, tags, connection, parameters`,
		"nodes: {a: {address: x, port: 0x0, roles: [a, 7]}, b: {address: '', roles: 'a,,b', port: -1}}": "" +
			"1:31: port must be a number from 1 to 65535\n" +
			"1:43: roles must be a list of names or a comma-separated string; names consist of letters, digits, _, -, and .\n" +
			"1:65: address must be a non-empty string\n" +
			"1:76: roles must be a list of names or a comma-separated string; names consist of letters, digits, _, -, and .\n" +
			"1:90: port must be a number from 1 to 65535",
		"resources: {}":  "1:12: resources must be a list",
		"resources: [7]": "1:13: a resource must be an object",
		"resources: [~, {name: x, connection: local}, {query: 'true', address: x}]": "" +
			"1:13: a node must have an address or connection: local\n" +
			"1:16: a resource must have query and name, such as {query: type == \"aws:ec2:Instance\", name: $.name}\n" +
			"1:46: a resource must have query and name, such as {query: type == \"aws:ec2:Instance\", name: $.name}",
		"resources: [{query: typ == 'a', name: $.name +, port: ssh, where: x, connection: local}]": "" +
			"1:21: query: expression, 1:1: unknown variable \"typ\"; did you mean \"type\"?\n" +
			"1:39: expression, 1:9: unexpected end of expression\n" +
			"1:55: port must be a number from 1 to 65535\n" +
			`1:60: unknown key "where"; expected one of query, name, address, port, user, key, jump, known_hosts, become, become_secret, roles, tags, connection, parameters`,
		"nodes: {a: {address: x, jump: 'me@', known_hosts: 7}, b: {address: x, jump: '@b'}, c: {address: x, jump: 'b:0,c'}}": "" +
			"1:31: jump must be [USER@]HOST[:PORT], several separated by commas, or none\n" +
			"1:51: known_hosts must be a file path\n" +
			"1:77: jump must be [USER@]HOST[:PORT], several separated by commas, or none\n" +
			"1:106: jump must be [USER@]HOST[:PORT], several separated by commas, or none",
		"nodes: {a: {address: x, become: su, become_secret: ''}, b: {address: x, become_secret: sudo}}": "" +
			"1:33: become must be sudo\n1:52: become_secret must be the name of a secret, such as sudo\n" +
			"1:57: become_secret requires become: sudo",
		// Errors that depend on resources.
		`resources: [{query: id == "i-2", name: $.name, address: $.properties.ip, user: $.properties.password, parameters: {a: ["$.properties.disks"]}}]`: "" +
			"1:57: " + urnOf + "db: expression, properties.ip is unknown\n" +
			"1:80: " + urnOf + "db: expression, properties.password is a secret\n" +
			"1:120: " + urnOf + "db: expression, properties.disks[0].key is a secret",
		`resources: [{query: id == "i-2", name: "$.properties.password + '1'", connection: local}]`: "" +
			"1:40: " + urnOf + "db: expression, 1:23: properties.password is a secret",
		`resources: [{query: id == "i-2", name: $.properties.nme, connection: $.properties.encrypted}]`: "" +
			"1:40: " + urnOf + "db: expression, 1:13: missing key \"nme\"\n" +
			"1:70: " + urnOf + "db: connection must be ssh or local",
		`resources: [{query: id == "i-2", name: $.name, address: $.properties.tags.role}, {query: id == "i-1", name: $.properties.tags.role, address: $.id}]`: "" +
			"1:13: " + urnOf + "db: a node must have an address or connection: local\n" +
			"1:82: " + urnOf + `web: invalid node name "web, app"` + nameRule,
		"nodes: {web: {address: x}}\nresources: [{query: id == 'i-1', name: $.name, address: $.id}, {query: id == 'i-2', name: web, address: $.id}]": "" +
			"2:13: " + urnOf + "web: duplicate node web, also from line 1; rename one of them\n" +
			"2:64: " + urnOf + "db: duplicate node web, also from line 1; rename one of them",
		`resources: [{query: 'type == "aws:ec2:Instance"', name: a, address: a}]`: "" +
			"1:13: " + urnOf + "db: duplicate node a, also from " + urnOf + "web; rename one of them",
		`resources: [{query: 'properties.ip', name: $.name, address: $.id}]`: "" +
			"1:13: query: " + urnOf + "web: the expression must be a bool, got string",
	} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			_, err := inventory.Load(src, "inventory.yaml", snapshot(t))
			var wrong *taskgraph.Error
			if !errors.As(err, &wrong) {
				t.Fatalf("Load(%s) = %v, want a *taskgraph.Error", src, err)
			}
			got := strings.ReplaceAll(err.Error(), "inventory.yaml:", "")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Load(%s) mismatch (-want +got):\n%s", src, diff)
			}
		})
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("parameters: {a: 1}\nnodes: {a: {address: x, roles: 'a, b'}, b: {<<: {connection: local}}}")
	f.Add("resources: [{query: 'true', name: $.name, address: $.properties.ip, parameters: {a: [$.id]}}, ~, [], {query: }]")
	f.Fuzz(func(t *testing.T, src string) {
		i, err := inventory.Load(src, "i", snapshot(t))
		var wrong *taskgraph.Error
		if err != nil && (!errors.As(err, &wrong) || strings.Contains(err.Error(), "hunter2") && !strings.Contains(src, "hunter2")) {
			t.Fatalf("Load = %v, want a *taskgraph.Error that reveals no secret", err)
		}
		if _, wrong := json.Marshal(i); err == nil && wrong != nil {
			t.Fatalf("Marshal of the inventory: %v", wrong)
		}
	})
}
