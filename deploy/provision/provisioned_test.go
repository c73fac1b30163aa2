package provision

import (
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
)

func TestProvisionedName(t *testing.T) {
	of := opaque{t: "x:m:Net"}
	first, err := of.Name(t.Context(), &lumi.NameRequest{URN: "urn:lumi:dev::p:index::x:m:Net::web/#1"})
	if err != nil || len(first.Name) != len("net-01234567") {
		t.Errorf("Name of a new resource = %v, %v, want net- and 8 digits", first, err)
	}
	const want = "a resource that a provisioner handles keeps its name"
	if _, err := of.Name(t.Context(), &lumi.NameRequest{URN: "urn:lumi:dev::p:index::x:m:Net::web/a"}); err == nil || err.Error() != want {
		t.Errorf("Name of an existing resource: error %v, want %s", err, want)
	}
}
