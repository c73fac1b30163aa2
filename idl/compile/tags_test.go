package compile

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// The table of options in docs/idl.md and the list in the catalog are derived from tagWords.
func TestOptionDocs(t *testing.T) {
	const file, head = "../../docs/idl.md", "| option | meaning | where |\n|---|---|---|\n"
	var table strings.Builder
	var list []string
	for _, w := range tagWords {
		if w.name == "" {
			continue
		}
		name, meaning, where := w.name, w.doc, "anywhere"
		if w.value != "" {
			name += "="
		}
		if w.constrains == "" && (w.value == "" || w.name == "name") {
			list = append(list, "`"+name+"`")
		}
		if w.accepted != "" {
			meaning += " `" + w.accepted + "` means the same."
		}
		switch {
		case w.set == nil:
			where = "the marker of a named resource"
		case w.resources:
			where = "resources"
		case w.constrains != "":
			where = w.constrains
		}
		table.WriteString("| `" + name + w.value + "` | " + meaning + " | " + where + " |\n")
	}
	before, rest, found := strings.Cut(string(must.Get(os.ReadFile(file))(t)), head)
	got, after, ends := strings.Cut(rest, "\n\n")
	if !found || !ends {
		t.Fatalf("%s contains no table of options", file)
	}
	if got += "\n"; got != table.String() {
		if flag.Lookup("update").Value.String() != "true" {
			t.Errorf("the table of options in %s is stale; run with -update to get:\n%s", file, &table)
		} else if err := os.WriteFile(file, []byte(before+head+table.String()+"\n"+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list = append(list, "constraints such as `min=`")
	last := len(list) - 1
	sentence := "The options of a lumi tag are " + strings.Join(list[:last], ", ") + ", and " + list[last] + "."
	entries := must.Get(diag.Catalog().Select([]string{string(diag.UnknownOption)}, ""))(t)
	if entry := strings.ReplaceAll(entries[0].Text, "\n", " "); !strings.Contains(entry, sentence) {
		t.Errorf("the catalog entry of UnknownOption does not contain: %s", sentence)
	}
}
