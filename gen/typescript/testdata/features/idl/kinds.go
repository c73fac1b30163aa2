package features

import (
	"github.com/lumi-idl/lumi/gen/typescript/testdata/features/idl/net"
	"github.com/lumi-idl/lumi/idl"
)

// Kinds has properties of every kind, all of them required.
type Kinds struct {
	idl.NamedResource
	Flag    bool
	Count   float64
	Text    string
	Level   Level
	Mode    mode
	Free    any
	Alias   Name
	Tree    Tree
	Nest    Nest
	Levels  Levels
	Rule    Rule
	Other   net.Rule
	Asset   *idl.Asset
	Archive *idl.Archive
	Peer    *Kinds
	Network *net.Network
	Any     *idl.Resource
	List    []string
	Lists   [][]net.Rule
	Map     map[string]float64
	Maps    map[string]map[string]net.Rule
	Keyed   map[Level]Rule
	Weights Weights
	Peers   []*Kinds
	Near    map[string]net.Network
}

// Options has properties with every option.
type Options struct {
	idl.Resource
	// Optional is
	// documented on two lines.
	Optional    *string          `lumi:"optional"`
	Free        any              `lumi:"optional"`
	Network     *net.Network     `lumi:"optional"`
	List        *[]string        `lumi:"optional"`
	Replaces    *string          `lumi:"optional,replaces"`
	In          *string          `lumi:"optional,in"`
	Secret      *string          `lumi:"optional,secret"`
	Secrets     *Proxy           `lumi:"optional,in,secret"`
	SecretMap   *map[string]Size `lumi:"optional,secret"`
	Proxy       *Proxy           `lumi:"optional"`
	Level       *Level           `lumi:"optional"`
	Size        *Size            `lumi:"optional"`
	Renamed     *string          `lumi:"name=NewName,optional"`
	Out         string           `lumi:"out"`
	OutOptional *float64         `lumi:"out,optional"`
	OutRule     *net.Rule        `lumi:"out"`
	OutPeer     *Kinds           `lumi:"out"`
	OutAny      any              `lumi:"out"`
	OutSecret   string           `lumi:"out,secret"`
}

// Rule has the name of a struct in another module.
type Rule struct {
	From  float64
	To    *float64 `lumi:"optional"`
	Inner *Rule    `lumi:"optional"`
	Level *Level   `lumi:"optional"`
}

// Base is there to be embedded.
type Base struct {
	Owner   string `lumi:"replaces"`
	Created string `lumi:"out"`
}

type mixin struct {
	idl.NamedResource
	Base
	Mixed *bool `lumi:"optional"`
}

// Mixed takes properties from a mixin.
type Mixed struct {
	mixin
	Own string
}

// Empty has no properties.
type Empty struct{}

// Bare has no properties.
type Bare struct{ idl.Resource }

// BareNamed has a name and no other property.
type BareNamed struct{ idl.NamedResource }

// Computed has no property that a program could set.
type Computed struct {
	idl.Resource
	Value string `lumi:"out"`
}

// AResourceWithANameThatTakesALine does not fit beside what its class extends and implements.
type AResourceWithANameThatTakesALine struct {
	idl.NamedResource
	Empty *Empty `lumi:"optional"`
}
