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
	StandardClass         StorageClass = "STANDARD"
	StandardInfrequent    StorageClass = "STANDARD_IA"
	OneZoneInfrequent     StorageClass = "ONEZONE_IA"
	IntelligentTiering    StorageClass = "INTELLIGENT_TIERING"
	GlacierClass          StorageClass = "GLACIER"
	DeepArchiveOfGlaciers StorageClass = "DEEP_ARCHIVE"
)
