package schema_test

import (
	"testing"

	"github.com/lumi-idl/lumi/idl/schema"
)

func TestPropertyDoc(t *testing.T) {
	port := &schema.Constraints{Min: new(1.0), Max: new(65535.0)}
	for _, test := range []struct {
		property schema.Property
		want     string
	}{
		{schema.Property{}, ""},
		{schema.Property{Doc: "The port."}, "The port."},
		{schema.Property{Doc: "The port.\n", Constraints: port, Replaces: true}, "The port. From 1 to 65535. A change replaces the resource."},
		{schema.Property{Constraints: port}, "From 1 to 65535."},
		{schema.Property{Doc: "The port", Constraints: port}, "The port\n\nFrom 1 to 65535."},
		{schema.Property{Doc: "One of:\n  - a port.", Constraints: port}, "One of:\n  - a port.\n\nFrom 1 to 65535."},
		{
			schema.Property{Doc: "The port on which all servers of the group listen for requests to this particular service.", Constraints: port},
			"The port on which all servers of the group listen for requests to this particular service.\nFrom 1 to 65535.",
		},
		{
			schema.Property{Constraints: &schema.Constraints{Min: new(-0.5), ExclusiveMax: new(1e21), MultipleOf: new(0.25)}},
			"At least -0.5. Less than 1e+21. A multiple of 0.25.",
		},
		{
			schema.Property{Constraints: &schema.Constraints{ExclusiveMin: new(0.0), Max: new(9.0)}},
			"At most 9. More than 0.",
		},
		{
			schema.Property{Constraints: &schema.Constraints{MinLength: new(1), MaxLength: new(63), Pattern: "^a", Format: "uuid"}},
			"1 to 63 characters. Matches `^a`. A UUID.",
		},
		{
			schema.Property{Constraints: &schema.Constraints{MinLength: new(1), Pattern: "^a", Says: "a bucket name", Format: "new"}},
			"At least 1 character. A bucket name.",
		},
		{
			schema.Property{Constraints: &schema.Constraints{MinItems: new(2), MaxItems: new(2), Unique: true}},
			"Exactly 2 elements. No equal elements.",
		},
		{
			schema.Property{Constraints: &schema.Constraints{MaxProperties: new(1), KeyPattern: "^[a-z]+$"}},
			"At most 1 entry. Keys match `^[a-z]+$`.",
		},
	} {
		if got := schema.PropertyDoc(&test.property); got != test.want {
			t.Errorf("PropertyDoc(%+v) = %q, want %q", test.property, got, test.want)
		}
	}
}
