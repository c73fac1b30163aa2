package property

import (
	"encoding/binary"
)

// Append appends the wire format of the object v, as a Struct, to data. It does not check that strings are valid UTF-8.
func Append(data []byte, v *Value) []byte {
	w := writer{data}
	w.object(v.Fields())
	return w.data
}

type writer struct{ data []byte }

func (w *writer) object(fields []Field) {
	for i := range fields {
		entry := w.begin(tagFields)
		w.string(tagKey, fields[i].Name)
		value := w.begin(tagValue)
		w.value(&fields[i].Value)
		w.end(value)
		w.end(entry)
	}
}

func (w *writer) value(v *Value) {
	switch v.kind {
	case Absent, Null:
		w.data = append(w.data, tagNull, 0)
	case Bool:
		w.data = append(w.data, tagBool, byte(v.bits))
	case Number:
		w.data = binary.LittleEndian.AppendUint64(append(w.data, tagNumber), v.bits)
	case String:
		w.string(tagString, v.Text())
	case Object:
		object := w.begin(tagObject)
		w.object(v.parts())
		w.end(object)
	case List:
		list := w.begin(tagList)
		for elements, i := v.parts(), 0; i < len(elements); i++ {
			element := w.begin(tagValues)
			w.value(&elements[i].Value)
			w.end(element)
		}
		w.end(list)
	}
}

func (w *writer) string(tag byte, s string) {
	w.data = append(binary.AppendUvarint(append(w.data, tag), uint64(len(s))), s...)
}

// begin begins a field with one byte reserved for its length. It returns the start of the field's content.
func (w *writer) begin(tag byte) int {
	w.data = append(w.data, tag, 0)
	return len(w.data)
}

// end ends a field whose content starts at start. If its length takes more than one byte, it moves the content.
func (w *writer) end(start int) {
	size := len(w.data) - start
	if size < 0x80 {
		w.data[start-1] = byte(size)
		return
	}
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(size))
	w.data = append(w.data, length[1:n]...)
	copy(w.data[start+n-1:], w.data[start:start+size])
	copy(w.data[start-1:], length[:n])
}
