// Package lumi is the runtime library of generated provider stubs. Import it under the name lumi, as generated code does,
// since the standard library has a package runtime.
//
// # For authors of providers
//
// For every resource T, cidlc generates an interface TProviderOps. Implement it in the same package:
//
//	func (ops *fileProviderOpsImpl) Create(ctx context.Context, want *lumi.State[*file]) (lumi.ID, error) {
//		size, err := ops.write(want.Properties.Name, want.Properties.Text)
//		if err != nil {
//			return "", err
//		}
//		want.Properties.Size = size
//		return lumi.ID(want.Properties.Name), nil
//	}
//
// NewTProvider turns the implementation into a [ResourceProvider]. It decodes and validates programs' properties, computes
// the [Diff] of an update, refuses updates that require a replacement, and encodes results. [Ops] documents the
// operations, [State] their input, and [Meaning] the meaning of their errors to an engine.
//
//   - Optional operations: [Inspector], [Upgrader], [Finder], [IdempotentCreator]
//   - Errors: [Faultf], [ErrNotFound], [RetryError], [Uncertain]; partial work: [State.Done]
//   - Helpers: [Waiter], [Seed.Name], [Log], [Progress]
//
// The guide, with a complete provider, is docs/providers.md.
//
// # Kinds of providers
//
//   - [ResourceProvider] is the interface between an engine and the code of one resource type, with a method for each call.
//     Package serve/plugin implements it for engines, over the connection to a plugin.
//   - [Provider] implements it for any resource type by calling the author's operations.
//   - TProvider is generated for the resource T. It embeds Provider, so that the author can override methods.
//   - [Function] is the interface between an engine and the code of one function, which looks something up. FFunc is
//     generated for the function F, and its method Function returns one that calls the author's code.
//   - A Plugin of package serve is served by a binary: the providers of all resource types of one IDL package, its functions,
//     and their shared configuration.
//
// # Wire format
//
// Properties are sent in a [Bag]. Null means absent. Absent, zero, and empty are distinct: a nil pointer, a pointer to
// zero, a non-nil empty list. Some values are special, most of them objects marked by [wire.Signature]:
//
//   - Secrets are wrapped. Decoding unwraps them; encoding wraps values that are declared secret or arrived as secrets.
//   - Unknown values depend on a resource that does not exist yet. They are allowed in Check, Name, and the new
//     properties of InspectChange. [State.Unknown] lists them.
//   - A resource reference is the URN of another resource. [State.Refs] has that resource's id and properties.
//   - An [Asset] or an [Archive] locates files or contains text. Package content reads it.
//
// # For generated code
//
// A struct has one method, Lumi, that passes each of its properties to a [Props] with [Required], [Optional], or
// [Nilable] and a [Codec]. This method implements decoding, encoding, and description without reflection.
package lumi
