package pulumi

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/bench/machine"
)

// This file is the lower bound: handwritten code for servers only. It reports values of the wrong kind, invalid UTF-8,
// infinite numbers and NaN, missing and undeclared properties, and unknown values, each with its path. It does not
// support secrets, state from an older IDL, or suggestions.

// object decodes a bag or an object in one of its lists.
type object struct {
	fields map[string]*structpb.Value
	seen   int
	// list and index locate the object. list is empty for the bag itself.
	list  string
	index int
	// faults accumulates the faults in the entire bag.
	faults *[]lumi.Fault
}

func (o *object) fault(name, message string) {
	path := lumi.Path(name)
	if o.list != "" {
		path = lumi.Path(o.list).Index(o.index).Field(name)
	}
	o.faultAt(path, message)
}

func (o *object) faultAt(path lumi.Path, message string) {
	*o.faults = append(*o.faults, lumi.Fault{Path: path, Message: message})
}

// find returns the value of a property, or nil if it is absent or null.
func (o *object) find(name string) *structpb.Value {
	v, ok := o.fields[name]
	if ok {
		o.seen++
	}
	if _, null := v.GetKind().(*structpb.Value_NullValue); null {
		return nil
	}
	return v
}

func (o *object) required(name string) *structpb.Value {
	v := o.find(name)
	if v == nil {
		o.fault(name, "is required, but missing")
	}
	return v
}

func (o *object) string(name string, v *structpb.Value, into *string) bool {
	s, message := text(v)
	if message != "" {
		o.fault(name, message)
		return false
	}
	*into = s
	return true
}

// text returns the string in v, or a description of the problem if v is not a valid string.
func text(v *structpb.Value) (s, problem string) {
	k, ok := v.GetKind().(*structpb.Value_StringValue)
	switch {
	case !ok:
		return "", "expected a string, found " + kindOf(v)
	case k.StringValue == wire.Unknown:
		return "", "must be known here, but is not known yet"
	case !utf8.ValidString(k.StringValue):
		return "", "expected valid UTF-8"
	}
	return k.StringValue, ""
}

func (o *object) number(name string, v *structpb.Value, into *float64) bool {
	k, ok := v.GetKind().(*structpb.Value_NumberValue)
	if !ok || math.IsNaN(k.NumberValue) || math.IsInf(k.NumberValue, 0) {
		o.mismatch(name, "a number", v)
		return false
	}
	*into = k.NumberValue
	return true
}

func (o *object) bool(name string, v *structpb.Value, into *bool) bool {
	k, ok := v.GetKind().(*structpb.Value_BoolValue)
	if !ok {
		o.mismatch(name, "a boolean", v)
		return false
	}
	*into = k.BoolValue
	return true
}

func (o *object) mismatch(name, expected string, found *structpb.Value) {
	if found.GetStringValue() == wire.Unknown {
		o.fault(name, "must be known here, but is not known yet")
		return
	}
	o.fault(name, "expected "+expected+", found "+kindOf(found))
}

func (o *object) requiredString(name string, into *string) {
	if v := o.required(name); v != nil {
		o.string(name, v, into)
	}
}

func (o *object) requiredNumber(name string, into *float64) {
	if v := o.required(name); v != nil {
		o.number(name, v, into)
	}
}

func (o *object) requiredBool(name string, into *bool) {
	if v := o.required(name); v != nil {
		o.bool(name, v, into)
	}
}

func (o *object) optionalString(name string, into **string) {
	if v := o.find(name); v != nil {
		if s := new(string); o.string(name, v, s) {
			*into = s
		}
	}
}

func (o *object) optionalNumber(name string, into **float64) {
	if v := o.find(name); v != nil {
		if n := new(float64); o.number(name, v, n) {
			*into = n
		}
	}
}

func (o *object) optionalBool(name string, into **bool) {
	if v := o.find(name); v != nil {
		if b := new(bool); o.bool(name, v, b) {
			*into = b
		}
	}
}

// unknownProperties reports all properties except the given ones, which were decoded.
func (o *object) unknownProperties(names ...string) {
	if o.seen == len(o.fields) {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(o.fields)) {
		if _, null := o.fields[key].GetKind().(*structpb.Value_NullValue); !null && !slices.Contains(names, key) {
			o.fault(key, "no such property")
		}
	}
}

func decodeByHand(bag *structpb.Struct) (*machine.Properties, error) {
	var faults []lumi.Fault
	o, s := &object{fields: bag.GetFields(), faults: &faults}, &machine.Properties{}
	o.requiredString("name", &s.Name)
	o.requiredString("image", &s.Image)
	o.requiredString("zone", &s.Zone)
	o.requiredString("owner", &s.Owner)
	o.optionalString("kernel", &s.Kernel)
	o.optionalString("user", &s.User)
	o.requiredNumber("cores", &s.Cores)
	o.requiredNumber("memory", &s.Memory)
	o.optionalNumber("swap", &s.Swap)
	o.requiredBool("public", &s.Public)
	o.requiredBool("monitored", &s.Monitored)
	o.optionalBool("spot", &s.Spot)
	if v := o.find("disks"); v != nil {
		s.Disks = o.disks(v)
	}
	if v := o.find("tags"); v != nil {
		s.Tags = o.tags(v)
	}
	if v := o.find("addresses"); v != nil {
		s.Addresses = o.addresses(v)
	}
	o.unknownProperties("name", "image", "zone", "owner", "kernel", "user", "cores", "memory", "swap", "public", "monitored",
		"spot", "disks", "tags", "addresses")
	if len(faults) > 0 {
		return nil, &lumi.InvalidError{Faults: faults}
	}
	return s, nil
}

func (o *object) disks(v *structpb.Value) []machine.Disk {
	list, ok := v.GetKind().(*structpb.Value_ListValue)
	if !ok {
		o.mismatch("disks", "a list", v)
		return nil
	}
	values := list.ListValue.GetValues()
	disks := make([]machine.Disk, len(values))
	for i, v := range values {
		fields, ok := v.GetKind().(*structpb.Value_StructValue)
		if !ok {
			o.element("disks", i, "an object", v)
			continue
		}
		elem := object{fields: fields.StructValue.GetFields(), list: "disks", index: i, faults: o.faults}
		elem.requiredString("device", &disks[i].Device)
		elem.requiredNumber("size", &disks[i].Size)
		elem.optionalBool("fast", &disks[i].Fast)
		elem.unknownProperties("device", "size", "fast")
	}
	return disks
}

// element adds a fault for a list element of the wrong kind.
func (o *object) element(list string, i int, expected string, found *structpb.Value) {
	message := "expected " + expected + ", found " + kindOf(found)
	switch found.GetKind().(type) {
	case nil, *structpb.Value_NullValue:
		message = "an element of a list cannot be null"
	case *structpb.Value_StringValue:
		if _, problem := text(found); problem != "" {
			message = problem
		}
	}
	o.faultAt(lumi.Path(list).Index(i), message)
}

func (o *object) tags(v *structpb.Value) map[string]string {
	fields, ok := v.GetKind().(*structpb.Value_StructValue)
	if !ok {
		o.mismatch("tags", "an object", v)
		return nil
	}
	tags := make(map[string]string, len(fields.StructValue.GetFields()))
	for key, v := range fields.StructValue.GetFields() {
		if _, null := v.GetKind().(*structpb.Value_NullValue); null {
			continue
		}
		s, problem := text(v)
		if problem == "" && !utf8.ValidString(key) {
			problem = "is not valid UTF-8"
		}
		if problem != "" {
			o.faultAt(lumi.Path("tags").Key(key), problem)
			continue
		}
		tags[key] = s
	}
	return tags
}

func (o *object) addresses(v *structpb.Value) []string {
	list, ok := v.GetKind().(*structpb.Value_ListValue)
	if !ok {
		o.mismatch("addresses", "a list", v)
		return nil
	}
	values := list.ListValue.GetValues()
	addresses := make([]string, len(values))
	for i, v := range values {
		s, problem := text(v)
		if problem != "" {
			o.element("addresses", i, "a string", v)
		}
		addresses[i] = s
	}
	return addresses
}

func kindOf(v *structpb.Value) string {
	switch k := v.GetKind().(type) {
	case *structpb.Value_BoolValue:
		return fmt.Sprintf("a boolean %t", k.BoolValue)
	case *structpb.Value_NumberValue:
		switch {
		case math.IsNaN(k.NumberValue):
			return "NaN"
		case math.IsInf(k.NumberValue, 0):
			return strings.TrimPrefix(fmt.Sprint(k.NumberValue), "+") + "inity"
		}
		return fmt.Sprintf("a number %v", k.NumberValue)
	case *structpb.Value_StringValue:
		return fmt.Sprintf("a string %q", k.StringValue)
	case *structpb.Value_ListValue:
		return "a list"
	case *structpb.Value_StructValue:
		return "an object"
	}
	return "null"
}

// encoder encodes values and collects a fault for each invalid string or number.
type encoder struct{ faults []lumi.Fault }

func (e *encoder) string(path lumi.Path, s string) *structpb.Value {
	if problem := textProblem(s); problem != "" {
		e.fault(path, problem)
	}
	return structpb.NewStringValue(s)
}

func (e *encoder) number(path lumi.Path, n float64) *structpb.Value {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		e.fault(path, "is not a finite number")
	}
	return structpb.NewNumberValue(n)
}

func (e *encoder) fault(path lumi.Path, message string) {
	e.faults = append(e.faults, lumi.Fault{Path: path, Message: message})
}

func encodeByHand(s *machine.Properties) (*structpb.Struct, error) {
	e := &encoder{}
	fields := make(map[string]*structpb.Value, 15)
	fields["name"] = e.string("name", s.Name)
	fields["image"] = e.string("image", s.Image)
	fields["zone"] = e.string("zone", s.Zone)
	fields["owner"] = e.string("owner", s.Owner)
	if s.Kernel != nil {
		fields["kernel"] = e.string("kernel", *s.Kernel)
	}
	if s.User != nil {
		fields["user"] = e.string("user", *s.User)
	}
	fields["cores"] = e.number("cores", s.Cores)
	fields["memory"] = e.number("memory", s.Memory)
	if s.Swap != nil {
		fields["swap"] = e.number("swap", *s.Swap)
	}
	fields["public"] = structpb.NewBoolValue(s.Public)
	fields["monitored"] = structpb.NewBoolValue(s.Monitored)
	if s.Spot != nil {
		fields["spot"] = structpb.NewBoolValue(*s.Spot)
	}
	if s.Disks != nil {
		fields["disks"] = e.disks(s.Disks)
	}
	if s.Tags != nil {
		fields["tags"] = e.tags(s.Tags)
	}
	if s.Addresses != nil {
		fields["addresses"] = e.addresses(s.Addresses)
	}
	if len(e.faults) > 0 {
		return nil, &lumi.OutputError{Faults: e.faults}
	}
	return &structpb.Struct{Fields: fields}, nil
}

func (e *encoder) disks(disks []machine.Disk) *structpb.Value {
	values := make([]*structpb.Value, len(disks))
	for i, d := range disks {
		fields := make(map[string]*structpb.Value, 3)
		fields["device"] = structpb.NewStringValue(d.Device)
		if problem := textProblem(d.Device); problem != "" {
			e.fault(lumi.Path("disks").Index(i).Field("device"), problem)
		}
		fields["size"] = structpb.NewNumberValue(d.Size)
		if math.IsNaN(d.Size) || math.IsInf(d.Size, 0) {
			e.fault(lumi.Path("disks").Index(i).Field("size"), "is not a finite number")
		}
		if d.Fast != nil {
			fields["fast"] = structpb.NewBoolValue(*d.Fast)
		}
		values[i] = structpb.NewStructValue(&structpb.Struct{Fields: fields})
	}
	return structpb.NewListValue(&structpb.ListValue{Values: values})
}

func (e *encoder) tags(tags map[string]string) *structpb.Value {
	fields := make(map[string]*structpb.Value, len(tags))
	for key, value := range tags {
		problem := textProblem(key)
		if key == wire.Signature {
			problem = "is a reserved key"
		}
		if problem == "" {
			problem = textProblem(value)
		}
		if problem != "" {
			e.fault(lumi.Path("tags").Key(key), problem)
		}
		fields[key] = structpb.NewStringValue(value)
	}
	return structpb.NewStructValue(&structpb.Struct{Fields: fields})
}

func (e *encoder) addresses(addresses []string) *structpb.Value {
	values := make([]*structpb.Value, len(addresses))
	for i, a := range addresses {
		if problem := textProblem(a); problem != "" {
			e.fault(lumi.Path("addresses").Index(i), problem)
		}
		values[i] = structpb.NewStringValue(a)
	}
	return structpb.NewListValue(&structpb.ListValue{Values: values})
}

// textProblem describes why a bag cannot contain s. It returns "" if s is valid.
func textProblem(s string) string {
	switch {
	case s == wire.Unknown:
		return "is the reserved string for unknown values"
	case !utf8.ValidString(s):
		return "is not valid UTF-8"
	}
	return ""
}
