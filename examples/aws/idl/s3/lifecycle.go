package s3

// A LifecycleRule moves objects to cheaper storage as they age, and removes them in the end.
type LifecycleRule struct {
	// Which objects the rule is for. It is for all of them where this is left out.
	Filter *LifecycleFilter `lumi:"optional"`
	// After how many days an object moves, by the class of storage that it moves to.
	Transitions *map[StorageClass]float64 `lumi:"optional"`
	// After how many days an object is removed.
	ExpirationInDays *float64 `lumi:"optional"`
	// Whether the rule is in force.
	Enabled bool
}

// A LifecycleFilter picks objects. One that combines others picks what all of them pick.
type LifecycleFilter struct {
	// Pick objects whose keys begin with this.
	Prefix *string `lumi:"optional"`
	// Pick objects that have these tags.
	Tags *map[string]string `lumi:"optional"`
	// Pick objects that have at least this many bytes.
	MinBytes *float64 `lumi:"optional"`
	// Pick what all of these pick.
	And *[]LifecycleFilter `lumi:"optional"`
	// Pick what this does not pick.
	Not *LifecycleFilter `lumi:"optional"`
}

// StorageClass is a kind of storage: the cheaper it is to keep an object, the dearer it is to read it.
type StorageClass string

// The classes of storage.
const (
	// For data in use.
	StorageClassStandard StorageClass = "STANDARD"
	// For data that is seldom read, but then at once.
	StorageClassStandardIA StorageClass = "STANDARD_IA"
	// The same, in a single zone: for data that can be made again.
	StorageClassOneZoneIA StorageClass = "ONEZONE_IA"
	// Amazon moves the data, by how often it is read.
	StorageClassIntelligentTiering StorageClass = "INTELLIGENT_TIERING"
	// For data that can wait for hours to be read.
	StorageClassGlacier StorageClass = "GLACIER"
	// For data that is kept because somebody has to.
	StorageClassDeepArchive StorageClass = "DEEP_ARCHIVE"
)
