package inventory

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lang/yaql"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/taskgraph/condition"
)

// Data evaluates conditions and computes digests of the values that tasks depend on. It is not safe for concurrent use.
//
// In conditions, $ is an object:
//
//	node        name, uid (the name), address, roles, tags, and parameters of the node; null for a stage
//	uid, roles  the uid and the roles of the node
//	nodes       all nodes of the environment by name
//	env         name and parameters of the environment, and outputs: the values its modules provide, by module and name
//	parameters  the node's parameters, overriding the environment's
//	event       the event of the run
//	type        the type of the graph
//
// Each parameter with another name is a key of $ too. In Fuel, data is below names such as settings and cluster: unless
// there are parameters with these names, both are equal to parameters.
type Data struct {
	Environment, Type, Event string
	Inventory                *Inventory
	// Snapshot is the state of the environment. It may be nil.
	Snapshot *lumigl.Snapshot

	// Outputs replaces the outputs in Snapshot, if it is set. It was returned by [Data.Known].
	Outputs json.RawMessage
	// History returns the data of earlier successful runs, newest first. It may be nil.
	History func(ctx context.Context) ([]Past, error)

	env        *yaql.Dict
	hosts      *yaql.Dict // by name
	nodes      map[string]*yaql.Dict
	past       []past
	conditions map[string]*condition.Condition
	yaql       map[string]*yaql.Expression
	results    map[result]any
}

// Past is the data of an earlier successful run.
type Past struct {
	// Only lists the nodes of the run. If it is empty, the run included all nodes.
	Only      []string
	Inventory Inventory
	Outputs   json.RawMessage
}

// Condition evaluates a condition for a node, or for a stage if n is nil. It returns an error if the condition uses a
// secret.
func (d *Data) Condition(ctx context.Context, text string, n *Node) (bool, error) {
	if condition.Is(text) {
		c, err := cached(&d.conditions, text, condition.Parse)
		if err != nil {
			return false, err
		}
		data, err := d.of(n)
		if err != nil {
			return false, err
		}
		return c.Evaluate(data)
	}
	v, err := d.evaluate(ctx, text, n)
	if err == nil {
		err = yaql.Known(v)
	}
	is, ok := v.(bool)
	if !ok && err == nil {
		err = errors.New("a condition must be true or false, such as $.parameters.size = 3")
	}
	return is, err
}

// maxValue is the maximum size of the value of an expression as JSON, in bytes.
const maxValue = 1 << 20

// Evaluate evaluates an expression in YAQL for a node, or without a node if n is nil. It returns a JSON value, in which
// numbers are [json.Number], or an error if the value contains a secret.
func (d *Data) Evaluate(ctx context.Context, text string, n *Node) (any, error) {
	v, err := d.evaluate(ctx, text, n)
	if err != nil {
		return nil, err
	}
	encoded, err := yaql.AppendJSON(nil, v)
	if err == nil && len(encoded) > maxValue {
		err = fmt.Errorf("the value is larger than %d bytes", maxValue)
	}
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	var decoded any
	err = decoder.Decode(&decoded)
	return decoded, err
}

func (d *Data) evaluate(ctx context.Context, text string, n *Node) (any, error) {
	x, err := cached(&d.yaql, text, func(text string) (*yaql.Expression, error) { return yaql.Compile(text) })
	if err != nil {
		return nil, err
	}
	data, err := d.of(n)
	if err != nil {
		return nil, err
	}
	in := yaql.New(functions())
	in.Set("$", data)
	in.Set(subjectName, &subject{data, func() (any, *yaql.Dict, error) { return d.before(ctx, n) }, d.results})
	return x.EvaluateIn(ctx, in)
}

func cached[X any](all *map[string]X, text string, compile func(string) (X, error)) (X, error) {
	x, found := (*all)[text]
	if found {
		return x, nil
	}
	x, err := compile(text)
	if err == nil {
		if *all == nil {
			*all = map[string]X{}
		}
		(*all)[text] = x
	}
	return x, err
}

// before returns the data of the last successful run that included a node, and $ in it, or nil if there is none.
func (d *Data) before(ctx context.Context, n *Node) (*Data, *yaql.Dict, error) {
	if d.past == nil && d.History != nil {
		all, err := d.History(ctx)
		if err != nil {
			return nil, nil, err
		}
		d.past = []past{}
		for _, p := range all {
			earlier := &Data{Environment: d.Environment, Type: d.Type, Event: d.Event, Inventory: &p.Inventory, Outputs: p.Outputs}
			if err := d.share(earlier); err != nil {
				return nil, nil, err
			}
			d.past = append(d.past, past{p.Only, earlier})
		}
	}
	for _, p := range d.past {
		if n != nil && len(p.only) > 0 && !slices.Contains(p.only, n.Name) {
			continue
		}
		old := n
		if n != nil {
			nodes := p.Inventory.Nodes
			at := slices.IndexFunc(nodes, func(other Node) bool { return other.Name == n.Name })
			if at < 0 {
				return nil, nil, nil
			}
			old = &nodes[at]
		}
		data, err := p.of(old)
		return p.Data, data, err
	}
	return nil, nil, nil
}

// share replaces nodes in earlier data by equal ones of d, so that comparing the nodes of many nodes is fast.
func (d *Data) share(earlier *Data) error {
	if err := earlier.load(); err != nil {
		return err
	}
	for name, v := range d.hosts.All() {
		if old, has, _ := earlier.hosts.Get(name); has && yaql.Equal(v, old) {
			_ = earlier.hosts.Set(name, v) // strings are valid keys
		}
	}
	if yaql.Equal(d.hosts, earlier.hosts) {
		earlier.hosts = d.hosts
	}
	return nil
}

// past is the data of an earlier run on the given nodes, or on all nodes.
type past struct {
	only []string
	*Data
}

// Known returns the outputs of modules as JSON, without secrets and unknown values.
func (d *Data) Known() (json.RawMessage, error) {
	outputs, err := convert(d.outputs())
	if err != nil {
		return nil, err
	}
	v, _ := known(outputs)
	return yaql.AppendJSON(nil, v)
}

// of returns the value of $ for a node, or for a stage if n is nil.
func (d *Data) of(n *Node) (*yaql.Dict, error) {
	if err := d.load(); err != nil {
		return nil, err
	}
	name := ""
	if n != nil {
		name = n.Name
	}
	if data := d.nodes[name]; data != nil {
		return data, nil
	}
	own, err := convert(d.parameters(n))
	if err != nil {
		return nil, err
	}
	all := map[string]any{"settings": own, "cluster": own}
	for name, v := range own.All() {
		all[name.(string)] = v
	}
	maps.Copy(all, map[string]any{
		"node": nil, "uid": nil, "roles": []any{}, "nodes": d.hosts, "env": d.env, "parameters": own, "event": d.Event, "type": d.Type,
	})
	if n != nil {
		node := n.data()
		all["node"], all["uid"], all["roles"] = node, node["uid"], node["roles"]
	}
	data, err := convert(all)
	d.nodes[name] = data
	return data, err
}

// load converts the values that all nodes share.
func (d *Data) load() error {
	if d.nodes != nil {
		return nil
	}
	env, err := convert(map[string]any{"name": d.Environment, "parameters": d.Inventory.Parameters, "outputs": d.outputs()})
	if err != nil {
		return err
	}
	all := make(map[string]any, len(d.Inventory.Nodes))
	for _, n := range d.Inventory.Nodes {
		all[n.Name] = n.data()
	}
	if d.hosts, err = convert(all); err == nil {
		d.env, d.nodes, d.results = env, map[string]*yaql.Dict{}, map[result]any{}
	}
	return err
}

// data returns the value of the node in $.
func (n *Node) data() map[string]any {
	list := func(names []string) []any {
		all := make([]any, len(names))
		for i, name := range names {
			all[i] = name
		}
		return all
	}
	return map[string]any{
		"name": n.Name, "uid": n.Name, "address": n.Address, "roles": list(n.Roles), "tags": list(n.Tags), "parameters": n.Parameters,
	}
}

func convert(v map[string]any) (*yaql.Dict, error) {
	data, err := yaql.FromGo(v)
	d, _ := data.(*yaql.Dict)
	return d, err
}

// Plain returns $ for a node in values of Go: nil, bool, int64, [*big.Int], float64, string, []any, and map[string]any.
// It omits secrets.
func (d *Data) Plain(n *Node) (map[string]any, error) {
	data, err := d.of(n)
	if err != nil {
		return nil, err
	}
	v, _ := known(data)
	all, _ := goValue(v).(map[string]any)
	return all, nil
}

func goValue(v any) any {
	switch v := v.(type) {
	case *yaql.Dict:
		all := make(map[string]any, v.Len())
		for key, value := range v.All() {
			all[key.(string)] = goValue(value)
		}
		return all
	case *yaql.List:
		all := make([]any, v.Len())
		for i, item := range v.Items() {
			all[i] = goValue(item)
		}
		return all
	}
	return v
}

// parameters returns the parameters of the environment, overridden by the parameters of the node n, which may be nil.
func (d *Data) parameters(n *Node) map[string]any {
	all := maps.Clone(d.Inventory.Parameters)
	if all == nil {
		all = map[string]any{}
	}
	if n != nil {
		maps.Copy(all, n.Parameters)
	}
	return all
}

func (d *Data) outputs() map[string]any {
	all := map[string]any{}
	if d.Outputs != nil {
		v, _ := yaql.FromJSON(d.Outputs)
		if stored, ok := v.(*yaql.Dict); ok {
			for name, v := range stored.All() {
				all[name.(string)] = v
			}
		}
		return all
	}
	if d.Snapshot == nil {
		return all
	}
	for v := range d.Snapshot.Vertices() {
		if v.Type != lumigl.ModuleType {
			continue
		}
		p, _ := v.URN().Parts()
		module, values := p.Package, map[string]any{}
		for name, entry := range v.Properties.Get("provides").Members() {
			if name != graph.ModelName {
				values[name] = plain(entry.Get("value"), "env.outputs."+module+"."+name)
			}
		}
		all[module] = values
	}
	return all
}

// Refresh returns a digest of the values listed in refresh_on: parameters by dotted path, and resources by URN. It
// returns "" if the list is empty. A missing value differs from null. Secrets do not affect the digest.
func (d *Data) Refresh(paths []string, n *Node) string {
	if len(paths) == 0 {
		return ""
	}
	var all []any
	parameters := d.parameters(n)
	for _, path := range paths {
		v, has := at(parameters, path)
		if strings.HasPrefix(path, "urn:") {
			v, has = d.resource(path)
		}
		all = append(all, []any{path, has, v})
	}
	text, _ := json.Marshal(all) // always valid JSON
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}

// at returns the value at a dotted path. It returns false if there is none.
func at(v any, path string) (any, bool) {
	for key := range strings.SplitSeq(path, ".") {
		object, _ := v.(map[string]any)
		var has bool
		if v, has = object[key]; !has {
			return nil, false
		}
	}
	return v, true
}

// resource returns the parts of a resource that its digest covers. It returns false if the resource does not exist.
func (d *Data) resource(key string) (any, bool) {
	if d.Snapshot == nil {
		return nil, false
	}
	v := d.Snapshot.Vertex(key)
	if v == nil {
		return nil, false
	}
	known := v.Properties.Replace(func(part lumigl.Value) (lumigl.Value, bool) { // a digest of a secret could be brute-forced
		return lumigl.Value{}, part.IsSecret() || part.IsUnknown()
	})
	return []any{v.ID, plain(known, "")}, true
}

// describe returns the value of $ for a resource.
func describe(v *lumigl.Vertex) any {
	p, _ := v.URN().Parts()
	properties, _ := plain(v.Properties, "properties").(map[string]any)
	data, _ := yaql.FromGo(map[string]any{ // always convertible
		"key": v.Key(), "type": string(v.Type), "id": v.ID, "name": p.Name, "environment": p.Environment, "pkg": p.Package,
		"module": p.Module, "properties": properties,
	})
	return data
}

// hidden represents a secret or unknown value. Using it returns an error with the message.
type hidden struct{ message string }

// YAQLOpaque implements [yaql.Opaque].
func (h *hidden) YAQLOpaque() error { return yaql.Errorf(yaql.Value, "%s", h.message) }

// plain converts v to a JSON value. References become objects with the key "ref" and optionally "property", as in
// queries. Secrets and unknown values become hidden.
func plain(v lumigl.Value, path string) any {
	switch v.Kind() {
	case lumigl.Bool:
		b, _ := v.Bool()
		return b
	case lumigl.Number:
		literal, _ := v.Literal()
		n, _ := yaql.FromJSON([]byte(literal)) // null if it is out of range
		return n
	case lumigl.Text:
		if v.IsUnknown() {
			return &hidden{path + " is unknown"}
		}
		s, _ := v.Text()
		return s
	case lumigl.List:
		list := make([]any, v.Len())
		for i, item := range v.Elements() {
			list[i] = plain(item, fmt.Sprintf("%s[%d]", path, i))
		}
		return list
	case lumigl.Object:
		if v.IsSecret() {
			return &hidden{path + " is a secret"}
		}
		object := make(map[string]any, v.Len())
		for key, member := range v.Members() {
			object[key] = plain(member, path+"."+key)
		}
		return object
	case lumigl.Reference:
		target, property, _ := v.Target()
		object := map[string]any{"ref": target.Key()}
		if property != "" {
			object["property"] = property
		}
		return object
	}
	return nil
}
