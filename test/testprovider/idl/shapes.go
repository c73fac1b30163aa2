// Package feature contains every kind of declaration, option and type in the IDL. Its stubs are used by the tests of
// the runtime and the generator.
package feature

// MaxDisks is a whole number.
const MaxDisks = 5

// Pi is a fraction, and Ratio one that divides like a float64.
const (
	Pi    = 3.14159
	Ratio = 2.0
)

const greeting, Shout = "hello \"you\"\n", true

// Color is an enum.
type Color string

const (
	// Red is the first color.
	Red   Color = "red"
	Green Color = "green"
	// DarkBlue is computed.
	DarkBlue Color = "dark" + "-blue"
)

// mood is an enum that is not exported.
type mood string

const (
	moodGood mood = "good"
	moodBad  mood = "bad"
)

// Tags is an alias of a map, and Name an alias of a string.
type (
	Tags map[string]string
	Name string
)

// Points is an alias of a list of structs.
type Points []Point

// Point is a struct that others use, also in other modules.
type Point struct {
	X, Y  float64
	Label *Name `lumi:"optional"`
	Mood  *mood `lumi:"optional"`
}

// Tree is a recursive struct.
type Tree struct {
	Value  string
	Left   *Tree            `lumi:"optional"`
	Leaves *[]Tree          `lumi:"optional"`
	Named  *map[string]Tree `lumi:"optional"`
}

// Empty has no properties.
type Empty struct{}

// inner is a struct that is not exported.
type inner struct {
	Secret *string `lumi:"optional,secret"`
}

// Outer refers to it.
type Outer struct {
	Inner inner
	Type  string
}
