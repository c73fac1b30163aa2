// Package depot describes what the tests of the protocol keep: crates on shelves.
package depot

import "github.com/lumi-idl/lumi/idl"

//go:generate go run github.com/lumi-idl/lumi/cmd/cidlc . --package=depot --out-provider=../depot

// Config is the configuration of the depot.
type Config struct {
	idl.Config
	// Site is where the depot is.
	Site string
	// Password opens the gate.
	Password string `lumi:"secret"`
}

// Shelf holds crates. Programs do not name it.
type Shelf struct {
	idl.Resource
	// Rows is how many rows of crates fit.
	Rows float64
}

// Crate has a property for each thing that the protocol can express.
type Crate struct {
	idl.NamedResource
	// Size cannot change.
	Size float64 `lumi:"replaces"`
	// Lid is what the crate is closed with. A crate with a lock cannot be opened to change it.
	Lid *Lid `lumi:"optional"`
	// Contents says how many there are of each thing.
	Contents *map[string]float64 `lumi:"optional"`
	// Rules is a JSON document, whose white space makes no difference.
	Rules *string `lumi:"optional"`
	// Alias is generated if it is left out.
	Alias *string `lumi:"optional"`
	// Color was once called paint.
	Color *string `lumi:"optional"`
	// Key opens the lock.
	Key *string `lumi:"optional,secret"`
	// Shelf is where the crate stands.
	Shelf *Shelf `lumi:"optional"`
	// Label is printed on the crate, and Papers lie inside.
	Label  *idl.Asset   `lumi:"optional"`
	Papers *idl.Archive `lumi:"optional"`
	// Trouble is what goes wrong with the crate.
	Trouble *Trouble `lumi:"optional"`
	// Serial is the crate's number.
	Serial string `lumi:"out"`
	// Place is the id of the shelf.
	Place *string `lumi:"optional,out"`
	// Seal is what the depot locks the crate with.
	Seal string `lumi:"out,secret"`
}

// Lid is how a crate is closed.
type Lid string

// The lids.
const (
	LidNone  Lid = "none"
	LidNails Lid = "nails"
	LidLock  Lid = "lock"
)

// Trouble is a way in which an operation goes wrong.
type Trouble string

// The troubles.
const (
	TroubleFail  Trouble = "fail"  // Nothing is done.
	TroubleHalf  Trouble = "half"  // Only the contents are done.
	TroubleLost  Trouble = "lost"  // The crate is made, and the answer is lost.
	TroubleBusy  Trouble = "busy"  // The depot asks to come back later.
	TroublePanic Trouble = "panic" // The provider has a bug.
	TroubleSlow  Trouble = "slow"  // The work takes until it is canceled.
)
