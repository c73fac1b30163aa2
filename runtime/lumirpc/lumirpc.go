package lumirpc

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
