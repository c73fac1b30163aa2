package lumi

// Kept returns want with the old values wherever a change is ignored.
func (d *Diff) Kept(old, want Bag) Bag { return BagFrom(d.kept(old.Object(), want.Object())) }
