package lumi

import "context"

// mark holds what a decoded object cannot say about the value at a path, and about the parts of that value. Encoding
// the object with it restores the bag. A nil mark is empty. Marks form a tree, so that a walk finds the mark of a
// value by a single step from that of the value around it, however long the paths are.
type mark struct {
	unknown bool // not known yet
	secret  bool // came wrapped
	missing bool // was required and absent
	parts   map[step]*mark
}

// part returns the mark of a part, and makes it if need be.
func (m *mark) part(s step) *mark {
	part := m.parts[s]
	if part == nil {
		part = &mark{}
		if m.parts == nil {
			m.parts = map[step]*mark{}
		}
		m.parts[s] = part
	}
	return part
}

// takeMissing takes away what says that values were missing. It returns the parts of m that were.
func (m *mark) takeMissing() []step {
	if m == nil {
		return nil
	}
	var missing []step
	for s, part := range m.parts {
		if part.missing {
			missing = append(missing, s)
		}
		part.missing = false
		part.takeMissing()
	}
	return missing
}

// secretParts lists the properties of a bag that are secrets or have one inside.
func (m *mark) secretParts() []string {
	if m == nil {
		return nil
	}
	var names []string
	for s, part := range m.parts {
		if part.hasSecretElement(true) {
			names = append(names, s.name)
		}
	}
	return names
}

// hasSecretElement reports whether a secret came in an element of a list. The value itself may be in such.
func (m *mark) hasSecretElement(inElement bool) bool {
	if m == nil {
		return false
	}
	if m.secret && inElement {
		return true
	}
	for s, part := range m.parts {
		if part.hasSecretElement(inElement || s.isElement()) {
			return true
		}
	}
	return false
}

// unknowns lists the paths of unknown values until ctx is done. The path is that of m.
func (m *mark) unknowns(ctx context.Context, path []byte, into Paths) Paths {
	if m == nil || ctx.Err() != nil {
		return into
	}
	if m.unknown {
		into = into.add(Path(path))
	}
	for s, part := range m.parts {
		into = part.unknowns(ctx, s.append(path, false), into)
	}
	return into
}
