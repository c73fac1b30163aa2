// Package idl is what the authors of IDL packages import. It holds nothing but markers: types that mean something to
// cidlc and have no behavior of their own.
//
// Embedding [Resource] or [NamedResource] in a struct, by value, makes that struct a resource:
//
//	type Bucket struct {
//		idl.NamedResource
//		// Objects in the bucket are encrypted with this key.
//		Key *Key `lumi:"optional"`
//	}
//
// A pointer to a resource, such as *Key above, is a capability: a reference to a resource that exists on its own. The
// type *Resource stands for a capability of any type. [Asset] and [Archive] stand for files that travel with a
// program, embedding [Config] makes a struct the configuration of the package's provider, and embedding [OneOf] makes it
// a union.
//
// The package imports nothing, so that loading an IDL package costs no more than its own sources. The rules of the
// language are in docs/idl.md.
package idl

// Resource is embedded, by value, by every type of resource whose name the provider chooses. As the type of a property,
// *Resource is a capability of any type.
type Resource struct{}

// NamedResource is embedded, by value, by every type of resource whose name the program chooses. The name becomes the
// first parameter of the generated constructor and the property "name" on the wire; changing it replaces the resource.
type NamedResource struct {
	Resource
	// Name is the name that the program gave the resource.
	Name string
}

// Config is embedded, by value, by the one struct that describes a provider's own configuration, such as a region or
// credentials. A package has at most one, at the root of its IDL.
type Config struct{}

// OneOf is embedded, by value, by a union: a struct whose other fields are its variants, of which a value has exactly one.
// The variants are pointers, either all to resources or all to plain structs.
type OneOf struct{}

// Asset is a file or a piece of text that travels with the program, used as *idl.Asset.
type Asset struct{}

// Archive is a collection of files that travels with the program, used as *idl.Archive.
type Archive struct{}
