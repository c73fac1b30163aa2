package lumi_test

import (
	"fmt"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// server is a resource of 15 properties, as it would be generated. The benchmarks measure it beside code that was
// written by hand for it alone, and that does as little as can be done.
type server struct {
	Name, Image, Zone, Owner string
	Kernel, User             *string
	CPUs, Memory             float64
	Swap                     *float64
	Public, Monitored        bool
	Spot                     *bool
	Disks                    []disk
	Tags                     map[string]string
	Addresses                []string
}

type disk struct {
	Device string
	Size   float64
	Fast   *bool
}

func (s *server) Lumi(p *lumi.Props) {
	lumi.Required(p, "name", &s.Name, lumi.String, lumi.Replaces)
	lumi.Required(p, "image", &s.Image, lumi.String, lumi.Replaces)
	lumi.Required(p, "zone", &s.Zone, lumi.String)
	lumi.Required(p, "owner", &s.Owner, lumi.String)
	lumi.Optional(p, "kernel", &s.Kernel, lumi.String)
	lumi.Optional(p, "user", &s.User, lumi.String)
	lumi.Required(p, "cpus", &s.CPUs, lumi.Number)
	lumi.Required(p, "memory", &s.Memory, lumi.Number)
	lumi.Optional(p, "swap", &s.Swap, lumi.Number)
	lumi.Required(p, "public", &s.Public, lumi.Bool)
	lumi.Required(p, "monitored", &s.Monitored, lumi.Bool)
	lumi.Optional(p, "spot", &s.Spot, lumi.Bool)
	lumi.Nilable(p, "disks", &s.Disks, lumi.List(lumi.Struct[*disk]()))
	lumi.Nilable(p, "tags", &s.Tags, lumi.Map(lumi.String))
	lumi.Nilable(p, "addresses", &s.Addresses, lumi.List(lumi.String))
}

func (d *disk) Lumi(p *lumi.Props) {
	lumi.Required(p, "device", &d.Device, lumi.String)
	lumi.Required(p, "size", &d.Size, lumi.Number)
	lumi.Optional(p, "fast", &d.Fast, lumi.Bool)
}

const serverJSON = `{
	"name": "web", "image": "debian", "zone": "b", "owner": "me", "kernel": "6.1", "cpus": 4, "memory": 16, "swap": 2,
	"public": true, "monitored": false, "spot": true, "tags": {"team": "web", "cost": "low", "stage": "test"},
	"disks": [{"device": "sda", "size": 100, "fast": true}, {"device": "sdb", "size": 500}, {"device": "sdc", "size": 1}],
	"addresses": ["10.0.0.1", "10.0.0.2"], "user": "root"
}`

func bagForBenchmark(b *testing.B) *structpb.Struct {
	s := &structpb.Struct{}
	if err := s.UnmarshalJSON([]byte(serverJSON)); err != nil {
		b.Fatal(err)
	}
	return s
}

func BenchmarkDecode(b *testing.B) {
	props := bagForBenchmark(b)
	b.Run("runtime", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := lumi.Decode(props, new(server)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("by hand", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := decodeByHand(props); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	s, err := decodeByHand(bagForBenchmark(b))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("runtime", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := lumi.Encode(s); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("by hand", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			encodeByHand(s)
		}
	})
}

// byHand looks properties up and remembers the first that is wrong.
type byHand struct {
	fields map[string]*structpb.Value
	seen   int
	err    error
}

func (h *byHand) get(name string, required bool) *structpb.Value {
	v, ok := h.fields[name]
	if ok {
		h.seen++
	} else if required && h.err == nil {
		h.err = fmt.Errorf("%s is missing", name)
	}
	return v
}

func (h *byHand) wrong(name string) {
	if h.err == nil {
		h.err = fmt.Errorf("%s is of the wrong kind", name)
	}
}

func (h *byHand) string(name string) string {
	k, ok := h.get(name, true).GetKind().(*structpb.Value_StringValue)
	if !ok {
		h.wrong(name)
		return ""
	}
	return k.StringValue
}

func (h *byHand) number(name string) float64 {
	k, ok := h.get(name, true).GetKind().(*structpb.Value_NumberValue)
	if !ok {
		h.wrong(name)
		return 0
	}
	return k.NumberValue
}

func (h *byHand) bool(name string) bool {
	k, ok := h.get(name, true).GetKind().(*structpb.Value_BoolValue)
	if !ok {
		h.wrong(name)
		return false
	}
	return k.BoolValue
}

func maybe[T any](h *byHand, name string, read func(string) T) *T {
	if _, ok := h.fields[name]; !ok {
		return nil
	}
	v := read(name)
	return &v
}

func decodeByHand(bag *structpb.Struct) (*server, error) {
	h := &byHand{fields: bag.GetFields()}
	s := &server{
		Name: h.string("name"), Image: h.string("image"), Zone: h.string("zone"), Owner: h.string("owner"),
		Kernel: maybe(h, "kernel", h.string), User: maybe(h, "user", h.string),
		CPUs: h.number("cpus"), Memory: h.number("memory"), Swap: maybe(h, "swap", h.number),
		Public: h.bool("public"), Monitored: h.bool("monitored"), Spot: maybe(h, "spot", h.bool),
	}
	if v := h.get("disks", false); v != nil {
		values := v.GetListValue().GetValues()
		s.Disks = make([]disk, len(values))
		for i, v := range values {
			d := &byHand{fields: v.GetStructValue().GetFields()}
			s.Disks[i] = disk{Device: d.string("device"), Size: d.number("size"), Fast: maybe(d, "fast", d.bool)}
			if d.err != nil {
				return nil, d.err
			}
		}
	}
	if v := h.get("tags", false); v != nil {
		fields := v.GetStructValue().GetFields()
		s.Tags = make(map[string]string, len(fields))
		for key, v := range fields {
			s.Tags[key] = v.GetStringValue()
		}
	}
	if v := h.get("addresses", false); v != nil {
		values := v.GetListValue().GetValues()
		s.Addresses = make([]string, len(values))
		for i, v := range values {
			s.Addresses[i] = v.GetStringValue()
		}
	}
	if h.seen < len(h.fields) && h.err == nil {
		h.err = fmt.Errorf("there are other properties")
	}
	return s, h.err
}

func encodeByHand(s *server) *structpb.Struct {
	fields := map[string]*structpb.Value{
		"name": structpb.NewStringValue(s.Name), "image": structpb.NewStringValue(s.Image),
		"zone": structpb.NewStringValue(s.Zone), "owner": structpb.NewStringValue(s.Owner),
		"cpus": structpb.NewNumberValue(s.CPUs), "memory": structpb.NewNumberValue(s.Memory),
		"public": structpb.NewBoolValue(s.Public), "monitored": structpb.NewBoolValue(s.Monitored),
	}
	put(fields, "kernel", s.Kernel, structpb.NewStringValue)
	put(fields, "user", s.User, structpb.NewStringValue)
	put(fields, "swap", s.Swap, structpb.NewNumberValue)
	put(fields, "spot", s.Spot, structpb.NewBoolValue)
	disks := &structpb.ListValue{}
	for _, d := range s.Disks {
		f := map[string]*structpb.Value{
			"device": structpb.NewStringValue(d.Device), "size": structpb.NewNumberValue(d.Size),
		}
		put(f, "fast", d.Fast, structpb.NewBoolValue)
		disks.Values = append(disks.Values, structpb.NewStructValue(&structpb.Struct{Fields: f}))
	}
	fields["disks"] = structpb.NewListValue(disks)
	tags := make(map[string]*structpb.Value, len(s.Tags))
	for key, v := range s.Tags {
		tags[key] = structpb.NewStringValue(v)
	}
	fields["tags"] = structpb.NewStructValue(&structpb.Struct{Fields: tags})
	addresses := &structpb.ListValue{}
	for _, a := range s.Addresses {
		addresses.Values = append(addresses.Values, structpb.NewStringValue(a))
	}
	fields["addresses"] = structpb.NewListValue(addresses)
	return &structpb.Struct{Fields: fields}
}

func put[T any](fields map[string]*structpb.Value, name string, v *T, wrap func(T) *structpb.Value) {
	if v != nil {
		fields[name] = wrap(*v)
	}
}
