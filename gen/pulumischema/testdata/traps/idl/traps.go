// Package traps has everything that a Pulumi schema can say, and documentation with \d, */, """, {{% x %}} and `code`.
//
//lumi:package=acme/traps,npm=@acme/traps
package traps

import "github.com/lumi-idl/lumi/idl"

// Account is the configuration.
//
// Deprecated: use the environment.
type Account struct {
	idl.Config
	// The region, such as \d \u \x \N{ */ """ or "
	Region string
	// The token.
	Token   *string            `lumi:"optional,secret"`
	Retries *int               `lumi:"optional,default=3"`
	Tags    *map[string]string `lumi:"optional"`
	Options *options           `lumi:"optional"`
}

// options contains itself.
type options struct {
	ID     string
	URN    string
	Secret string                `lumi:"secret"`
	Inner  *[]options            `lumi:"optional"`
	ByName *map[string][]options `lumi:"optional"`
	Value  any
	Level  Level
	Length *int `lumi:"optional,default=1"`
}

// A Level is a level.
//
// Deprecated: use numbers.
type Level string

// The levels.
const (
	// LevelLow is low \d \u \x \N{ */ """ or "
	LevelLow Level = "low"
	// LevelHigh is high.
	//
	// Deprecated: use "LevelLow" \\d */ ''' """.
	LevelHigh Level = "high \" \\ */"
)

// Matrix is an alias.
type Matrix [][]options

// Names is an alias with enum keys.
type Names map[Level]string

// A Lid closes a thing \d \u \x \N{ */ """ or "
type Lid struct {
	idl.OneOf
	// The lid has a thread.
	Screw *Screw
	Cork  *Cork
}

// A Screw has turns.
type Screw struct {
	Turns int `lumi:"min=1"`
}

// A Cork is as wide as a bottle: \
type Cork struct {
	Size float64
}

// Either is a resource.
type Either struct {
	idl.OneOf
	Thing *Thing
	Other *Other
}

// A Thing has a property of each type, \d \u \x \N{ */ """ or "
//
//lumi:was='Thang,acme/traps:net:Thing'
//lumi:rule !has(Size) || Size > 2 // size must be more than 2
type Thing struct {
	idl.NamedResource
	Size     *int                   `lumi:"optional,default=3,min=1,was=length"`
	Big      *float64               `lumi:"optional,default=3000000000"`
	Level    *Level                 `lumi:"optional,default=low"`
	Names    *Names                 `lumi:"optional"`
	Matrix   *Matrix                `lumi:"optional"`
	Lid      *Lid                   `lumi:"optional"`
	Other    *Other                 `lumi:"optional,replaces"`
	Others   *[]*Other              `lumi:"optional"`
	Whatever *idl.Resource          `lumi:"optional"`
	Either   *Either                `lumi:"optional"`
	Asset    *idl.Asset             `lumi:"optional"`
	Archive  *idl.Archive           `lumi:"optional"`
	Assets   *map[string]*idl.Asset `lumi:"optional"`
	Password *string                `lumi:"optional,in,secret"`
	Zone     *string                `lumi:"optional,computed"`
	// An old property \d \u \x \N{ */ """ or "
	Old     *string              `lumi:"optional,deprecated='use \"size\" */ \\\"\\\"\\\"'"`
	Deep    *[][]map[string]bool `lumi:"optional"`
	Enabled bool
	ARN     string   `lumi:"out,fixed"`
	Secrets []string `lumi:"out,secret"`
	Free    any      `lumi:"out"`
}

// Other belongs to a thing.
//
// Deprecated: use "Thing" \\d */
// or `nothing` 'x' """ ${x} #.
type Other struct {
	idl.Resource
	Thing *Thing
}

// FindThing finds a thing \d \u \x \N{ */ """ or "
//
// Deprecated: look "it" \\ */ 'x' """
// up.
type FindThing struct {
	idl.Function
	Level   Level
	Options *options  `lumi:"optional"`
	Found   []options `lumi:"out"`
	Key     string    `lumi:"out,secret"`
	Thing   *Thing    `lumi:"out"`
}
