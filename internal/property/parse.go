package property

import (
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf8"
	"unsafe"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// Parse decodes an object from the wire format of a Struct. Its errors are those of [proto.Unmarshal], which decodes all
// messages other than the usual ones, such as those with unknown fields or invalid UTF-8.
func Parse(data []byte) (Value, error) {
	p := parser{}
	if p.owned = len(data) <= maxShared; p.owned {
		p.text = string(data)
	} else {
		p.text = unsafe.String(unsafe.SliceData(data), len(data))
	}
	if v, ok := p.object(len(data), 0); ok {
		return v, nil
	}
	s := &structpb.Struct{}
	if err := proto.Unmarshal(data, s); err != nil {
		return Value{}, err
	}
	return FromStruct(s), nil
}

// The tags of the fields of Struct, its map entries, ListValue, and Value.
const (
	tagFields = 1<<3 | lengthType
	tagKey    = 1<<3 | lengthType
	tagValue  = 2<<3 | lengthType
	tagValues = 1<<3 | lengthType

	tagNull   = 1 << 3
	tagNumber = 2<<3 | 1
	tagString = 3<<3 | lengthType
	tagBool   = 4 << 3
	tagObject = 5<<3 | lengthType
	tagList   = 6<<3 | lengthType

	// lengthType is the wire type of a field that starts with its length.
	lengthType = 2
)

// maxDepth is the maximum depth of values that a parser handles. It is below the limit of package proto.
const maxDepth = 1000

// parser decodes text. Its methods return false for messages that it does not handle.
type parser struct {
	text string
	at   int
	// owned is set if results may be parts of text. Otherwise, text shares memory with the caller's data.
	owned bool
	// shared is the memory of short strings.
	shared strings.Builder
}

// maxShared is the maximum number of bytes that strings share. A program that keeps one string keeps all of them in memory.
const maxShared = 16 << 10

// keep returns a part of text, or a copy of it, for use in results.
func (p *parser) keep(s string) string {
	switch {
	case p.owned:
		return s
	case len(s) > maxShared/8:
		return strings.Clone(s)
	}
	if p.shared.Cap()-p.shared.Len() < len(s) {
		p.shared.Reset()
		p.shared.Grow(maxShared)
	}
	start := p.shared.Len()
	p.shared.WriteString(s)
	return p.shared.String()[start:]
}

// object decodes a Struct that ends at end.
func (p *parser) object(end, depth int) (Value, bool) {
	count, ok := p.count(end)
	if !ok || depth > maxDepth {
		return Value{}, false
	}
	fields := make([]Field, count)
	for i := range fields {
		f := &fields[i]
		entry, ok := p.open(tagFields, end)
		if !ok || !p.string(tagKey, entry, &f.Name) {
			return Value{}, false
		}
		if value, ok := p.open(tagValue, entry); !ok || value != entry || !p.value(&f.Value, entry, depth) {
			return Value{}, false
		}
	}
	return ObjectOf(fields...), true
}

// list decodes a ListValue that ends at end.
func (p *parser) list(end, depth int) (Value, bool) {
	count, ok := p.count(end)
	if !ok || depth > maxDepth {
		return Value{}, false
	}
	elements := make([]Field, count)
	for i := range elements {
		if element, ok := p.open(tagValues, end); !ok || !p.value(&elements[i].Value, element, depth) {
			return Value{}, false
		}
	}
	return ListOf(elements), true
}

// value decodes a Value that ends at end.
func (p *parser) value(v *Value, end, depth int) (ok bool) {
	if p.at == end {
		return false
	}
	switch tag := p.text[p.at]; tag {
	case tagNull, tagBool:
		if end != p.at+2 || p.text[p.at+1] > 1 || tag == tagNull && p.text[p.at+1] != 0 {
			return false
		}
		if *v = NullOf(); tag == tagBool {
			*v = BoolOf(p.text[p.at+1] == 1)
		}
		p.at = end
		return true
	case tagNumber:
		if end != p.at+9 {
			return false
		}
		var bits [8]byte
		copy(bits[:], p.text[p.at+1:end])
		*v = NumberOf(math.Float64frombits(binary.LittleEndian.Uint64(bits[:])))
		p.at = end
		return true
	case tagString:
		var s string
		ok = p.string(tag, end, &s) && p.at == end
		*v = StringOf(s)
	case tagObject, tagList:
		if content, ok := p.open(tag, end); !ok || content != end {
			return false
		}
		if tag == tagObject {
			*v, ok = p.object(end, depth+1)
		} else {
			*v, ok = p.list(end, depth+1)
		}
	}
	return ok
}

// count returns the number of fields until end. It does not move.
func (p *parser) count(end int) (int, bool) {
	start := p.at
	for n := 0; ; n++ {
		if p.at == end {
			p.at = start
			return n, true
		}
		next, ok := p.open(tagFields, end)
		if !ok {
			return 0, false
		}
		p.at = next
	}
}

// string decodes a string, which must end at end or before.
func (p *parser) string(tag byte, end int, into *string) bool {
	stop, ok := p.open(tag, end)
	if !ok {
		return false
	}
	s := p.text[p.at:stop]
	if p.at = stop; !utf8.ValidString(s) {
		return false
	}
	*into = p.keep(s)
	return true
}

// open moves to the content of a field and returns the end of the content, which is at or before end.
func (p *parser) open(tag byte, end int) (int, bool) {
	if p.at >= end || p.text[p.at] != tag {
		return 0, false
	}
	p.at++
	for size, shift := uint64(0), 0; p.at < end && shift < 35; shift += 7 {
		b := p.text[p.at]
		p.at++
		if size |= uint64(b&0x7f) << shift; b < 0x80 {
			return p.at + int(size), size <= uint64(end-p.at)
		}
	}
	return 0, false
}
