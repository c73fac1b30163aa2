// Package wire defines the markers of special values in property bags, as used by providers, programs, graphs, and
// snapshots. It also masks secrets in errors and logs: [Mask] finds them in plain text and as encoded in JSON, Go, XML,
// URLs, and base64.
package wire

// Signature is the key that marks an object as a special value. Its value is one of the signatures below.
const Signature = "4dabf18193072939515e22adb298388d"

// The signatures of special values.
const (
	Secret  = "1b47061264138c4ac30d75fd1eb44270" // {value}
	Asset   = "c44067f5952c0a294b673a41bacd8c17" // {text}, {path}, or {uri}, and optionally {hash}
	Archive = "0def7320c3a5731c473e5ecbe6d01bc7" // {assets}, {path}, or {uri}, and optionally {hash}
	// Expression marks a value computed from outputs in a desired graph. It is never sent to a provider.
	Expression = "63fc8277790b7f8a51f0478af443e94d" // {interpolate}, {jsonStringify}, or {get} and {path}
	// Reference marks a reference to a resource or one of its outputs in the input of a provisioner.
	Reference = "f4993513d72d36867b824abe8c65cb4b" // {urn}, and optionally {property}
)

// Unknown is the placeholder for an unknown value.
const Unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
