package plan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/queue"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/golden"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// queue compares a block with the deployment queue and its waits.
func (s *study) queue(block string) {
	s.t.Helper()
	var lines []string
	for i, e := range s.waiting {
		waits := s.waiting.Waits(i, s.resources)
		if len(waits) == 0 {
			lines = append(lines, e.Name())
		}
		for _, w := range waits {
			lines = append(lines, fmt.Sprintf("%s → %s, since %s", w.For.Name(), e.Name(), w.Reason))
		}
	}
	if len(s.waiting) == 0 {
		lines = []string{"(empty)"}
	}
	s.page.compare(block, strings.Join(lines, "\n")+"\n")
}

// ready compares a block with the names of the deployments that can start.
func (s *study) ready(block string) {
	s.t.Helper()
	var names []string
	for _, e := range s.waiting.Ready(s.resources) {
		names = append(names, e.Name())
	}
	s.page.compare(block, strings.Join(names, ", ")+"\n")
}

// tasks compares a block with the task table: the tasks of waiting and running deployments, and of finished deployments
// before them.
func (s *study) tasks(block string) {
	s.t.Helper()
	const row = "%-10s | %-4s | %-7s | %-8s | %s\n"
	table := fmt.Sprintf(row, "DEPLOYMENT", "STEP", "STATE", "TASK", "INPUTS")
	table += strings.Repeat("-", len(table)+20) + "\n"
	for _, d := range s.deployments {
		name := d.Name()
		if !d.IsCleanup() {
			name = fmt.Sprint(d.ID)
		}
		for i, p := range d.tasks {
			task, input := d.plan.Tasks[i], d.plan.Inputs()[i]
			table += fmt.Sprintf(row, name, fmt.Sprintf("%d.", task.Number), p.state, "call "+task.Provisioner, input)
		}
	}
	s.page.compare(block, table)
}

// cleanups compares a block with the cleanups announced by a deployment's plan.
func (s *study) cleanups(block, name string) {
	s.t.Helper()
	var b strings.Builder
	for _, c := range s.deployment(name).plan.Cleanups {
		fmt.Fprintf(&b, "%s removes %s\n", queue.Entry{Module: c.Module}.Name(), strings.Trim(fmt.Sprint(c.Versions), "[]"))
	}
	s.page.compare(block, b.String())
}

// graph compares the edges of the resource graph with a block, and its LumiGL form with the file of the same name.
func (s *study) graph(name string) {
	s.t.Helper()
	s.page.compare(name, compact(s.resources))
	text, err := lumigl.Append(nil, s.resources.LumiGL())
	if err != nil {
		s.t.Fatal(err)
	}
	file := filepath.Join(caseStudy, name+".json")
	if *golden.Update {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || string(want) != string(text) {
		s.t.Errorf("%s is out of date (run with -update): %v\n%s", file, err, cmp.Diff(string(want), string(text)))
	}
}

// compact formats a resource graph with one line per edge and unreferenced version.
func compact(g *graph.Graph) string {
	var b strings.Builder
	incoming := map[graph.VersionID]bool{}
	for _, module := range g.Modules() {
		if v := g.Newest(module); v != nil {
			incoming[v.VersionID] = true
			fmt.Fprintf(&b, "root → %s\n", v)
		}
		for _, v := range g.Versions(module) {
			for _, e := range v.Uses {
				incoming[e.To] = true
			}
		}
	}
	for _, module := range g.Modules() {
		for _, v := range g.Versions(module) {
			if !incoming[v.VersionID] {
				fmt.Fprintf(&b, "%s (nothing leads to it)\n", v)
			}
			for r := range v.Resources() {
				fmt.Fprintf(&b, "%s → %s\n", v, plan.Vertex{Resource: r})
			}
			for _, e := range v.Uses {
				fmt.Fprintf(&b, "%s → %s: %s: %s\n", v, e.To, e.Name, e.Type)
			}
		}
	}
	return b.String()
}

// page is a documentation page that contains outputs of a test. Each output is in a block with a name after the
// language.
type page struct {
	t          *testing.T
	file, text string
	compared   map[string]bool
}

func openPage(t *testing.T, file string) *page {
	text := must.Get(os.ReadFile(file))(t)
	return &page{t: t, file: file, text: string(text), compared: map[string]bool{}}
}

// blocks matches a block. The groups are its language, name, and text.
var blocks = regexp.MustCompile("(?ms)^```(\\w+) (\\S[^\\n]*)\\n((?:.*?\\n)??)```$")

// compare compares a block with an output. With -update, it replaces the block.
func (p *page) compare(name, output string) {
	p.t.Helper()
	for _, m := range blocks.FindAllStringSubmatchIndex(p.text, -1) {
		if p.text[m[4]:m[5]] != name {
			continue
		}
		if p.compared[name] {
			p.t.Errorf("%s: block %q is compared twice", p.file, name)
		}
		p.compared[name] = true
		if *golden.Update {
			p.text = p.text[:m[6]] + output + p.text[m[7]:]
		} else if diff := cmp.Diff(p.text[m[6]:m[7]], output); diff != "" {
			p.t.Errorf("%s: block %q differs (-want +got):\n%s", p.file, name, diff)
		}
		return
	}
	p.t.Errorf("%s: no block %q for the output\n%s", p.file, name, output)
}

// close compares the blocks named after files and reports blocks that were not compared. With -update, it writes the
// page.
func (p *page) close() {
	p.t.Helper()
	for _, m := range blocks.FindAllStringSubmatch(p.text, -1) {
		if filepath.Ext(m[2]) == ".json" {
			text, err := os.ReadFile(filepath.Join(caseStudy, m[2]))
			if err != nil {
				p.t.Fatal(err)
			}
			p.compare(m[2], string(text))
		} else if !p.compared[m[2]] {
			p.t.Errorf("%s: block %q was not compared", p.file, m[2])
		}
	}
	if *golden.Update {
		if err := os.WriteFile(p.file, []byte(p.text), 0o644); err != nil {
			p.t.Fatal(err)
		}
	}
}
