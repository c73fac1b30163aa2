package taskgraph_test

import (
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/test/kit/expect"
)

func TestCheckFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files  []string // LAYER:TEXT
		strict bool
		want   string
	}{
		"none":   {},
		"layers": {files: []string{"0:- {id: a, type: shell}", "0:[]", "1:- {id: a, parameters: {cmd: x}, requires: b}", "2:- {id: b, type: skipped, tasks: c}", "2:- {id: c, type: anchor}"}},
		"types of graphs": {
			files: []string{"0:- {id: a, type: anchor}", "0:type: fix\ntasks: [{id: a, type: anchor}, {id: b, type: anchor, requires: a}]", "0:tasks: [{id: b, type: anchor, requires: c}]"},
			want:  "f2:1:41: task b: requires: unknown task c",
		},
		"duplicates": {
			files: []string{"0:- {id: a, type: anchor}\n- {id: a}", "0:- {id: a}\n- {type: anchor, id: b}", "1:- {id: b}", "1:- {id: b}"},
			want: "f0:2:8: task a: duplicate task, first defined on line 1\nf1:1:8: task a: duplicate task, first defined in f0:1\n" +
				"f3:1:8: task b: duplicate task, first defined in f2:1",
		},
		"errors once, and at the layer": {
			files: []string{"0:- {id: a, type: shell, parameters: {cmd: x}, requires: [5, b]}", "1:- {id: a, type: shel}"},
			want: "f0:1:56: task a: requires: unknown task b\nf0:1:57: task a: requires[0] must be a non-empty string\n" +
				"f1:1:17: task a: unknown type \"shel\"; did you mean shell?",
		},
		"strict": {files: []string{"0:- {id: a, type: anchor, role: [], roles: []}"}, strict: true, want: "" +
			"f0:1:25: task a: role is a synonym; use roles\nf0:1:35: task a: role and roles are the same attribute; use only one of them"},
		"unreadable": {files: []string{"0:- {id: a, type: shel, tasks: 5}", "0:", "0:- ["}, want: "f0:1:30: task a: tasks must be a string or a list of strings\n" +
			"f1:1:1: empty file; a graph without tasks is []\nf2:2:1: invalid YAML: did not find expected node content"},
	} {
		var files []*taskgraph.File
		for i, text := range c.files {
			layer, src, _ := strings.Cut(text, ":")
			files = append(files, &taskgraph.File{Name: "f" + string(rune('0'+i)), Src: []byte(src), Layer: int(layer[0] - '0')})
		}
		complete := taskgraph.CheckFiles(files, c.strict, types)
		var lines []string
		for _, f := range files {
			if len(f.Errors) > 0 {
				lines = append(lines, message(&taskgraph.Error{File: f.Name, Problems: f.Errors}))
			}
		}
		expect.Equal(t, c.want, strings.Join(lines, "\n"), name)
		expect.Equal(t, name != "unreadable", complete, name)
	}
}
