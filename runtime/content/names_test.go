package content

import "testing"

// The memory used by an archive's names is limited.
func TestNamesLimit(t *testing.T) {
	n := names{spent: maxNames - 3*nameCost}
	if err := n.addFile("a/b"); err != nil {
		t.Fatal(err)
	}
	if err := n.addFile("a/c"); err == nil || err.Error() != "the archive contains too many files" {
		t.Errorf("addFile error = %v, want too many files", err)
	}
	err := place{path: "x"}.failed(errTooMany)
	if want := `"x": the archive contains too many files`; err.Error() != want {
		t.Errorf("failed = %v, want %s", err, want)
	}
}
