package convert

// Code is the kind of a loss. Package codes documents each code.
type Code string

// Losses of data that is not in the snapshot.
const (
	UnknownLoss        Code = "unknown"         // an unknown key
	ShapeLoss          Code = "shape"           // a value of the wrong kind
	EmptyLoss          Code = "empty"           // a resource without instances
	CiphertextLoss     Code = "ciphertext"      // an encrypted secret
	AssetHashLoss      Code = "asset-hash"      // the hash of an asset or archive
	ContentLoss        Code = "content"         // the content of an asset or archive
	PackageVersionLoss Code = "package-version" // the package version in a resource reference
	ReferenceIDLoss    Code = "reference-id"    // the id in a resource reference
	OperationLoss      Code = "operation"       // a pending operation that LumiGL does not support
	EncryptionLoss     Code = "encryption"      // the encryption settings of secrets
)

// Losses of data that is in the snapshot in another form or no longer has an effect.
const (
	TypeLoss         Code = "type"          // a type that is not a token or differs from the URN
	NameLoss         Code = "name"          // a name that is invalid in a URN or ambiguous
	PackageLoss      Code = "package"       // a package name that is invalid in a URN
	EnvironmentLoss  Code = "environment"   // an environment name that is invalid in a URN
	CircleLoss       Code = "circle"        // a reference on a cycle
	DanglingLoss     Code = "dangling"      // a reference to a missing resource
	DependencyLoss   Code = "dependency"    // a dependency that cannot be expressed
	InputLoss        Code = "input"         // an input that differs from the output
	UnmanagedLoss    Code = "unmanaged"     // a resource without a provider
	InertLoss        Code = "inert"         // a setting that has no effect in Lumi
	UnknownValueLoss Code = "unknown-value" // an unknown value
	NumberLoss       Code = "number"        // NaN or an infinity
	OutputLoss       Code = "output"        // a wrapped output
	SignatureLoss    Code = "signature"     // a special value of an unknown kind
	MistakenLoss     Code = "mistaken"      // plain data that LumiGL reads as a special value
	FlatLoss         Code = "flat"          // flat attributes from before 2019
	SensitiveLoss    Code = "sensitive"     // a nonexistent path to a secret
	GuessedLoss      Code = "guessed"       // a value assumed to be a secret because of its name
	BytesLoss        Code = "bytes"         // a string that is not UTF-8
)

var lost = map[Code]bool{
	UnknownLoss: true, ShapeLoss: true, EmptyLoss: true, CiphertextLoss: true, AssetHashLoss: true,
	ContentLoss: true, PackageVersionLoss: true, ReferenceIDLoss: true, OperationLoss: true, EncryptionLoss: true,
}

// Loss is a part of the source that the snapshot lacks or contains in another form.
type Loss struct {
	Code Code
	// Message describes the outcome and the reason. It has no trailing period and never contains values.
	Message string

	// place is the position in the source. For an embedded document, it is the position of the containing string.
	place             int
	pointer, resource string
}

// Resource returns the resource's identifier in the source, or "" if the loss is not in a resource.
func (l Loss) Resource() string { return l.resource }

// Lost reports whether the data is missing from the snapshot. Otherwise, the snapshot contains it in another form.
func (l Loss) Lost() bool { return lost[l.Code] }

// Pointer returns the JSON pointer to the data in the source. It ends at the first secret on the way.
func (l Loss) Pointer() string { return l.pointer }
