// Package equal has values that differ only in spelling.
package equal

import "github.com/lumi-idl/lumi/idl"

// A Group of machines that may talk to one another.
type Group struct {
	idl.NamedResource
	Policy *string           `lumi:"optional,equal=json,format=json,replaces"`
	Rules  []Rule            `lumi:"equal=set,unique"`
	Owners []Owner           `lumi:"equal=set,minItems=1"`
	Hosts  *map[string]Owner `lumi:"optional"`
	Since  *string           `lumi:"optional,equal=instant,format=date-time"`
	Every  string            `lumi:"equal=duration"`
}

// A Rule lets somebody in.
type Rule struct {
	Port   string  `lumi:"equal=decimal"`
	Except *[]Rule `lumi:"optional,equal=set"`
}

// An Owner is a name in any case.
//
//lumi:equal=caseless,maxLength=64
type Owner string
