package gates

import "github.com/lumi-idl/lumi/idl"

//lumi:rule !Public || len(Zones) >= 2 // a public gate needs two zones
type reach struct {
	idl.NamedResource
	Public *bool `lumi:"optional"`
	Zones  []string
}

// A Gate lets traffic in.
//
//lumi:rule Kind != GateKindPlain || !has(Motto) // a plain gate has no motto
type Gate struct {
	reach
	Kind  *GateKind `lumi:"optional,default=plain"`
	Motto *string   `lumi:"optional,secret"`
	Ports []PortRange
}

// A PortRange is a range of ports.
//
//lumi:rule Protocol != "tcp" && Protocol != "udp" || From <= To // the first port is above the last
//lumi:rule Protocol != "tcp" || has(From) && has(To) // TCP needs both ports
//lumi:rule Limits.Burst >= Limits.Rate // the burst is "below" the \rate
type PortRange struct {
	Protocol string
	From     *int  `lumi:"optional"`
	To       *int  `lumi:"optional,name=until"`
	Limits   *Flow `lumi:"optional"`
}

type Flow struct {
	Rate  float64
	Burst *float64 `lumi:"optional,default=10"`
}

type GateKind string

const (
	GateKindPlain GateKind = "plain"
	GateKindFancy GateKind = "fancy"
)
