package aliases

import "github.com/lumi-idl/lumi/idl"

// ARN is a name for strings.
type ARN string

type (
	// Flag is a name for booleans.
	Flag bool
	// Seconds is a name for numbers.
	Seconds float64
	// Tags is a name for maps.
	Tags map[string]string
	// Rules is a name for lists.
	Rules []Rule
	// Tree is two maps deep.
	Tree map[string]Tags
	// ByARN has keys that are an alias.
	ByARN map[ARN]*Rule
)

// Rule is held by an alias.
type Rule struct {
	ARN   ARN
	Tags  *Tags `lumi:"optional"`
	Nests *Tree `lumi:"optional"`
}

// Queue uses them.
type Queue struct {
	idl.NamedResource
	ARN     ARN   `lumi:"out"`
	Flag    *Flag `lumi:"optional"`
	Delay   Seconds
	Tags    Tags
	Rules   *Rules `lumi:"optional"`
	Tree    *Tree  `lumi:"optional"`
	ByARN   *ByARN `lumi:"optional"`
	Matrix  [][]Seconds
	History *[]Tags `lumi:"out"`
}
