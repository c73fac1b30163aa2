package lumi

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Inspector is implemented by an author's operations that have something to say about changes, beyond what the IDL does.
type Inspector[P Object] interface {
	// InspectChange may call [Diff.Replace] for changes that need a new resource, [Diff.Ignore] for those that make no
	// difference, and [Diff.DeleteBeforeReplace]. It is called also if diff is empty.
	InspectChange(ctx context.Context, old, want *State[P], diff *Diff) error
}

// Finder is implemented by an author's operations that can find what a Create made whose outcome is uncertain.
type Finder[P Object] interface {
	// Find returns the id of the resource that a Create with the same URN, token and properties made, or [ErrNotFound] if
	// there is none.
	Find(ctx context.Context, want *State[P]) (ID, error)
}

// IdempotentCreator is implemented by an author's operations to say whether a Create that is called again with the same
// token returns what the first call made.
type IdempotentCreator interface {
	IdempotentCreate() bool
}

// Upgrader is implemented by an author's operations for a type whose IDL has changed in ways that decoding cannot bridge,
// such as a property with another name.
type Upgrader[P Object] interface {
	// Upgrade sets in old.Properties what can be learned from stored, the properties as an older version of the provider
	// stored them. It is called if these do not fit the IDL: if they have a property that is gone, lack one that is
	// required, or have one of another kind. What fits is decoded already. Where stored has secrets, what Upgrade changes
	// counts as secret.
	Upgrade(ctx context.Context, old *State[P], stored Bag) error
}

// checkOptional panics if ops has a method of one of the optional interfaces with another signature, or one with such a
// signature and a name that is nearly the same: neither would ever be called.
func checkOptional(token tokens.Type, ops any, optional ...reflect.Type) {
	have := reflect.TypeOf(ops)
	var names []string
	for _, o := range optional {
		names = append(names, o.Method(0).Name)
	}
	for i := range have.NumMethod() {
		name := have.Method(i).Name
		near := name
		if !slices.Contains(names, name) {
			near = suggest.Name(name, names)
		}
		at := slices.Index(names, near)
		if at < 0 {
			continue
		}
		is, want := reflect.ValueOf(ops).Method(i).Type(), optional[at].Method(0).Type
		switch {
		case name == near && is != want:
			panic(fmt.Sprintf("lumi: the operations of %s have an optional method with the wrong signature:\n"+
				"\thave %s%s\n\twant %[2]s%[4]s", token, name, signature(is), signature(want)))
		case name != near && is == want:
			panic(fmt.Sprintf("lumi: the operations of %s have a method %s, which is never called: did you mean %s?",
				token, name, near))
		}
	}
}

func signature(t reflect.Type) string { return strings.TrimPrefix(t.String(), "func") }
