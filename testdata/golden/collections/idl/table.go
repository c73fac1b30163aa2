package collections

import "github.com/lumi-idl/lumi/idl"

// Table holds lists and maps of everything.
type Table struct {
	idl.NamedResource
	Strings  []string
	Numbers  map[string]float64
	Structs  *[]Column `lumi:"optional"`
	Pointers []*Column
	Nested   map[string][]Column
	Deep     [][]map[string]*bool
	Tables   []Table
	Any      []any
	Values   map[string]any
	Things   []idl.Resource
	Peers    map[string]*Table
	Bundles  []*idl.Archive
	Seen     []string `lumi:"out"`
}

// Column refers to itself.
type Column struct {
	Name     string
	Children []Column
	Parent   *Column `lumi:"optional"`
}
