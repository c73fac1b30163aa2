// Package traps has types that are hard to convert for another engine.
//
//lumi:package=acme/traps
package traps

import "github.com/lumi-idl/lumi/idl"

// Config is the configuration of the provider.
type Config struct {
	idl.Config
	Region  string
	Retries *int      `lumi:"optional"`
	Zones   *[]string `lumi:"optional"`
	Key     *string   `lumi:"optional,secret"`
	Labels  any       `lumi:"optional"`
}

// A Lid closes a box.
type Lid struct {
	idl.NamedResource
	Color *Color `lumi:"optional"`
}

// Color is an enum.
type Color string

// The colors.
const (
	Red  Color = "red"
	Blue Color = "blue"
)

// A Box has properties of all kinds.
//
//lumi:was=Case
type Box struct {
	idl.Resource
	// If a program sets no label, the provider generates one.
	Label *string `lumi:"optional,replaces"`
	// If a program sets no size, the provider chooses one.
	Size     *int               `lumi:"optional,computed"`
	Code     *string            `lumi:"optional,equal=caseless,was=cipher"`
	Password *string            `lumi:"optional,in,secret"`
	Parts    *map[string][]Part `lumi:"optional"`
	Shape    *Shape             `lumi:"optional"`
	Extra    any                `lumi:"optional"`

	Lid    *Lid          `lumi:"optional,was=cover"`
	Lids   *[]*Lid       `lumi:"optional"`
	Near   *idl.Resource `lumi:"optional"`
	Closer *Closer       `lumi:"optional"`

	Script *idl.Asset   `lumi:"optional"`
	Files  *idl.Archive `lumi:"optional"`

	Serial string  `lumi:"out,fixed"`
	Token  string  `lumi:"out,secret"`
	Count  int     `lumi:"out"`
	Owner  *string `lumi:"out"`
	Keeper *Lid    `lumi:"out"`
}

// A Part may have parts.
type Part struct {
	Name  string
	Key   *string `lumi:"optional,secret"`
	Inner *Part   `lumi:"optional"`
}

// Shape is one of two shapes.
type Shape struct {
	idl.OneOf
	Round  *Round
	Square *Square
}

// Round is a circle.
type Round struct{ Radius float64 }

// Square has four sides.
type Square struct{ Side float64 }

// A Closer closes a box.
type Closer struct {
	idl.OneOf
	Lid *Lid
	Box *Box
}

// FindLid finds a lid by its color.
type FindLid struct {
	idl.Function
	Color Color
	Lid   *Lid    `lumi:"out"`
	Key   *string `lumi:"out,secret"`
}
