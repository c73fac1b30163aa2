// Package wire has what marks special values in property bags, whoever writes the bag: a provider, a program, a graph
// or a snapshot. It also keeps secrets out of text: [Mask] finds the secrets of a call in what is about to be reported
// or logged, plain or in the forms that JSON, Go, XML, URLs and base64 give them, and replaces them.
package wire

// Signature is the key that marks an object as a special value. Its value is one of the signatures below.
const Signature = "4dabf18193072939515e22adb298388d"

// The signatures, by the kind of the special value.
const (
	Secret  = "1b47061264138c4ac30d75fd1eb44270" // {value}
	Asset   = "c44067f5952c0a294b673a41bacd8c17" // {text}, {path} or {uri}, and optionally {hash}
	Archive = "0def7320c3a5731c473e5ecbe6d01bc7" // {assets}, {path} or {uri}, and optionally {hash}
	// Expression is that of a value in a desired graph which is computed from outputs. It never reaches a provider.
	Expression = "63fc8277790b7f8a51f0478af443e94d" // {interpolate}, {jsonStringify}, or {get} and {path}
	// Reference is that of a reference to a resource, or to an output of it, in what provisioners get.
	Reference = "f4993513d72d36867b824abe8c65cb4b" // {urn}, and optionally {property}
)

// Unknown is the string that stands for a value which is not known yet.
const Unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
