// Package names has all kinds of names that SDKs cannot have.
package names

import "github.com/lumi-idl/lumi/idl"

type Account struct {
	idl.Config
	Version string
	Class   string
	GetHost string `lumi:"name=getProvider"`
}

type Object struct {
	idl.Resource
	Pulumi string
	Get    string
	Type   string `lumi:"name=pulumiResourceType"`
	Hidden string `lumi:"name=_hidden"`
	HTTPS  string `lumi:"name=https"`
	Https  string `lumi:"name=httpS"`
	Part   Part
	Lists  PartArgs
	False  *False `lumi:"optional"`
	Color  Color
	Words  String
}

type Part struct {
	Size int
}

type PartArgs struct {
	Size int
}

type False struct {
	Size int
}

type Color string

const (
	ColorRed Color = "red"
	ColorRED Color = "RED"
)

type String string

const StringA String = "a"

type Outputs struct {
	idl.Resource
	Size int
}

type Provider struct {
	idl.Resource
	Size int
}

type Doc struct {
	idl.Function
	Options string `lumi:"name=opts"`
	Text    string `lumi:"name=pulumi,out"`
}

type DocOutput struct {
	idl.Resource
	Size int
}

type Utilities struct {
	idl.Function
	Text string `lumi:"name=opts,out"`
}

type File_linux struct {
	idl.Resource
	Size int
}

type Größe struct {
	idl.Resource
	Size int
}

type Lamp struct {
	idl.Resource
	Size int
}

type twin string

const twinA twin = "a"

type Twin string

const TwinB Twin = "b"

type Twins struct {
	idl.Resource
	Left  twin
	Right Twin
}

// unused is in no property, so SDKs do not have it.
type unused struct {
	Pulumi string
}
