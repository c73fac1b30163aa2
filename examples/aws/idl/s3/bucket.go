package s3

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// A Bucket holds objects. Its name is unique among all buckets of all accounts.
type Bucket struct {
	idl.NamedResource
	aws.Tagged
	// A ready-made set of permissions for the bucket and what is in it.
	AccessControl *CannedACL `lumi:"optional"`
	// Whether the bucket keeps the former versions of an object that is written again.
	Versioning *VersioningStatus `lumi:"optional"`
	// Which programs in a browser may use the bucket, rule by rule. The first one that fits counts.
	CORSRules *[]CORSRule `lumi:"optional"`
	// When objects move to cheaper storage, and when they go.
	LifecycleRules *[]LifecycleRule `lumi:"optional"`
	// Where a record of each access is written.
	Logging *BucketLogging `lumi:"optional"`
	// Who is told when something happens to an object.
	Notifications *[]Notification `lumi:"optional"`
	// How the bucket behaves as a web site.
	Website *BucketWebsite `lumi:"optional"`
	// Whether everything in the bucket is deleted with it: objects, former versions, delete markers and unfinished
	// uploads. It is false by default, so that only an empty bucket can be deleted. Deploy it before you delete.
	ForceDestroy *bool `lumi:"optional,in"`
	// The name under which policies refer to the bucket.
	ARN aws.ARN `lumi:"out"`
	// The host name under which the bucket is reached. Buckets at a custom endpoint share the endpoint's.
	DomainName string `lumi:"out"`
	// The address of the web site, if the bucket is one. At a custom endpoint, it is where the bucket's objects are.
	WebsiteURL *string `lumi:"out,optional"`
}

// CannedACL is a ready-made set of permissions.
type CannedACL string

// The ready-made sets of permissions.
const (
	// The owner may do everything, and nobody else anything.
	CannedACLPrivate CannedACL = "private"
	// The owner may do everything, and everybody may read.
	CannedACLPublicRead CannedACL = "public-read"
	// Everybody may read and write.
	CannedACLPublicReadWrite CannedACL = "public-read-write"
	// The owner may do everything, and whoever has an account may read.
	CannedACLAuthenticatedRead CannedACL = "authenticated-read"
	// The services that record accesses may write their records.
	CannedACLLogDeliveryWrite CannedACL = "log-delivery-write"
)

// VersioningStatus says whether a bucket keeps former versions. A bucket that once did can only suspend it.
type VersioningStatus string

// The states of versioning.
const (
	// Former versions are kept.
	VersioningEnabled VersioningStatus = "Enabled"
	// Former versions that are there stay, and no more are kept.
	VersioningSuspended VersioningStatus = "Suspended"
)

// A CORSRule lets some programs in a browser use a bucket.
type CORSRule struct {
	// The methods that are allowed, such as `GET`.
	AllowedMethods []string
	// The origins that are allowed, such as `https://example.com`.
	AllowedOrigins []string
	// The headers that a request may carry.
	AllowedHeaders *[]string `lumi:"optional"`
	// The headers of a response that a program may read.
	ExposedHeaders *[]string `lumi:"optional"`
	// How long a browser may remember that it was allowed in.
	MaxAge *aws.Seconds `lumi:"optional"`
}

// BucketLogging says where records of accesses are written.
type BucketLogging struct {
	// The bucket that the records are written to.
	Destination *Bucket
	// What the names of the records begin with.
	Prefix *string `lumi:"optional"`
}

// A Notification tells somebody about what happens to objects.
type Notification struct {
	// What has to happen.
	Events []Event
	// Whom to tell: a topic, a queue or a function.
	Target *idl.Resource
	// What the object's key needs to begin with.
	Prefix *string `lumi:"optional"`
	// What the object's key needs to end with.
	Suffix *string `lumi:"optional"`
}

// An Event is something that happens to an object.
type Event string

const (
	created = "s3:ObjectCreated:"
	removed = "s3:ObjectRemoved:"
)

// What may happen to an object.
const (
	// It was created or written again, in any way.
	EventCreated Event = created + "*"
	// It was created or written again, by a PUT request.
	EventCreatedPut Event = created + "Put"
	// It was created or written again, as a copy of another.
	EventCreatedCopy Event = created + "Copy"
	// It went, in any way.
	EventRemoved Event = removed + "*"
	// One of its versions went.
	EventRemovedDelete Event = removed + "Delete"
)

// BucketWebsite says how a bucket behaves as a web site.
type BucketWebsite struct {
	// The key to add to a request for a folder, such as `index.html`.
	IndexDocument *string `lumi:"optional"`
	// The key of the object to show when something is wrong.
	ErrorDocument *string `lumi:"optional"`
	// A host to send all requests to.
	RedirectAllRequestsTo *string `lumi:"optional,conflictsWith='indexDocument,errorDocument'"`
}
