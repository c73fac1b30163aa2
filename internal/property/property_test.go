package property_test

import (
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/internal/property"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// anyMessage draws a value, including one without a kind.
func anyMessage(depth int) *rapid.Generator[*structpb.Value] {
	kinds := []*rapid.Generator[*structpb.Value]{
		rapid.Just(structpb.NewNullValue()), rapid.Just(&structpb.Value{}), rapid.Map(rapid.Bool(), structpb.NewBoolValue),
		rapid.Map(rapid.Float64(), structpb.NewNumberValue), rapid.Just(structpb.NewNumberValue(math.NaN())),
		rapid.Map(rapid.String(), structpb.NewStringValue),
		rapid.Just(structpb.NewStringValue(strings.Repeat("long", 100))),
	}
	if depth > 0 {
		kinds = append(kinds, rapid.Map(rapid.SliceOfN(anyMessage(depth-1), 0, 4), func(values []*structpb.Value) *structpb.Value {
			return structpb.NewListValue(&structpb.ListValue{Values: values})
		}), rapid.Map(anyStruct(depth-1), structpb.NewStructValue))
	}
	return rapid.OneOf(kinds...)
}

func anyStruct(depth int) *rapid.Generator[*structpb.Struct] {
	fields := rapid.MapOfN(rapid.StringN(0, 3, -1), anyMessage(depth), 0, 40)
	return rapid.Map(fields, func(fields map[string]*structpb.Value) *structpb.Struct { return &structpb.Struct{Fields: fields} })
}

// agree checks that Parse decodes data, if package proto does, to the same object, which Encode encodes again.
func agree(t expect.T, data []byte) {
	t.Helper()
	s := &structpb.Struct{}
	failed := proto.Unmarshal(data, s)
	v, err := property.Parse(data)
	if (failed == nil) != (err == nil) {
		t.Errorf("Parse(%x) = %v, want %v", data, err, failed)
	}
	if failed != nil || err != nil {
		return
	}
	want := property.FromStruct(s)
	if !property.Equal(&want, &v) {
		t.Errorf("Parse(%x) = %v, want %v", data, v.Plain(), want.Plain())
	}
	encoded := property.Encode(&v)
	if again, err := property.Parse(encoded); err != nil || !property.Equal(&again, &v) {
		t.Errorf("Encode = %x, which is decoded to %v, %v, want %v", encoded, again.Plain(), err, v.Plain())
	}
	if s = v.Struct(); s != nil {
		want := must.Get(proto.MarshalOptions{Deterministic: true}.Marshal(s))(fatal{t})
		if !slices.Equal(encoded, want) {
			t.Errorf("Encode = %x, want %x as of package proto", encoded, want)
		}
	}
}

// fatal makes expect.T a must.T.
type fatal struct{ expect.T }

func (f fatal) Fatal(args ...any) { f.Errorf("%v", args) }

func TestRandomObjects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		agree(t, must.Get(proto.Marshal(anyStruct(2).Draw(t, "object")))(t))
	})
}

// FuzzParse compares Parse with package proto for any bytes.
func FuzzParse(f *testing.F) {
	for _, data := range oddities() {
		if len(data) < 100 { // Minimizing long ones takes minutes.
			f.Add(data)
		}
	}
	f.Add(must.Get(proto.Marshal(must.Get(structpb.NewStruct(map[string]any{"a": []any{nil, true, 1.5, "b", map[string]any{}}}))(f)))(f))
	f.Fuzz(func(t *testing.T, data []byte) { agree(t, data) })
}

func TestOddities(t *testing.T) {
	for name, data := range oddities() {
		t.Run(name, func(t *testing.T) { agree(t, data) })
	}
}

// oddities returns encodings that package proto accepts or rejects, but does not produce.
func oddities() map[string][]byte {
	text := func(s string) []byte { return protowire.AppendString([]byte{3<<3 | 2}, s) }
	field := func(key string, value []byte) []byte {
		entry := protowire.AppendBytes(append(protowire.AppendString([]byte{1<<3 | 2}, key), 2<<3|2), value)
		return protowire.AppendBytes([]byte{1<<3 | 2}, entry)
	}
	nested := func(levels int) []byte {
		value := text("x")
		for range levels {
			value = protowire.AppendBytes([]byte{6<<3 | 2}, protowire.AppendBytes([]byte{1<<3 | 2}, value))
		}
		return field("a", value)
	}
	object := func(value []byte) []byte { return protowire.AppendBytes([]byte{5<<3 | 2}, field("in", value)) }
	var many []byte
	for i := range 3000 {
		many = append(many, field(strings.Repeat("k", i), text(strings.Repeat("v", i%17)))...)
	}
	return map[string][]byte{
		"empty":              nil,
		"much":               many,
		"one name twice":     slices.Concat(field("b", text("1")), field("a", text("2")), field("b", text("3"))),
		"unsorted names":     slices.Concat(field("b", text("1")), field("a", text("2"))),
		"no value":           field("a", nil),
		"two kinds":          field("a", slices.Concat(text("1"), []byte{4 << 3, 1})),
		"two objects":        field("a", slices.Concat(object(text("1")), protowire.AppendBytes([]byte{5<<3 | 2}, field("too", text("2"))))),
		"unknown field":      slices.Concat(field("a", text("1")), []byte{7 << 3, 1}),
		"unknown kind":       field("a", []byte{9 << 3, 1}),
		"value before key":   {1<<3 | 2, 7, 2<<3 | 2, 2, 4 << 3, 1, 1<<3 | 2, 1, 'a'},
		"no key":             {1<<3 | 2, 4, 2<<3 | 2, 2, 4 << 3, 1},
		"empty entry":        {1<<3 | 2, 0},
		"long length":        {1<<3 | 2, 0x87, 0x00, 1<<3 | 2, 1, 'a', 2<<3 | 2, 2, 4 << 3, 1},
		"huge length":        {1<<3 | 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
		"length of 4 GB":     {1<<3 | 2, 0xf6, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0, 0},
		"length above 4 GB":  {1<<3 | 2, 0x82, 0x80, 0x80, 0x80, 0x10, 1<<3 | 2, 0},
		"truncated":          field("a", text("12345"))[:9],
		"wrong type":         {1 << 3, 1},
		"null of 1":          field("a", []byte{1 << 3, 1}),
		"boolean of 2":       field("a", []byte{4 << 3, 2}),
		"long boolean":       field("a", []byte{4 << 3, 0x81, 0x00}),
		"invalid key":        field("\xff", text("1")),
		"invalid string":     field("a", text("\xff")),
		"split number":       field("a", []byte{2<<3 | 1, 0, 0}),
		"deep":               nested(900),
		"deeper":             nested(1100),
		"too deep":           nested(6000),
		"group":              {3<<3 | 3, 3<<3 | 4},
		"bytes after number": field("a", slices.Concat([]byte{2<<3 | 1, 0, 0, 0, 0, 0, 0, 0, 0}, text("1"))),
	}
}

func TestWith(t *testing.T) {
	v, x := property.ObjectOf(fields("b", "d")...), property.StringOf("x")
	for name, want := range map[string]string{"a": "axbbdd", "b": "bxdd", "c": "bbcxdd", "e": "bbddex"} {
		set := v.With(name, x)
		expect.Equal(t, want, flat(&set), name)
	}
	for name, want := range map[string]string{"a": "bbdd", "b": "dd", "d": "bb"} {
		without := v.With(name, property.Value{})
		expect.Equal(t, want, flat(&without), name)
	}
	expect.Equal(t, "bbdd", flat(&v), "unchanged")
	same := property.ObjectOf(property.Field{Name: "b", Value: x}, property.Field{Name: "a", Value: x}, property.Field{Name: "b"})
	expect.Equal(t, "axb", flat(&same), "the last of equal names")
}

func flat(v *property.Value) string {
	var b strings.Builder
	for _, f := range v.Fields() {
		b.WriteString(f.Name + f.Value.Text())
	}
	return b.String()
}

// Methods of a nil Value and of other kinds return nothing.
func TestKinds(t *testing.T) {
	var absent *property.Value
	null, list := property.NullOf(), property.ListOf([]property.Field{{Value: property.NumberOf(1)}})
	for _, v := range []*property.Value{absent, {}, &null} {
		if !v.IsNull() || v.Bool() || v.Number() != 0 || v.Text() != "" || v.Get("a") != nil || v.Element(0) != nil || v.Plain() != nil {
			t.Errorf("%v is not empty", v.Plain())
		}
	}
	if property.Equal(absent, &null) || list.Get("") != nil || list.Element(1) != nil || list.Element(0).Number() != 1 {
		t.Error("absent equals null, or an element is wrong")
	}
}

func TestPairs(t *testing.T) {
	v, w := property.ObjectOf(fields("a", "c", "d")...), property.ObjectOf(fields("b", "c")...)
	var got []string
	for p := range property.Pairs(&v, &w) {
		got = append(got, p.Name+p.A.Text()+p.B.Text())
	}
	expect.Equal(t, []string{"aa", "bb", "ccc", "dd"}, got)
	for p := range property.Pairs(&v, nil) {
		expect.Equal(t, "a", p.Name)
		break
	}
}

func fields(names ...string) (all []property.Field) {
	for _, name := range names {
		all = append(all, property.Field{Name: name, Value: property.StringOf(name)})
	}
	return all
}

// A string that outlives its object does not keep a large object in memory.
func TestRetention(t *testing.T) {
	const each = 1 << 20
	big := property.ObjectOf(property.Field{Name: "a", Value: property.StringOf("id")},
		property.Field{Name: "b", Value: property.StringOf(strings.Repeat("x", each))})
	data := property.Encode(&big)
	kept := make([]string, 32)
	before := heap()
	for i := range kept {
		v := must.Get(property.Parse(data))(t)
		kept[i] = v.Get("a").Text()
	}
	clear(data)
	expect.Equal(t, "id", kept[0])
	if after := heap(); after > before+4*each {
		t.Errorf("%d short strings keep %d bytes in memory", len(kept), after-before)
	}
	runtime.KeepAlive(kept)
}

// heap returns the number of bytes in use.
func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
