package lumigl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// reporter records errors at the current path of a walk.
type reporter struct {
	faults *faults
	path   path
}

// at calls read with key appended to the path.
func (r *reporter) at(key string, read func()) {
	r.path = append(r.path, step{key: key, index: -1})
	read()
	r.path = r.path[:len(r.path)-1]
}

// within calls read with an index appended to the path.
func (r *reporter) within(i int, read func()) {
	r.path = append(r.path, step{index: i})
	read()
	r.path = r.path[:len(r.path)-1]
}

// fault records an error in the value at the current path. offset is the value's position in the source.
func (r *reporter) fault(code Code, offset uint32, format string, args ...any) {
	if r.faults.full() {
		return
	}
	r.faults.add(Fault{
		Code: code, Offset: int(offset), End: wholeToken, Pointer: r.path.pointer(), Message: fmt.Sprintf(format, args...),
	})
}

// meant records an error in the value at the current path, and suggests near unless it is empty.
func (r *reporter) meant(code Code, offset uint32, near, message string) {
	if near != "" {
		message += fmt.Sprintf("; did you mean %q?", near)
	}
	r.faults.add(Fault{
		Code: code, Offset: int(offset), End: wholeToken, Pointer: r.path.pointer(), Message: message, Nearest: near,
	})
}

// faultWithin records an error in the member named key of the value at the current path.
func (r *reporter) faultWithin(key string, code Code, offset uint32, format string, args ...any) {
	r.at(key, func() { r.fault(code, offset, format, args...) })
}

// clip shortens a string for a message. It cuts the middle, since names usually differ at the end.
func clip(s string) string {
	const most, half = 120, 60
	if len(s) <= most {
		return s
	}
	start, end := half, len(s)-half
	for start > half-utf8.UTFMax && !utf8.RuneStart(s[start]) {
		start--
	}
	for end < len(s)-half+utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end++
	}
	return s[:start] + "…" + s[end:]
}

// shown formats a string from the file for a message. It is quoted if it contains unprintable characters.
func shown(s string) string {
	s = clip(s)
	if !utf8.ValidString(s) || strings.ContainsFunc(s, isHidden) {
		return strconv.Quote(s)
	}
	return s
}

// describe returns the name of a value's kind, with the literal of a number.
func describe(v Value) string {
	if v.kind == Number {
		return "the number " + clip(v.text)
	}
	return v.kind.String()
}

// circleFault returns the error for a cycle in which each key refers to the next and the last key to the first.
func circleFault(what string, keys []string) Fault {
	names := make([]string, len(keys)+1)
	for i := range names {
		names[i] = shown(keys[i%len(keys)])
	}
	return Fault{
		Code: CycleFault, Circle: keys,
		Message: what + " form a dependency cycle: " + strings.Join(abridge(names), " → "),
	}
}

// abridge replaces the middle of a long list with a count.
func abridge(names []string) []string {
	if len(names) <= mostInCircle {
		return names
	}
	left := fmt.Sprintf("… %d more …", len(names)-mostInCircle)
	return slices.Concat(names[:mostInCircle/2], []string{left}, names[len(names)-mostInCircle/2:])
}

// mostInCircle limits the number of keys in the message for a cycle.
const mostInCircle = 60
