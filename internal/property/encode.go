package property

import (
	"encoding/binary"
)

// Encode returns the wire format of the object v, as a Struct. It does not check that strings are valid UTF-8.
func Encode(v *Value) []byte {
	w := writer{}
	w.object(v.Fields())
	return w.data[w.free:]
}

// writer writes from the end of a message to its start, since the length of a field precedes its content.
type writer struct {
	data []byte
	free int // data[free:] is written
}

// take returns the n bytes before those already written.
func (w *writer) take(n int) []byte {
	if w.free < n {
		written := w.data[w.free:]
		w.data = make([]byte, 2*len(w.data)+n+minSize)
		w.free = len(w.data) - len(written)
		copy(w.data[w.free:], written)
	}
	w.free -= n
	return w.data[w.free : w.free+n]
}

// minSize is the minimum number of bytes to allocate.
const minSize = 512

func (w *writer) object(fields []Field) {
	for i := len(fields) - 1; i >= 0; i-- {
		entry := w.end()
		value := w.end()
		w.value(&fields[i].Value)
		w.begin(tagValue, value)
		w.string(tagKey, fields[i].Name)
		w.begin(tagFields, entry)
	}
}

func (w *writer) value(v *Value) {
	switch v.kind {
	case Absent, Null:
		copy(w.take(2), []byte{tagNull, 0})
	case Bool:
		copy(w.take(2), []byte{tagBool, byte(v.bits)})
	case Number:
		binary.LittleEndian.PutUint64(w.take(8), v.bits)
		w.take(1)[0] = tagNumber
	case String:
		w.string(tagString, v.Text())
	case Object:
		object := w.end()
		w.object(v.parts())
		w.begin(tagObject, object)
	case List:
		list := w.end()
		for elements, i := v.parts(), len(v.parts())-1; i >= 0; i-- {
			element := w.end()
			w.value(&elements[i].Value)
			w.begin(tagValues, element)
		}
		w.begin(tagList, list)
	}
}

func (w *writer) string(tag byte, s string) {
	end := w.end()
	copy(w.take(len(s)), s)
	w.begin(tag, end)
}

// end returns the end of a field, for begin.
func (w *writer) end() int { return len(w.data) - w.free }

// begin writes the tag and the length of a field whose content has been written.
func (w *writer) begin(tag byte, end int) {
	size := len(w.data) - w.free - end
	if size < 0x80 {
		b := w.take(2)
		b[0], b[1] = tag, byte(size)
		return
	}
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(size))
	copy(w.take(n), length[:n])
	w.take(1)[0] = tag
}
