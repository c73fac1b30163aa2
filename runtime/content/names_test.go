package content

import "testing"

// An archive's names alone could fill the memory.
func TestNamesLimit(t *testing.T) {
	n := names{spent: maxNames - 3*nameCost}
	if err := n.addFile("a/b"); err != nil {
		t.Fatal(err)
	}
	if err := n.addFile("a/c"); err == nil || err.Error() != "the archive contains too many files" {
		t.Errorf("got %v", err)
	}
	err := place{path: "x"}.failed(errTooMany)
	if want := `"x": the archive contains too many files`; err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
