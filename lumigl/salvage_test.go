package lumigl

import "testing"

// TestSalvageHostile holds that texts which once made the reader panic are refused.
func TestSalvageHostile(t *testing.T) {
	for _, src := range []string{
		"{\"\nx: y\", \"z\": 1}",
		`{"resources": 1, "pending": {"deletes": [{"urn": "u", "type": "t", "properties": {}}]}}`,
	} {
		if _, err := (Parser{}).Salvage(src); err == nil {
			t.Errorf("%q is accepted", src)
		}
	}
}
