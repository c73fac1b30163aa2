package features

import "github.com/lumi-idl/lumi/idl"

// Limits has properties with constraints.
type Limits struct {
	idl.Resource
	Port   float64           `lumi:"min=1,max=65535"`
	Ratio  *float64          `lumi:"optional,exclusiveMin=0,exclusiveMax=1,multipleOf=0.25"`
	Big    *Whole            `lumi:"optional,max=1e6"`
	Label  *string           `lumi:"optional,minLength=1,maxLength=5"`
	Code   *string           `lumi:"optional,secret,pattern='^\"\\d{3},\\w'"`
	Home   *string           `lumi:"optional,format=uri"`
	Hosts  *[]Host           `lumi:"optional,minItems=1,maxItems=2,unique"`
	Shares *map[Host][]Share `lumi:"optional,minProperties=1,maxProperties=2,keyPattern='^[a-z]+'"`
	Inner  *[]Peer           `lumi:"optional,minItems=1"`
}

// Host is a name.
//
//lumi:pattern='^[a-z]\w*$',says='a host name'
type Host string

type (
	//lumi:min=0,max=100
	Share float64
	//lumi:multipleOf=1
	Whole float64
)

// Peer is a struct with a constraint.
type Peer struct {
	Address string `lumi:"format=ipv4"`
}
