package lumigl

import "fmt"

// ParseValue reads any JSON, as strictly as [Parser.Parse] reads files. Nothing in it is taken for a reference. The
// error is an *[InvalidError].
func (p Parser) ParseValue(src string) (Value, error) {
	f := &faults{max: p.MaxFaults}
	if f.max <= 0 {
		f.max = defaultMaxFaults
	}
	if most := p.maxSize(); int64(len(src)) > most {
		f.add(Fault{Code: SizeFault, Message: fmt.Sprintf("the file is larger than %d bytes", most)})
		return Value{}, f.errIn("")
	}
	syntax := &parser{src: src, faults: f, depth: p.MaxDepth}
	if syntax.depth <= 0 {
		syntax.depth = defaultMaxDepth
	}
	v := syntax.document()
	if err := f.errIn(src); err != nil {
		return Value{}, err
	}
	return v, nil
}
