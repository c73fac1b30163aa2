// Package machine defines the resources of the runtime's benchmarks.
package machine

//go:generate go run github.com/lumi-idl/lumi/cmd/cidlc . --package bench --out-provider=../machine

import "github.com/lumi-idl/lumi/idl"

// Server has 15 properties, including a list of structs and a map.
type Server struct {
	idl.NamedResource
	Image     string `lumi:"replaces"`
	Zone      string
	Owner     string
	Kernel    *string `lumi:"optional"`
	User      *string `lumi:"optional"`
	Cores     float64
	Memory    float64
	Swap      *float64 `lumi:"optional"`
	Public    bool
	Monitored bool
	Spot      *bool              `lumi:"optional"`
	Disks     *[]Disk            `lumi:"optional"`
	Tags      *map[string]string `lumi:"optional"`
	Addresses *[]string          `lumi:"optional"`
}

// Disk is one of a server's disks.
type Disk struct {
	Device string
	Size   float64
	Fast   *bool `lumi:"optional"`
}
