package muranopl_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
)

var update = flag.Bool("update", false, "update golden files")

const workflows = "testdata/workflows.txt"

// workflow is a test case in testdata/workflows.txt.
type workflow struct {
	title, source, golden string
	request               request
}

// mainClass returns class t.Main with a method main.
func mainClass(parent, body string) string {
	const indent = "\n      "
	return "Namespaces: {=: t, n: t.sub}\nName: Main\nExtends: " + parent + "\nMethods:\n  main:\n    Body:" + indent +
		strings.ReplaceAll(strings.TrimSuffix(body, "\n"), "\n", indent) + "\n"
}

func readWorkflows(t *testing.T) (head string, all []workflow) {
	sections := strings.Split(string(must.Get(os.ReadFile(workflows))(t)), "\n=== ")
	_, common, _ := strings.Cut(sections[0], "all cases:\n\n")
	for _, section := range sections[1:] {
		var w workflow
		section, w.golden, _ = strings.Cut(strings.TrimSuffix(section, "\n")+"\n", ">>> ")
		w.title, w.source, _ = strings.Cut(section, "\n")
		w.request = request{Classes: []string{w.source}, Model: model("t.Main"), Method: "main"}
		if !strings.HasPrefix(w.source, "Name") {
			w.request.Classes = []string{common, mainClass("Common", w.source)}
			w.request.Model = []byte(`{"?": {"type": "t.Main", "id": "main"}, "peer": {"?": {"type": "t.Peer", "id": "peer"}}}`)
		}
		all = append(all, w)
	}
	return sections[0], all
}

func TestWorkflows(t *testing.T) {
	text, all := readWorkflows(t)
	for _, w := range all {
		got := run(t, w.request).String() + "\n"
		if got != w.golden && !*update {
			t.Errorf("%s\n%s: answer =\n%swant\n%s", w.title, w.source, got, w.golden)
		}
		text += "\n=== " + w.title + "\n" + w.source + ">>> " + strings.TrimSuffix(got, "\n")
	}
	if *update {
		must.Do(t, os.WriteFile(workflows, []byte(text+"\n"), 0o644))
	}
}

// TestWorkflowsReference compares every twelfth case with the reference, or all cases if MURANO_ITERATIONS is set. The
// title of a case that deliberately differs states the reason.
func TestWorkflowsReference(t *testing.T) {
	t.Parallel()
	ref := startReference(t)
	_, all := readWorkflows(t)
	for i, w := range all {
		if os.Getenv("MURANO_ITERATIONS") == "" && i%12 != 0 {
			continue
		}
		got, want := run(t, w.request), ref.ask(w.request)
		d := difference(got, want)
		if strings.HasPrefix(w.title, "stack trace: ") {
			want := strings.ReplaceAll(strings.Join(want.Error.Stack, "\n"), "block construct", "Throw")
			if got := strings.Join(got.Error.Stack, "\n"); got != want {
				d = "has the stack trace\n" + got + "\n, in the reference\n" + want
			}
		}
		if d != "" != strings.Contains(w.title, "; differs: ") {
			t.Errorf("%s: difference from the reference, or none where one is expected:\n%s%s", w.title, w.source, d)
		}
	}
}
