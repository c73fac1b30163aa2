package lumi

// Kept returns the properties that are wanted, with old ones at the places whose changes are ignored.
func (d *Diff) Kept(old, want Bag) Bag { return Bag{d.kept(old.message, want.message)} }
