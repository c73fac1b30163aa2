package lumirpc

import "regexp"

// ProtocolVersion is the version of the protocol that this package has.
const ProtocolVersion = 1

// SecretVariable is the environment variable in which a plugin is given its parent's secret.
const SecretVariable = "LUMI_PLUGIN_SECRET"

// SecretHeader is the key of the metadata in which each call carries the secret.
const SecretHeader = "lumi-secret"

// EventsTrailer is the key of the trailer with the position of the call's last event on the stream of events.
const EventsTrailer = "lumi-events"

// MaxMessageSize is how large a message may be that either side sends. An update has old and new properties and those
// of other resources in it, of which a single one may well take 64 MiB.
const MaxMessageSize = 512 << 20

// ProvisionerPrefix begins the names of executables that are provisioners: lumi-provisioner-NAME.
const ProvisionerPrefix = "lumi-provisioner-"

// MaxToken is how many bytes a provisioner's token may have.
const MaxToken = 64 << 10

var provisionerName = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

// IsProvisionerName reports whether a name is one that a provisioner can have.
func IsProvisionerName(name string) bool { return provisionerName.MatchString(name) }
