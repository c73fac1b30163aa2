package lumi

// Kept returns the wanted properties, with old values in place of ignored changes.
func (d *Diff) Kept(old, want Bag) Bag { return Bag{d.kept(old.message, want.message)} }
