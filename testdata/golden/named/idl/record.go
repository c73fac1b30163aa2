package named

import "github.com/lumi-idl/lumi/idl"

// Record is a record in a zone.
type Record struct {
	names
	// Zone is the zone.
	Zone string `lumi:"replaces"`
}

// names are the names of records.
type names struct {
	idl.NamedResource `lumi:"minLength=3,maxLength=63,pattern='^[a-z0-9-]+$',says='a host name',nameScope=zone"`
}
