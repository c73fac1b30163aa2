// Package idl defines the marker types that cidlc recognizes in IDL packages. They have no behavior.
//
// A struct that embeds [Resource] or [NamedResource] by value is a resource:
//
//	type Bucket struct {
//		idl.NamedResource
//		// Objects in the bucket are encrypted with this key.
//		Key *Key `lumi:"optional"`
//	}
//
// A pointer to a resource, such as *Key above, is a capability: a reference to an independent resource. *Resource is a
// capability of any type. [Asset] and [Archive] are files deployed with a program. A struct that embeds [Config] is the
// configuration of the package's provider, a struct that embeds [OneOf] is a union, and one that embeds [Function] is a
// function of the provider.
//
// This package has no imports, so importing it adds almost nothing to the time needed to load an IDL package.
// docs/idl.md specifies the language.
package idl

// Resource embedded by value marks a struct as a resource named by the provider. As the type of a property, *Resource
// is a capability of any type.
type Resource struct{}

// NamedResource embedded by value marks a struct as a resource named by the program. The name is the property "name" on
// the wire. Changing it replaces the resource. The tag of the embedded field contains constraints on names and the
// property within which they are unique:
//
//	idl.NamedResource `lumi:"maxLength=63,pattern='^[a-z0-9-]+$',nameScope=zone"`
type NamedResource struct {
	Resource
	// Name is chosen by the program.
	Name string
}

// Config embedded by value marks a struct as the provider's configuration, such as a region or credentials. A package
// has at most one, in the root folder of its IDL.
type Config struct{}

// OneOf embedded by value marks a struct as a union. The other fields are its variants: pointers either all to
// resources or all to plain structs. A value has exactly one variant.
type OneOf struct{}

// Function embedded by value marks a struct as a function that a provider implements, such as one that finds the latest
// image. A call changes nothing. Properties with the option out are the results; the others are the arguments.
type Function struct{}

// Asset is a file or text deployed with the program. A property of this type is declared as *idl.Asset.
type Asset struct{}

// Archive is a collection of files deployed with the program. A property of this type is declared as *idl.Archive.
type Archive struct{}
