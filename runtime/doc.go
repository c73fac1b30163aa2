// Package lumi is the small library that generated provider stubs link against. Generated code and documentation import
// it under the name lumi, since the standard library has a runtime already.
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
// NewTProvider makes a [ResourceProvider] of the implementation. It decodes and validates what programs send, computes
// the [Diff] of an update, refuses updates that need a replacement, and encodes what the author computed. [Ops] documents
// the operations, [State] what they receive, and [Meaning] what their errors mean to an engine.
//
//   - Optional operations: [Inspector], [Upgrader], [Finder], [IdempotentCreator]
//   - Errors: [Faultf], [ErrNotFound], [RetryError], [Uncertain]; work that is done before a failure: [State.Done]
//   - Helpers: [Waiter], [Seed.Name], [Log], [Progress]
//
// The guide, with a complete provider, is docs/providers.md.
//
// # What is called a provider
//
//   - [ResourceProvider] is the interface between an engine and the code for one type of resource, with a method for each
//     call. Package serve/plugin implements it for engines, over the connection to a plugin.
//   - [Provider] implements it for any type of resource, over the author's operations.
//   - TProvider is generated for the resource T. It embeds Provider, so that the author can override a method.
//   - A Plugin of package serve is what a binary serves: the providers of all resource types of one IDL package, and the
//     configuration that they share.
//
// # How values travel
//
// Properties travel in a [Bag]. A property that is null is absent. Absent, zero and empty are three different values: a
// nil pointer, a pointer to zero, an empty list that is not nil. Some values are objects that [wire.Signature] marks, or
// stand for others:
//
//   - Secrets are wrapped. Decoding unwraps them, and encoding wraps again what was declared secret and what came so.
//   - Unknown values are those that depend on a resource which does not exist yet. They are legal in Check, Name and
//     the new properties of InspectChange. The author finds them in [State.Unknown].
//   - A capability is the URN of another resource. [State.Refs] has that resource's id and properties.
//   - An [Asset] or an [Archive] says where a file is, or holds a text. Package content reads it.
//
// # For generated code
//
// A struct has one method, Lumi, that shows each of its properties to a [Props] in turn, with [Required], [Optional] or
// [Nilable] and a [Codec]. That one method serves decoding, encoding and description, without reflection.
package lumi
