package s3

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// A Bucket holds objects. Bucket names are globally unique.
type Bucket struct {
	idl.NamedResource `lumi:"minLength=3,maxLength=63,pattern='^[a-z0-9][a-z0-9.-]*[a-z0-9]$',says='a bucket name of lower-case letters, digits, periods, and hyphens'"`
	aws.Tagged
	// A predefined access-control list for the bucket.
	AccessControl *CannedACL `lumi:"optional"`
	// Whether the bucket keeps old versions of overwritten objects.
	Versioning *VersioningStatus `lumi:"optional"`
	// The CORS rules. The first one that matches applies.
	CORSRules *[]CORSRule `lumi:"optional"`
	// The rules that move objects to cheaper storage or delete them.
	LifecycleRules *[]LifecycleRule `lumi:"optional"`
	// The destination of access logs.
	Logging *BucketLogging `lumi:"optional"`
	// The notifications of events in the bucket.
	Notifications *[]Notification `lumi:"optional"`
	// The settings for static website hosting.
	Website *BucketWebsite `lumi:"optional"`
	// Whether deleting the bucket also deletes its contents: objects, old versions, delete markers and incomplete
	// uploads. The default is false, which allows deleting only an empty bucket. Deploy it before you delete the
	// bucket.
	ForceDestroy *bool `lumi:"optional,in"`
	// The ARN of the bucket.
	ARN aws.ARN `lumi:"out,fixed"`
	// The host name of the bucket. At a custom endpoint, it is the endpoint's host.
	DomainName string `lumi:"out,fixed"`
	// The URL of the website, if enabled. At a custom endpoint, it is the URL of the bucket's objects.
	WebsiteURL *string `lumi:"out,optional"`
}

// CannedACL is a predefined access-control list.
type CannedACL string

// The predefined access-control lists.
const (
	// The owner has full control. Nobody else has access.
	CannedACLPrivate CannedACL = "private"
	// The owner has full control. Everyone can read.
	CannedACLPublicRead CannedACL = "public-read"
	// Everyone can read and write.
	CannedACLPublicReadWrite CannedACL = "public-read-write"
	// The owner has full control. Everyone with an AWS account can read.
	CannedACLAuthenticatedRead CannedACL = "authenticated-read"
	// Log delivery can write.
	CannedACLLogDeliveryWrite CannedACL = "log-delivery-write"
)

// VersioningStatus is whether a bucket keeps old versions. Once enabled, versioning can only be suspended.
type VersioningStatus string

// The versioning statuses.
const (
	// Old versions are kept.
	VersioningEnabled VersioningStatus = "Enabled"
	// Existing old versions are kept, and no new ones are created.
	VersioningSuspended VersioningStatus = "Suspended"
)

// A CORSRule allows browser access from other origins.
type CORSRule struct {
	// The allowed methods, such as `GET`.
	AllowedMethods []string
	// The allowed origins, such as `https://example.com`.
	AllowedOrigins []string
	// The allowed request headers.
	AllowedHeaders *[]string `lumi:"optional"`
	// The response headers exposed to scripts.
	ExposedHeaders *[]string `lumi:"optional"`
	// How long browsers may cache the response to a preflight request.
	MaxAge *aws.Seconds `lumi:"optional,max=2147483647"`
}

// BucketLogging is the destination of access logs.
type BucketLogging struct {
	// The bucket for the logs.
	Destination *Bucket
	// The key prefix of the logs.
	Prefix *string `lumi:"optional"`
}

// A Notification sends events of objects to a target.
type Notification struct {
	// The event.
	Events []Event
	// The target: a topic, a queue or a function.
	Target *idl.Resource
	// The prefix of the object's key.
	Prefix *string `lumi:"optional"`
	// The suffix of the object's key.
	Suffix *string `lumi:"optional"`
}

// An Event is a change to an object.
type Event string

const (
	created = "s3:ObjectCreated:"
	removed = "s3:ObjectRemoved:"
)

// The events.
const (
	// The object was created or overwritten in any way.
	EventCreated Event = created + "*"
	// The object was created or overwritten by a PUT request.
	EventCreatedPut Event = created + "Put"
	// The object was created or overwritten by a copy.
	EventCreatedCopy Event = created + "Copy"
	// The object was deleted in any way.
	EventRemoved Event = removed + "*"
	// A version of the object was deleted.
	EventRemovedDelete Event = removed + "Delete"
)

// BucketWebsite configures static website hosting.
//
//lumi:rule has(IndexDocument) || has(RedirectAllRequestsTo) // a website needs an index document or a redirect
type BucketWebsite struct {
	// The suffix appended to requests for a folder, such as `index.html`.
	IndexDocument *string `lumi:"optional"`
	// The key of the error page.
	ErrorDocument *string `lumi:"optional"`
	// Where to redirect all requests.
	RedirectAllRequestsTo *string `lumi:"optional,conflictsWith='indexDocument,errorDocument',pattern='^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$',says='a host name'"`
}
