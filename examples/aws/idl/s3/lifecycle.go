package s3

// A LifecycleRule moves aging objects to cheaper storage and finally deletes them.
type LifecycleRule struct {
	// The objects of the rule. The default is all objects.
	Filter *LifecycleFilter `lumi:"optional"`
	// The age in days at which an object moves to a storage class.
	Transitions *map[StorageClass]int `lumi:"optional"`
	// The age in days at which an object is deleted.
	ExpirationInDays *int `lumi:"optional"`
	// Whether the rule is active.
	Enabled bool
}

// A LifecycleFilter selects objects.
type LifecycleFilter struct {
	// Select objects whose keys have this prefix.
	Prefix *string `lumi:"optional"`
	// Select objects that have these tags.
	Tags *map[string]string `lumi:"optional"`
	// Select objects of at least this size in bytes.
	MinBytes *int `lumi:"optional"`
	// Select objects that all of these filters select.
	And *[]LifecycleFilter `lumi:"optional"`
	// Select objects that this filter does not select.
	Not *LifecycleFilter `lumi:"optional"`
}

// StorageClass is a tier of storage. The cheaper it is to store an object, the more expensive it is to read it.
type StorageClass string

// The storage classes.
const (
	// Frequently accessed data.
	StorageClassStandard StorageClass = "STANDARD"
	// Infrequently accessed data that needs immediate access.
	StorageClassStandardIA StorageClass = "STANDARD_IA"
	// The same in a single availability zone, for reproducible data.
	StorageClassOneZoneIA StorageClass = "ONEZONE_IA"
	// Data that Amazon moves between tiers by access pattern.
	StorageClassIntelligentTiering StorageClass = "INTELLIGENT_TIERING"
	// Archives with retrieval times of hours.
	StorageClassGlacier StorageClass = "GLACIER"
	// Archives for compliance, rarely read.
	StorageClassDeepArchive StorageClass = "DEEP_ARCHIVE"
)
