package lumigl

import "testing"

// TestSalvage holds what there is of a file in which something is wrong.
func TestSalvage(t *testing.T) {
	for src, want := range map[string]int{
		`{"vertices": {"a": {"x": {"#ref": "b"}}}}`: 1,
		`{"vertices": {}, "resources": {}}`:         -1,
		`{}`:                                        -1,
		`{...}`:                                     -1,
		`[]`:                                        -1,
	} {
		doc, err := (Parser{}).Salvage(src)
		found := -1
		if doc != nil {
			found = doc.Base().Len()
		}
		if err == nil || found != want {
			t.Errorf("%s: %d vertices, %v", src, found, err)
		}
	}
}

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
