package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// digest returns a hash of a plan's effects, configuration, provided and used values, and of what it reads later, or "" if
// secrets could not be compared. It hashes sorted texts because the order of steps depends on deployment numbers. A hash for
// each function follows; they are not part of the plan's identity, but tell which results differ from those of another plan.
func digest(p *Plan) string {
	if slices.ContainsFunc(p.Steps, func(s *Step) bool { return s.NotCompared }) {
		return ""
	}
	var texts []string
	names := uniqueNames(p.Steps)
	add := func(values []lumigl.Value, format string, args ...any) {
		text := fmt.Appendf(nil, format, args...)
		for _, v := range values {
			text = appendPublic(append(text, ' '), v, names)
		}
		texts = append(texts, string(text))
	}
	for _, s := range p.EffectiveSteps() {
		var values []lumigl.Value
		if s.New != nil {
			values = []lumigl.Value{s.New.Inputs, s.New.Options}
		}
		if drift := s.drift(); drift.Exists() {
			values = append(values, drift)
		}
		add(values, "%s %q %q %t %t", s.Kind, s.URN, s.was(), s.Possible, s.DeleteFirst)
	}
	reads := map[urn.URN]bool{}
	for _, s := range p.Steps {
		if reads[s.URN] = reads[s.URN] || s.IsRead(); s.Waits() {
			add([]lumigl.Value{s.New.Inputs, s.New.Options}, "read %q", s.URN)
		}
	}
	add(nil, "%d %q %q", p.Purpose, p.Environment, p.Module)
	if v := p.Transition.Graph.Newest(p.Module); v != nil {
		add([]lumigl.Value{v.Configuration}, "configuration")
		if v.Config.Exists() { // digests of programs without configuration are the same as in older versions
			add([]lumigl.Value{v.Config}, "config")
		}
		for _, provided := range v.Provides {
			values := []lumigl.Value{provided.Type.Form, provided.Value}
			for target := range provided.Value.References() {
				if reads[target.URN()] { // Its results can change without a step.
					values = append(values, provided.Result)
					break
				}
			}
			add(values, "provides %q", provided.Name)
		}
		for _, e := range v.Uses {
			add([]lumigl.Value{e.Type.Form}, "uses %q %q %q", e.Module, e.Name, e.Where)
		}
	}
	slices.Sort(texts)
	sum := sha256.Sum256([]byte(strings.Join(texts, "\n")))
	all := []string{hex.EncodeToString(sum[:])[:32]}
	for _, c := range p.calls(names) {
		all = append(all, c.hash)
	}
	return strings.Join(all, "-")
}

// called is a function in a digest. hash is the start of the hash of its calls' arguments and public results.
type called struct{ function, hash string }

// calls returns the functions that a plan calls, in alphabetical order.
func (p *Plan) calls(names *strings.Replacer) (all []called) {
	texts := map[string][]string{}
	for _, s := range p.Steps {
		if s.IsRead() && s.New.Flag(graph.CallOption) {
			function := string(s.URN.Type())
			text := appendPublic(appendPublic(nil, s.New.Inputs, names), s.New.Outputs, names)
			texts[function] = append(texts[function], string(text))
		}
	}
	for _, function := range slices.Sorted(maps.Keys(texts)) {
		slices.Sort(texts[function])
		sum := sha256.Sum256([]byte(strings.Join(slices.Compact(texts[function]), "\n")))
		all = append(all, called{function, hex.EncodeToString(sum[:3])})
	}
	return all
}

// Matches reports whether a digest is that of a plan with the same effects.
func (p *Plan) Matches(digest string) bool {
	want, _, _ := strings.Cut(digest, "-")
	is, _, _ := strings.Cut(p.Digest, "-")
	return p.Digest != "" && want == is
}

// Differing returns the functions with other results than in the plan with the given digest, if that called equally many
// functions.
func (p *Plan) Differing(digest string) (functions []string) {
	calls, was := p.calls(uniqueNames(p.Steps)), strings.Split(digest, "-")[1:]
	for i, c := range calls {
		if len(was) == len(calls) && was[i] != c.hash {
			functions = append(functions, c.function)
		}
	}
	return functions
}

// uniqueNames returns a replacer of the unique names of resources to be created. In an environment that does not exist
// yet, they are different in each plan.
func uniqueNames(steps []*Step) *strings.Replacer {
	var names []string
	for _, s := range steps {
		if s.New == nil || s.New.ID != "" {
			continue
		}
		if _, _, isUnique := expr.Unique(s.New.Inputs.Get(nameProperty)); isUnique {
			if name, _ := s.New.Checked.Get(nameProperty).Text(); name != "" {
				names = append(names, name, fmt.Sprintf("uniqueName(%q)", s.URN))
			}
		}
	}
	return strings.NewReplacer(names...)
}

// appendPublic appends a value as text, with object keys sorted, secrets redacted, and names replaced.
func appendPublic(dst []byte, v lumigl.Value, names *strings.Replacer) []byte {
	if v.IsSecret() {
		return append(dst, "secret"...)
	}
	switch v.Kind() {
	case lumigl.Reference:
		target, property, _ := v.Target()
		return fmt.Appendf(dst, "ref(%q, %q)", target.Key(), property)
	case lumigl.List:
		dst = append(dst, '[')
		for _, e := range v.Elements() {
			dst = append(appendPublic(dst, e, names), ',')
		}
		return append(dst, ']')
	case lumigl.Object:
		members := maps.Collect(v.Members())
		dst = append(dst, '{')
		for _, key := range slices.Sorted(maps.Keys(members)) {
			dst = append(appendPublic(append(strconv.AppendQuote(dst, key), ':'), members[key], names), ',')
		}
		return append(dst, '}')
	case lumigl.Text:
		text, _ := v.Text()
		text, _ = abridged(lumigl.TextOf(names.Replace(text))).Text()
		return strconv.AppendQuote(dst, text)
	case lumigl.Number:
		number, _ := v.Literal()
		return append(dst, number...)
	case lumigl.Bool:
		set, _ := v.Bool()
		return strconv.AppendBool(dst, set)
	default:
		return append(dst, v.Kind().String()...)
	}
}
