package lumigl

import "fmt"

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
