package show

import (
	"fmt"
	"io"
	"strings"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/policy"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl/diff"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// WriteText writes a plan to w as text. Control characters are escaped, and secrets are masked.
func WriteText(w io.Writer, p *plan.Plan, o Options) error {
	t := text{term.Stream{Color: o.Color}}
	var parts []string
	for _, part := range [...]string{
		t.header(p, o), t.compared("config", config(p)), t.steps(p), t.compared("provides", provides(p)), t.notes(p), t.cleanups(p), t.moves(p), t.details(o), t.policy(o),
	} {
		if part != "" {
			parts = append(parts, strings.Trim(part, "\n"))
		}
	}
	body := strings.Join(parts, "\n\n")
	if o.Limit > 0 && len(body) > o.Limit {
		end := strings.LastIndexByte(body[:o.Limit], '\n') + 1
		body = body[:end] + fmt.Sprintf("… %d more lines: to see them, redirect the output to a file, as in 'lumi plan > FILE'",
			strings.Count(body[end:], "\n")+1)
	}
	_, err := io.WriteString(w, body+"\n\n"+t.totals(p))
	return err
}

// text formats the parts of a plan. Each method returns complete lines, or "" if there is nothing to show.
type text struct{ term.Stream }

func line(depth int, text string) string { return strings.Repeat("  ", depth) + text + "\n" }

// shown returns s with control characters escaped, clipped to 160 columns.
func shown(s string) string { return term.Clip(term.Visible(s), 160) }

func (t text) header(p *plan.Plan, o Options) string {
	title := t.Paint(term.Bold, fmt.Sprintf(purposes[p.Purpose].title, shown(p.Module), shown(p.Environment)))
	if p.Deployment != 0 && !o.Idle {
		title += fmt.Sprintf(", deployment %d", p.Deployment)
	}
	all := line(0, title)
	for _, w := range o.Waits {
		if o.Idle {
			break
		}
		all += line(0, "waits for "+term.Visible(w.For.Name()+": "+w.Reason))
	}
	return all
}

// steps formats the effective steps, showing each replacement once. Multi-line steps are surrounded by blank lines.
func (t text) steps(p *plan.Plan) string {
	var all strings.Builder
	for _, s := range p.Steps {
		if s.Replaced || kindOf(s) == plan.Same || s.IsRead() && !s.Waits() {
			continue
		}
		one := t.step(s, 0)
		if strings.Count(one, "\n") > 1 {
			one = "\n" + one + "\n"
		}
		all.WriteString(one)
	}
	return strings.ReplaceAll(all.String(), "\n\n\n", "\n\n")
}

// step formats a step with its kind, resource, source position, reasons, and changes.
func (t text) step(s *plan.Step, depth int) string {
	kind := kindOf(s)
	verb := forms[kind].sign + " " + kind.String()
	if s.Possible {
		verb += "?"
	}
	if s.Kind == plan.Replace && s.DeleteFirst {
		verb += " (delete first)"
	}
	title := t.Paint(forms[kind].style, verb) + " " + t.resource(s.URN, idOf(s))
	if s.New != nil && s.New.Source != "" {
		title += "  " + t.Paint(term.Dim, shown(s.New.Source))
	}
	all := line(depth, title)
	detail := func(format string, args ...any) { all += line(depth+1, term.Visible(fmt.Sprintf(format, args...))) }
	if s.Old != nil && s.Old.URN != s.URN {
		detail("was %s", graph.ShortName(s.Old.URN))
	}
	if len(s.Reasons) > 0 {
		detail("because %s", strings.Join(s.Reasons, "; "))
	}
	if s.NotCompared {
		detail("not compared: stored secrets need the key")
	}
	if s.Kind == plan.Forget && !s.Old.Gone() || s.Kind == plan.Replace && s.Old.Flag("retainOnDelete") {
		detail("the existing resource is forgotten, not deleted")
	}
	if s.IsRead() {
		return all
	}
	return all + t.changes(changes(s), depth+1)
}

func (t text) changes(r *diff.Resource, depth int) string {
	var all strings.Builder
	_ = r.WriteText(&all, depth, diff.TextOptions{Color: t.Color, Context: 1}) // Writing to a Builder cannot fail.
	return all.String()
}

// resource formats a resource on one line, as in the output of lumi show.
func (t text) resource(u urn.URN, id string) string {
	all := t.Paint(term.Bold, shown(u.Name())) + " " + t.Paint(term.Dim, shown(string(u.Type())))
	if id != "" {
		all += " " + shown(id)
	}
	return all
}

// compared formats the changes to a part of the module other than its resources.
func (t text) compared(part string, r *diff.Resource) string {
	if len(r.Changes) == 0 {
		return ""
	}
	return line(0, t.Paint(term.Yellow, "~")+" "+t.Paint(term.Bold, part)) + t.changes(r, 1)
}

func (t text) notes(p *plan.Plan) (all string) {
	styles := map[string]term.Style{"stale": term.Yellow, "broken": term.Red}
	for _, n := range notes(p) {
		all += line(0, t.Paint(styles[n.Kind], term.Visible(n.Text)))
	}
	return all
}

// cleanups formats the cleanups that delete resources.
func (t text) cleanups(p *plan.Plan) (all string) {
	for _, c := range p.Cleanups {
		if len(c.Deleted) > 0 {
			all += line(0, "Then "+t.Paint(term.Bold, "Cleanup["+shown(c.Module)+"]")+" removes:")
		}
		for _, s := range c.Steps() {
			all += t.step(s, 1)
		}
	}
	return all
}

func (t text) moves(p *plan.Plan) (all string) {
	for _, m := range p.Moves {
		all += line(0, fmt.Sprintf("Perhaps moved: %s → %s (to keep the resource, add the alias %q)",
			t.resource(m.Old.URN(), ""), t.resource(m.New.URN(), ""), shown(m.Old.URN().Name())))
	}
	return all
}

// details formats the provisioners' plans, indented below the provisioners' names.
func (t text) details(o Options) string {
	var all strings.Builder
	for _, d := range o.Details {
		if strings.TrimSpace(d.Text) == "" && len(d.Tasks) == 0 {
			continue
		}
		all.WriteString("\n" + line(0, t.Paint(term.Bold, fmt.Sprintf("Task %d, %s:", d.Task, shown(d.Provisioner)))))
		for l := range strings.Lines(strings.Trim(d.Text, "\r\n")) {
			l = strings.ReplaceAll(strings.TrimRight(l, " \t\r\n"), "\t", "    ")
			all.WriteString(strings.TrimRight(line(1, term.Visible(l)), " \n") + "\n")
		}
		for _, task := range d.Tasks {
			all.WriteString(line(1, "then "+shown(task)))
		}
	}
	return all.String()
}

// policy formats the findings of the policy.
func (t text) policy(o Options) (all string) {
	for _, f := range o.Findings {
		style := term.Red
		if f.Result != policy.Violated || f.IsAdvisory() {
			style = term.Yellow
		}
		title := t.Paint(style, f.Result) + " " + f.Name()
		if f.URN != "" {
			title += " in " + t.resource(f.URN, "")
		}
		all += line(1, title+": "+term.Visible(f.Details()))
	}
	if all != "" {
		all = line(0, t.Paint(term.Bold, "Policy:")) + all
	}
	return all
}

// totals formats the trailing lines with the totals and the digest.
func (t text) totals(p *plan.Plan) string {
	var counts [len(forms)]int
	var atMost [len(forms)]string
	for _, s := range p.Steps {
		if s.Replaced || s.IsRead() && !s.Waits() {
			continue
		}
		counts[kindOf(s)]++
		if s.Possible {
			atMost[s.Kind] = "up to "
		}
	}
	var parts []string
	for kind := plan.Read; kind <= plan.Forget; kind++ {
		if counts[kind] > 0 {
			parts = append(parts, t.Paint(forms[kind].style, fmt.Sprintf("%s%d to %s", atMost[kind], counts[kind], kind)))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "No resources to change")
	}
	removed := 0
	for _, c := range p.Cleanups {
		removed += len(c.Deleted)
	}
	if removed > 0 {
		parts = append(parts, t.Paint(term.Red, fmt.Sprintf("%d to remove in cleanups", removed)))
	}
	if n := counts[plan.Same]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d unchanged", n))
	}
	digest := "Digest: " + term.Visible(p.Digest)
	if p.Digest == "" {
		digest = "No digest: stored secrets cannot be compared without the key"
	}
	return line(0, strings.Join(parts, ", ")) + line(0, digest)
}
