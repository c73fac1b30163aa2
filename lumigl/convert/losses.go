package convert

// Code says what kind of loss there is. Package codes explains each.
type Code string

// What is not in the snapshot at all.
const (
	UnknownLoss        Code = "unknown"         // a key that means nothing to the reader
	ShapeLoss          Code = "shape"           // a value of the wrong kind
	EmptyLoss          Code = "empty"           // a resource without instances
	CiphertextLoss     Code = "ciphertext"      // a secret that is encrypted
	AssetHashLoss      Code = "asset-hash"      // the hash of an asset or archive
	ContentLoss        Code = "content"         // what an asset or archive holds
	PackageVersionLoss Code = "package-version" // the version of a package in a resource reference
	ReferenceIDLoss    Code = "reference-id"    // an id in a resource reference
	OperationLoss      Code = "operation"       // a pending operation that LumiGL does not have
	EncryptionLoss     Code = "encryption"      // how secrets were encrypted
)

// What is in the snapshot in another form, or without its effect.
const (
	TypeLoss         Code = "type"          // a type that is no token, or not that of the URN
	NameLoss         Code = "name"          // a name that cannot stand in a URN, or stands for two
	PackageLoss      Code = "package"       // a name of a package that cannot stand in a URN
	EnvironmentLoss  Code = "environment"   // a name of an environment that cannot stand in a URN
	CircleLoss       Code = "circle"        // a reference in a circle
	DanglingLoss     Code = "dangling"      // a reference to what is not there
	DependencyLoss   Code = "dependency"    // a dependency that cannot be said
	InputLoss        Code = "input"         // an input that differs from the output
	UnmanagedLoss    Code = "unmanaged"     // a resource that no provider makes
	InertLoss        Code = "inert"         // what nothing acts on any more
	UnknownValueLoss Code = "unknown-value" // a value that was not known
	NumberLoss       Code = "number"        // what is no number in JSON
	OutputLoss       Code = "output"        // a value that was wrapped
	SignatureLoss    Code = "signature"     // a special value that the reader does not know
	MistakenLoss     Code = "mistaken"      // plain data that LumiGL takes for a special value
	FlatLoss         Code = "flat"          // attributes in the form of before 2019
	SensitiveLoss    Code = "sensitive"     // a path to a secret that leads nowhere
	GuessedLoss      Code = "guessed"       // what is taken for a secret because of its name
	BytesLoss        Code = "bytes"         // a string that is no UTF-8
)

var lost = map[Code]bool{
	UnknownLoss: true, ShapeLoss: true, EmptyLoss: true, CiphertextLoss: true, AssetHashLoss: true,
	ContentLoss: true, PackageVersionLoss: true, ReferenceIDLoss: true, OperationLoss: true, EncryptionLoss: true,
}

// Loss is something of the source that is not in the snapshot, or is there in another form.
type Loss struct {
	Code Code
	// Message says what became of it, and why. It has no full stop, and nothing of what values say.
	Message string

	// place is where it starts in the source, or the string whose text it is in.
	place             int
	pointer, resource string
}

// Resource is what the source calls the resource that the loss is about. It is empty for what belongs to none.
func (l Loss) Resource() string { return l.resource }

// Lost reports whether nothing of it is in the snapshot. If it returns false, it is there in another form.
func (l Loss) Lost() bool { return lost[l.Code] }

// Pointer is the JSON pointer to it in the source, or to the secret that it is in.
func (l Loss) Pointer() string { return l.pointer }
