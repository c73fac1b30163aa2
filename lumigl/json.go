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
	// As in [Parser.Parse], most texts have no faults, and need no guess about what was meant.
	f := &faults{max: 1}
	if syntax := p.syntax(src, f); syntax != nil {
		syntax.once = true
		if v := syntax.document(); !f.full() {
			return v, nil
		}
	}
	f = p.newFaults()
	syntax := p.syntax(src, f)
	if syntax == nil {
		return Value{}, f.errIn("")
	}
	v := syntax.document()
	return v, f.errIn(src)
}
