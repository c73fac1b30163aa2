package lumigl

// ParseValue reads any JSON, as strictly as [Parser.Parse] reads files. Nothing in it is taken for a reference. The
// error is an *[InvalidError].
func (p Parser) ParseValue(src string) (Value, error) {
	f := p.newFaults()
	syntax := p.syntax(src, f)
	if syntax == nil {
		return Value{}, f.errIn("")
	}
	v := syntax.document()
	if invalid := f.errIn(src); invalid != nil {
		return Value{}, invalid
	}
	return v, nil
}
