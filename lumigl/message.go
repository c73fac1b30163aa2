package lumigl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// reporter notes faults where a walk has got to.
type reporter struct {
	faults *faults
	path   path
}

// at calls read with a key at the end of the path.
func (r *reporter) at(key string, read func()) {
	r.path = append(r.path, step{key: key, index: -1})
	read()
	r.path = r.path[:len(r.path)-1]
}

// within calls read with an index at the end of the path.
func (r *reporter) within(i int, read func()) {
	r.path = append(r.path, step{index: i})
	read()
	r.path = r.path[:len(r.path)-1]
}

// fault notes what is wrong with what stands at an offset.
func (r *reporter) fault(code Code, offset uint32, format string, args ...any) {
	if r.faults.full() {
		return
	}
	r.faults.add(Fault{
		Code: code, Offset: int(offset), End: wholeToken, Pointer: r.path.pointer(), Message: fmt.Sprintf(format, args...),
	})
}

// meant notes what is wrong with what stands at an offset, and what was probably meant by it, if anything.
func (r *reporter) meant(code Code, offset uint32, near, message string) {
	if near != "" {
		message += fmt.Sprintf("; did you mean %q?", near)
	}
	r.faults.add(Fault{
		Code: code, Offset: int(offset), End: wholeToken, Pointer: r.path.pointer(), Message: message, Nearest: near,
	})
}

// faultWithin notes what is wrong with a member.
func (r *reporter) faultWithin(key string, code Code, offset uint32, format string, args ...any) {
	r.at(key, func() { r.fault(code, offset, format, args...) })
}

// clip leaves out the middle of a text from the file so that it fits into a message. What tells names apart stands at
// their ends.
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

// shown is how a text from the file stands in a message: as it is, if it can be seen, else with escapes.
func shown(s string) string {
	s = clip(s)
	if !utf8.ValidString(s) || strings.ContainsFunc(s, isHidden) {
		return strconv.Quote(s)
	}
	return s
}

// describe says what a value is, and of short ones what it says.
func describe(v Value) string {
	if v.kind == Number {
		return "the number " + clip(v.text)
	}
	return v.kind.String()
}

// circleFault is the fault of resources or vertices each of which refers to the next, and the last to the first.
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

// abridge leaves out the middle of a list that nobody would read.
func abridge(names []string) []string {
	if len(names) <= mostInCircle {
		return names
	}
	left := fmt.Sprintf("… %d more …", len(names)-mostInCircle)
	return slices.Concat(names[:mostInCircle/2], []string{left}, names[len(names)-mostInCircle/2:])
}

// mostInCircle is how many resources of a circle are named.
const mostInCircle = 60
