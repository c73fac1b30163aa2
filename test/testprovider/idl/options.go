package feature

import "github.com/lumi-idl/lumi/idl"

// Cache keeps slow results.
//
// Deprecated: use Store.
//
//lumi:was='Memory,Buffer'
type Cache struct {
	idl.Resource

	// Size is in bytes.
	Size *float64 `lumi:"optional,was='bytes,length'"`

	// Gigabytes was the size.
	Gigabytes *float64  `lumi:"optional,deprecated='use size, which is in \"bytes\"'"`
	Eviction  *Eviction `lumi:"optional,default=oldest"`

	// Shards share the work.
	Shards *Shards `lumi:"optional,max=64,default=8"`
	Label  *string `lumi:"optional,secret,default='a, \"b\" */'"`
	Warm   *bool   `lumi:"optional,default=false"`
	Disks  []Disk
	Age    float64 `lumi:"out,was=seconds,deprecated=look at the log"`
}

// Disk is the location of a cache.
//
// Deprecated: caches are in memory.
type Disk struct {
	Path  *string  `lumi:"optional,exactlyOneOf='url,any'"`
	URL   *string  `lumi:"optional,exactlyOneOf='path,any'"`
	Any   any      `lumi:"optional,exactlyOneOf='path,url'"`
	Token *string  `lumi:"optional,secret,requiredWith=url,conflictsWith='path,any'"`
	Quota *float64 `lumi:"optional,default=1e20,was=limit"`
}

// Shards is a number of shards.
type Shards float64

// Eviction is the policy of a full cache.
type Eviction string

const (
	EvictionOldest Eviction = "oldest"

	// EvictionRandom drops anything.
	//
	// Deprecated: use EvictionOldest.
	EvictionRandom Eviction = "random"
)

//lumi:deprecated=count bytes,min=1
type Gigabytes float64

// Deprecated: use 1e9.
const Gigabyte = 1073741824
