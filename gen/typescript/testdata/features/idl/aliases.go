package features

// Name is another word for string.
type Name string

// Weights maps names to numbers.
type Weights map[Name]float64

// Tree is a map of structs that hold such maps.
type Tree map[string]Branch

// Branch closes the circle.
type Branch struct{ Tree Tree }

// Nest is a list of an alias.
type (
	Nest   []Nested
	Nested map[Level]Branch
)

// Levels is a list of something in another file.
type Levels []Level
