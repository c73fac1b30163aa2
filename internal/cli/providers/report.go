package providers

import (
	"fmt"
	"strings"
	"time"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/fixture"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// providerReport is the result of 'lumi provider test'. It is printed as the test proceeds or, with --json, at the end.
// It is documented in docs/conformance.md.
type providerReport struct {
	Plugin  string        `json:"plugin"`
	Package string        `json:"package"`
	Version string        `json:"version,omitempty"`
	Types   []tokens.Type `json:"types"`
	// Functions is omitted if the plugin serves none.
	Functions []tokens.Type `json:"functions,omitempty"`
	// Untested lists the types without a tested resource, and the functions without a tested call.
	Untested  []tokens.Type     `json:"untested"`
	Passed    bool              `json:"passed"`
	Resources []*resourceReport `json:"resources"`
	// Failures lists failures outside of steps: leaked resources, a plugin that does not stop, or secrets in its log.
	Failures []string `json:"failures,omitempty"`
	// Log contains the calls and the log of the plugin. It helps to explain failures.
	Log []string `json:"log,omitempty"`

	con     *console.Console
	label   string          // if not empty, replaces the names of steps
	current *resourceReport // the resource under test
	doing   *stepReport     // the current step, or nil
	prefix  string          // the prefix of the step's failures
	began   time.Time
}

type resourceReport struct {
	Key     string        `json:"key"`
	Type    tokens.Type   `json:"type"`
	Name    string        `json:"name,omitempty"`
	Passed  bool          `json:"passed"`
	Skipped string        `json:"skipped,omitempty"`
	Steps   []*stepReport `json:"steps"`
}

type stepReport struct {
	Step     string   `json:"step"`
	Passed   bool     `json:"passed"`
	Failures []string `json:"failures,omitempty"`
}

func (r *providerReport) header() {
	r.printf("%s\n", pluginHeader(r.con, r.Plugin, r.Package, r.Version, len(r.Types), len(r.Functions)))
}

// printf prints and flushes, unless --json is set.
func (r *providerReport) printf(format string, args ...any) {
	if !r.con.JSON {
		r.con.Printf(format, args...)
		_ = r.con.Stdout.Flush() // write errors are sticky
	}
}

// resource starts or resumes the section of a resource.
func (r *providerReport) resource(s *fixture.Resource) {
	r.current = nil
	for _, known := range r.Resources {
		if known.Key == s.Key() {
			r.current = known
		}
	}
	if r.current == nil {
		r.current = &resourceReport{Key: s.Key(), Type: s.Type, Name: string(s.Name), Passed: true, Steps: []*stepReport{}}
		r.Resources = append(r.Resources, r.current)
	}
	r.printf("\n%s %s\n", r.con.Out.Paint(term.Bold, term.Visible(s.Key())), s.Type)
}

// skip records the reason why the current resource is not tested.
func (r *providerReport) skip(reason string) {
	r.current.Skipped, r.current.Passed = reason, false
	r.printf("  %s  %s\n", r.con.Out.Paint(term.Yellow, "skip"), term.Visible(reason))
}

// step ends the current step and starts another one.
func (r *providerReport) step(of *providertest.Resource, name string) {
	r.end()
	r.prefix = ""
	if of != nil {
		r.prefix = of.String() + ": " + name
	}
	if r.label != "" {
		name = r.label
	}
	r.doing, r.began = &stepReport{Step: name, Passed: true}, time.Now()
	r.current.Steps = append(r.current.Steps, r.doing)
	r.con.Doing("%s: %s", r.current.Key, name)
}

// fail records a failure of the current step.
func (r *providerReport) fail(text string) {
	if r.doing == nil {
		r.step(nil, "prepare")
	}
	if rest, ok := strings.CutPrefix(text, r.prefix); ok && r.prefix != "" {
		text = strings.TrimLeft(rest, ":, ")
	}
	r.doing.Passed, r.current.Passed = false, false
	r.doing.Failures = append(r.doing.Failures, text)
}

// end ends the current step, if any, and prints its result.
func (r *providerReport) end() {
	if r.doing == nil {
		return
	}
	done := r.doing
	r.doing = nil
	result := r.con.Out.Paint(term.Green, "ok") + "  "
	if !done.Passed {
		result = r.con.Out.Paint(term.BoldRed, "FAIL")
	}
	took := ""
	if r.con.Out.Terminal {
		took = r.con.Out.Paint(term.Dim, fmt.Sprintf(" %.1fs", time.Since(r.began).Seconds()))
	}
	r.printf("  %s  %s%s\n", result, term.Visible(done.Step), took)
	for _, text := range done.Failures {
		r.printf("%s", indented(text, "        "))
	}
}

// outside records a failure outside of steps.
func (r *providerReport) outside(text string) { r.Failures = append(r.Failures, text) }

func (r *providerReport) logged(text string) { r.Log = append(r.Log, strings.TrimRight(text, "\n")) }

// indented returns text with each line prefixed by by and control characters escaped.
func indented(text, by string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		b.WriteString(by + term.Visible(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "  ")) + "\n")
	}
	return b.String()
}
