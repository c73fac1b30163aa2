package lumirpc

import "regexp"

// ProtocolVersion is the version of the protocol in this package.
const ProtocolVersion = 1

// SecretVariable is the environment variable in which a plugin receives its parent's secret.
const SecretVariable = "LUMI_PLUGIN_SECRET"

// SecretHeader is the metadata key of the secret, which every call must carry.
const SecretHeader = "lumi-secret"

// EventsTrailer is the key of the trailer with the position of a call's last event in the event stream.
const EventsTrailer = "lumi-events"

// MaxMessageSize is the maximum size of a message in either direction, in bytes. An update contains the old and new
// properties of a resource and the properties of other resources, and each of these may take 64 MiB.
const MaxMessageSize = 512 << 20

// ProvisionerPrefix is the prefix of the names of provisioners' executables.
const ProvisionerPrefix = "lumi-provisioner-"

// MaxToken is the maximum length of a provisioner's token, in bytes.
const MaxToken = 64 << 10

var provisionerName = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

// IsProvisionerName reports whether name is a valid provisioner name.
func IsProvisionerName(name string) bool { return provisionerName.MatchString(name) }
