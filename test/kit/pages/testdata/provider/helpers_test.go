package files

import (
	"testing"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/urn"
)

type values = map[string]any

func bag(t *testing.T, v values) lumi.Bag {
	t.Helper()
	s, err := structpb.NewStruct(v)
	if err != nil {
		t.Fatal(err)
	}
	return lumi.BagOf(s)
}

func urnOf(token, name string) urn.URN {
	return urn.URN("urn:lumi:test::files:index::" + token + "::" + name)
}
