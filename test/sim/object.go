package sim

import (
	"reflect"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// properties lists the properties of every type except "on", which is a list of capabilities.
var properties = []struct {
	name  string
	flags lumi.Flags
}{
	{"name", lumi.Replaces},
	{"size", 0},
	{"mode", 0},
	{"region", lumi.Replaces},
	{"password", lumi.In | lumi.Secret},
	{"at", 0},
	{"parent", lumi.Replaces},
	{"arn", lumi.Out},
	{"etag", lumi.Out},
	{"key", lumi.Out | lumi.Fixed | lumi.Secret},
}

// object holds the properties of a resource of any type. It replaces a generated struct.
type object struct {
	named  bool
	values map[string]*any
	on     []urn.URN
}

type state = lumi.State[*object]

func newObject(named bool) *object {
	o := &object{named: named, values: map[string]*any{}}
	for _, p := range properties {
		o.values[p.name] = new(any)
	}
	return o
}

// Lumi implements [lumi.Object].
func (o *object) Lumi(p *lumi.Props) {
	for _, property := range properties {
		show := lumi.Nilable[*any]
		if property.flags&lumi.Out != 0 || property.name == "name" && o.named {
			show = lumi.Required[*any]
		}
		show(p, property.name, o.values[property.name], lumi.Any, property.flags)
	}
	lumi.Nilable(p, "on", &o.on, lumi.List(lumi.AnyResource))
}

// inputs returns the inputs in s, with ids in place of capabilities. Absent inputs are nil. It returns a fault if a
// capability cannot be resolved.
func inputs(s *state) (map[string]any, error) {
	all := map[string]any{"on": nil}
	for _, p := range properties {
		if p.flags&lumi.Out == 0 {
			all[p.name] = *s.Properties.values[p.name]
		}
	}
	if s.Properties.on == nil {
		return all, nil
	}
	ids := []any{}
	for _, u := range s.Properties.on {
		r, ok := s.Refs.Resolve(u)
		if !ok {
			return nil, lumi.Faultf("on", "refers to %s, which does not exist", u)
		}
		ids = append(ids, string(r.ID))
	}
	all["on"] = ids
	return all, nil
}

// objectOf returns the properties of a resource as read by Get. Since the cloud does not store URNs, capabilities are
// copied from old if they resolve to the same ids, and are absent otherwise.
func objectOf(t Type, r *Resource, old *state) *object {
	o := newObject(t.Named)
	for _, p := range properties {
		if *o.values[p.name] = r.Inputs[p.name]; p.flags&lumi.Out != 0 {
			*o.values[p.name] = r.Outputs[p.name]
		}
	}
	if old != nil {
		if was, err := inputs(old); err == nil && reflect.DeepEqual(was["on"], r.Inputs["on"]) {
			o.on = old.Properties.on
		}
	}
	return o
}
