package plugin

import (
	"testing"

	"github.com/lumi-idl/lumi/runtime/lumirpc"
)

// Equalities may be recursive, and a plugin may send numbers of none.
func TestEqualities(t *testing.T) {
	at := equalities([]*lumirpc.Equality{
		{As: "set", Elements: 2}, {Properties: map[string]int32{"inner": 1, "name": 3, "none": 4}}, {As: "caseless", Elements: -1},
	})
	set := at(1)
	if set.As != "set" || set.Elements != at(2) || at(2).Properties["inner"] != set || at(2).Properties["name"].As != "caseless" {
		t.Errorf("got %+v", set)
	}
	if at(2).Properties["none"] != nil || at(3).Elements != nil || at(0) != nil || at(4) != nil || at(-1) != nil {
		t.Error("found an equality that is none")
	}
}
