// @module has a comment whose lines look like tags:
//
//	@internal
package features

import "github.com/lumi-idl/lumi/idl"

// Ports that servers listen on, see @internal and {@link Ports}.
const (
	PortHTTP = 80

	// PortTLS is for HTTPS.
	PortTLS = 443

	PortOther = 8080 // @internal
)

// Names of old.
//
// Deprecated: use names@internal.example or @new ones.
const (
	NameA = "a"

	// NameB is older.
	NameB = "b"

	// NameC is the oldest.
	//
	// Deprecated: use nothing.
	NameC = "c"
)

// Parts of a machine.
type (
	Wheel struct {
		// @internal
		// @param size of the wheel
		Size *float64 `lumi:"optional,deprecated='use @internal'"`
		Mail *string  `lumi:"optional,default='@internal'"` // a@b.example, c @ d
	}

	// Axle is @alpha.
	Axle struct{ Wheels []Wheel }

	// Deprecated: machines have parts.
	Part string
)

// @internal
type Machine struct {
	idl.Resource
	Axles *[]Axle `lumi:"optional"`
}
