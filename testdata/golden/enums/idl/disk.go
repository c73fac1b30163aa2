package enums

import "github.com/lumi-idl/lumi/idl"

// Disk uses the enums.
type Disk struct {
	idl.NamedResource
	Kind     Kind
	Tenancy  *Tenancy `lumi:"optional"`
	Zones    []zone
	ByKind   map[Kind]float64
	Computed Kind `lumi:"out"`
}

// Tenancy loses a prefix.
type Tenancy string

const (
	// TenancyDefault shares the hardware.
	TenancyDefault   Tenancy = "default"
	TenancyDedicated Tenancy = "dedicated" // TenancyDedicated shares it with nobody.
)

// zone is not exported.
type zone string

const (
	EastZone  zone = "east"
	WestZone  zone = prefix + "west"
	northZone zone = "\"north\"\n"
)

const prefix = "w-"
