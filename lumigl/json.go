package lumigl

// ParseValue reads any JSON, as strictly as [Parser.Parse] reads files. Nothing in it is taken for a reference. The
// error is an *[InvalidError].
func (p Parser) ParseValue(src string) (Value, error) {
	v, invalid := p.parseValue(src)
	if invalid == nil {
		return v, nil
	}
	if conflicts := conflictsIn(src); conflicts != nil {
		return Value{}, p.conflicted(src, conflicts, func(side string) *InvalidError {
			_, invalid := p.parseValue(side)
			return invalid
		})
	}
	return Value{}, invalid
}

func (p Parser) parseValue(src string) (Value, *InvalidError) {
	f := p.newFaults()
	syntax := p.syntax(src, f)
	if syntax == nil {
		return Value{}, f.errIn("")
	}
	v := syntax.document()
	return v, f.errIn(src)
}
