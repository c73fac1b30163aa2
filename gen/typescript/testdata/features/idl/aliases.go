package features

// Name is another word for string.
type Name string

// Weights maps names to numbers.
type Weights map[Name]float64

// Tree is a map of itself.
type Tree map[string]Tree

// Nest and Nested are lists and maps of each other.
type Nest []Nested
type Nested map[Level]Nest

// Rules is a list of something in another module.
type Rules []Level
