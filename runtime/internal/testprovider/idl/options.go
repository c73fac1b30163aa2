package feature

import "github.com/lumi-idl/lumi/idl"

// Cache keeps what is slow to find.
//
// Deprecated: use Store.
type Cache struct {
	idl.Resource

	// Size is in bytes.
	Size *float64 `lumi:"optional"`

	// Gigabytes was the size.
	Gigabytes *float64  `lumi:"optional,deprecated='use size, which is in \"bytes\"'"`
	Eviction  *Eviction `lumi:"optional"`
	Disks     []Disk
	Age       float64 `lumi:"out,deprecated=look at the log"`
}

// Disk is where a cache is.
//
// Deprecated: caches are in memory.
type Disk struct{}

// Eviction is what a full cache does.
type Eviction string

const (
	EvictionOldest Eviction = "oldest"

	// EvictionRandom drops anything.
	//
	// Deprecated: use EvictionOldest.
	EvictionRandom Eviction = "random"
)

// Deprecated: count bytes.
type Gigabytes float64

// Deprecated: use 1e9.
const Gigabyte = 1073741824
