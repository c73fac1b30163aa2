package features

import "github.com/lumi-idl/lumi/idl"

// Types that are called like globals of TypeScript.
type (
	Record  struct{ Key string }
	Array   struct{ Items []Record }
	Object  struct{ idl.Resource }
	Promise struct {
		idl.NamedResource
		Array  *Array             `lumi:"optional"`
		Record *map[string]Record `lumi:"optional"`
		Date   *Date              `lumi:"optional"`
	}
	Date     string
	Partial  struct{ Readonly Readonly }
	Readonly string
	Symbol   struct{ Function *Function }
	Function struct{ idl.Resource }
	Error    []Record
	Map      map[string]Record
)

const (
	ReadonlyYes Readonly = "yes"
	ReadonlyNo  Readonly = "no"
	Infinity             = 1
	NaN                  = 2
)
