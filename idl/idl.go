// Package idl defines the markers for IDL packages: types without behavior that cidlc recognizes.
//
// Embedding [Resource] or [NamedResource] in a struct, by value, makes that struct a resource:
//
//	type Bucket struct {
//		idl.NamedResource
//		// Objects in the bucket are encrypted with this key.
//		Key *Key `lumi:"optional"`
//	}
//
// A pointer to a resource, such as *Key above, is a capability: a reference to an independent resource. *Resource is a
// capability of any type. [Asset] and [Archive] are files deployed with a program. Embedding [Config] makes a struct
// the configuration of the package's provider, and embedding [OneOf] makes it a union.
//
// The package imports nothing, so loading an IDL package costs no more than its own sources. docs/idl.md specifies the
// language.
package idl

// Resource marks a struct that embeds it, by value, as a resource named by the provider. As the type of a property,
// *Resource is a capability of any type.
type Resource struct{}

// NamedResource marks a struct that embeds it, by value, as a resource named by the program. The name is the first
// parameter of the generated constructor and the property "name" on the wire; changing it replaces the resource.
type NamedResource struct {
	Resource
	// Name is the name chosen by the program.
	Name string
}

// Config marks the struct that embeds it, by value, as the provider's configuration, such as a region or credentials. A
// package has at most one, in the root folder of its IDL.
type Config struct{}

// OneOf marks a struct that embeds it, by value, as a union. Its other fields are the variants; a value has exactly
// one. They are pointers, either all to resources or all to plain structs.
type OneOf struct{}

// Asset is a file or text deployed with the program. Use it as *idl.Asset.
type Asset struct{}

// Archive is a collection of files deployed with the program. Use it as *idl.Archive.
type Archive struct{}
