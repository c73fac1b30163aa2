package features

// Level is how much to say.
type Level string

const (
	// LevelLow says little.
	LevelLow  Level = "low"
	LevelHigh Level = "high"
	LevelNew  Level = "new"
)

// mode is visible to the files of the folder alone.
type mode string

const (
	constructor mode = "constructor"
	class       mode = "class"
	quoted      mode = "a \"b\"\n"
)

// Size has more values than a message lists.
type Size string

const (
	S1 Size = "s1"
	S2 Size = "s2"
	S3 Size = "s3"
	S4 Size = "s4"
	S5 Size = "s5"
	S6 Size = "s6"
	S7 Size = "s7"
	S8 Size = "s8"
	S9 Size = "s9"
	S0 Size = "s10"
)

// ALongNameForAThing is too long for one line in several places.
type ALongNameForAThing string

const (
	ALongNameForAThingOne   ALongNameForAThing = "one value that takes its place"
	ALongNameForAThingTwo   ALongNameForAThing = "another value that takes its place"
	ALongNameForAThingThree ALongNameForAThing = "yet another value that takes its place"
)
