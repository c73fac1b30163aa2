package features

import "github.com/lumi-idl/lumi/idl"

// Pool has whole numbers everywhere that a value can be.
type Pool struct {
	idl.Resource
	Size   *int            `lumi:"optional,default=3,min=1,max=100"`
	Limit  *int            `lumi:"optional,default=9007199254740991"`
	Offset int             `lumi:"secret"`
	Ports  []int           `lumi:"unique"`
	Zones  map[string]Rank `lumi:"minProperties=1"`
	Serial string          `lumi:"format=int64"`
	Used   int             `lumi:"out"`
	Ranks  []Rank          `lumi:"out"`
}

// Rank is the place in a queue.
//
//lumi:min=0
type Rank int
