package lumi

// Kept returns want with the old values wherever a change is ignored.
func (d *Diff) Kept(old, want Bag) Bag { return Bag{d.kept(old.message, want.message)} }
