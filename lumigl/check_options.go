package lumigl

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// optionChecks maps each option to its check. When a check runs, the reporter's path points to the option.
var optionChecks = map[string]func(r *reporter, v *Value){
	"aliases":             each((*reporter).alias),
	callOption:            (*reporter).flag,
	"deleteBeforeReplace": (*reporter).flag,
	dependsOn:             each((*reporter).dependency),
	"ignoreChanges":       each((*reporter).changePath),
	"import":              (*reporter).importID,
	"protect":             (*reporter).flag,
	readOption:            (*reporter).readID,
	"replaceOnChanges":    each((*reporter).changePath),
	"retainOnDelete":      (*reporter).flag,
	"timeouts":            (*reporter).timeouts,
}

var optionKeys = slices.Sorted(maps.Keys(optionChecks))

// Options with special treatment. Only dependsOn and readOption contain references. A vertex with readOption or callOption
// is only read, and has no other options.
const (
	dependsOn  = "dependsOn"
	readOption = "read"
	callOption = "call"
)

// options checks a resource's options once references are resolved. It skips the option named reported.
func (r *reporter) options(v *Value, reported string) {
	if v.kind != Object {
		r.option(v, "an object")
		return
	}
	for i := range v.node.members {
		m := &v.node.members[i]
		check := optionChecks[m.Key]
		if m.Key == reported {
			continue
		}
		r.at(m.Key, func() {
			if check == nil {
				r.meant(OptionFault, m.offset, unusedKey(m.Key, *v, optionKeys), fmt.Sprintf("unknown option %q", clip(m.Key)))
				return
			}
			if m.Key == readOption || m.Key == callOption && m.Value.text == "true" {
				r.alone(m, v)
			}
			check(r, &m.Value)
		})
	}
}

// alone reports other options next to option m, which excludes them.
func (r *reporter) alone(m *Member, all *Value) {
	for _, other := range all.node.members {
		if other.Key != m.Key && optionChecks[other.Key] != nil {
			r.fault(OptionFault, m.offset, "%q cannot be combined with %q: what is only read has no other options", m.Key, other.Key)
			return
		}
	}
}

// reading checks a resource that is a look-up or a call. Once it has been read, it has an id, and its results among its
// properties.
func (r *reporter) reading(v *Vertex) {
	last := v.key[strings.LastIndexAny(v.key, "/:")+1:]
	number, isNumbered := strings.CutPrefix(last, "#")
	_, isRead := member(v.Options, readOption)
	isCall, _ := v.Options.Get(callOption).Bool()
	switch {
	case isRead && v.ID == "" && v.Properties.Len() > 0:
		r.fault(OptionFault, v.offset, `a resource with the option "read" has no properties: they are read`)
	case isCall && (!isNumbered || !isIndex(number)):
		r.fault(OptionFault, v.offset, `a call has a number for a name, such as "#1", not %q`, clip(last))
	}
}

// option reports an option value of the wrong kind.
func (r *reporter) option(v *Value, wanted string) {
	last := r.path[len(r.path)-1]
	what := strconv.Quote(last.key)
	if last.index >= 0 {
		what = fmt.Sprintf("each element of %q", r.path[len(r.path)-2].key)
	}
	r.fault(OptionFault, v.offset, "%s must be %s, not %s", what, wanted, describe(*v))
}

// each returns a check for a list that applies check to its elements.
func each(check func(r *reporter, v *Value)) func(*reporter, *Value) {
	return func(r *reporter, v *Value) {
		if v.kind != List {
			r.option(v, "a list")
			return
		}
		for i := range v.node.elements {
			r.within(i, func() { check(r, &v.node.elements[i]) })
		}
	}
}

func (r *reporter) flag(v *Value) {
	if v.kind != Bool {
		r.option(v, "a boolean")
	}
}

func (r *reporter) importID(v *Value) {
	switch {
	case v.kind != Text:
		r.option(v, "a string")
	case v.text == "":
		r.fault(OptionFault, v.offset, `"import" must be the id of an existing resource, not ""`)
	}
}

func (r *reporter) readID(v *Value) {
	_, property, isReference := v.Target()
	switch {
	case isReference && property == "":
		r.fault(OptionFault, v.offset, `"read" must be an id: add the "property" of the reference that has it`)
	case v.kind != Text && !isReference && !v.IsExpression():
		r.option(v, "a string, or a reference to one")
	case v.kind == Text && v.text == "":
		r.fault(OptionFault, v.offset, `"read" must be the id of an existing resource, not ""`)
	}
}

func (r *reporter) alias(v *Value) {
	if v.kind != Text {
		r.option(v, "a string")
		return
	}
	if strings.HasPrefix(v.text, "urn:") {
		if _, err := urn.Parse(v.text); err != nil {
			r.fault(OptionFault, v.offset, "an alias must be a former name or URN; invalid URN: %s", urnProblem(err))
		}
	} else if urn.CheckName(v.text) != nil {
		r.fault(OptionFault, v.offset, "an alias must be a former name or URN, and not empty or contain control characters")
	}
}

func (r *reporter) dependency(v *Value) {
	switch {
	case v.kind != Reference:
		r.option(v, "a reference to a resource")
	case v.text != "":
		r.fault(OptionFault, v.offset, `"dependsOn" refers to whole resources; remove the "property"`)
	default:
		target, _, _ := v.Target()
		if isCall, _ := target.Options.Get(callOption).Bool(); isCall {
			r.fault(OptionFault, v.offset, `"dependsOn" cannot refer to a call: refer to one of its results in a property`)
		}
	}
}

func (r *reporter) changePath(v *Value) {
	if v.kind != Text {
		r.option(v, "a string")
	} else if err := CheckPath(v.text); err != nil {
		r.fault(OptionFault, v.offset, "%s", err)
	}
}

var timeoutKeys = []string{"create", "update", "delete"}

func (r *reporter) timeouts(v *Value) {
	if v.kind != Object {
		r.option(v, "an object")
		return
	}
	for i := range v.node.members {
		m := &v.node.members[i]
		r.at(m.Key, func() {
			switch {
			case !slices.Contains(timeoutKeys, m.Key):
				r.meant(OptionFault, m.offset, unusedKey(m.Key, *v, timeoutKeys),
					fmt.Sprintf(`unknown key %q of "timeouts"; it has "create", "update" and "delete"`, clip(m.Key)))
			case m.Value.kind != Text:
				r.option(&m.Value, "a duration in a string")
			case !isTimeout(m.Value.text):
				r.fault(OptionFault, m.Value.offset, `malformed duration %q: write hours, minutes and seconds, such as "90s", "10m" or "1h30m"`,
					clip(m.Value.text))
			}
		})
	}
}

// isTimeout reports whether s is a positive duration in whole hours, minutes, and seconds, in this order.
func isTimeout(s string) bool {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return false
	}
	units := "hms"
	for i := range len(s) {
		if '0' <= s[i] && s[i] <= '9' {
			continue
		}
		at := strings.IndexByte(units, s[i])
		if at < 0 {
			return false
		}
		units = units[at+1:]
	}
	return true
}

// CheckPath returns an error if path is not a valid property path. [*] matches any list element.
func CheckPath(path string) error {
	if problem := pathProblem(path, true); problem != "" {
		return fmt.Errorf("malformed path %q: %s", clip(path), problem)
	}
	return nil
}

// pathProblem returns a description of the error in a property path, or "" if it is valid. If wildcards is set, [*] is
// allowed.
func pathProblem(path string, wildcards bool) string {
	for i := 0; i < len(path) || i == 0; {
		rest := path[i:]
		if !strings.HasPrefix(rest, "[") {
			if i > 0 && rest[0] == '.' {
				rest = rest[1:]
				i++
			} else if i > 0 {
				return `expected "." or "[" after "]"`
			}
			n := strings.IndexFunc(rest, func(r rune) bool { return strings.ContainsRune(".[]\"", r) || unicode.IsSpace(r) || isHidden(r) })
			if n < 0 {
				n = len(rest)
			}
			if rest[:n] == "*" {
				if !wildcards {
					return `write ["*"] for the key *`
				}
				return `write [*] for every element, or ["*"] for the key *`
			}
			if n == 0 {
				return `missing name; write keys with other characters as in tags["a b"]`
			}
			if i += n; i < len(path) && path[i] != '.' && path[i] != '[' {
				return fmt.Sprintf("unexpected %q", firstRune(path[i:]))
			}
			continue
		}
		end := strings.IndexByte(rest, ']')
		if strings.HasPrefix(rest, `["`) {
			if end = tokenEnd(rest[1:]); !strings.HasPrefix(rest[1+end:], "]") || !json.Valid([]byte(rest[1:1+end])) {
				return `expected a string and "]" after "["`
			}
			end++
		} else if end < 0 || !isIndex(rest[1:end]) && (!wildcards || rest[:end] != "[*") {
			if wildcards {
				return "brackets hold a number, a key in quotes or *"
			}
			return "brackets must contain a number or a quoted key"
		}
		i += end + 1
	}
	return ""
}

func firstRune(s string) string {
	for _, r := range s {
		return string(r)
	}
	return ""
}

func isIndex(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 0 && strconv.Itoa(n) == s
}

// withoutDefaults removes options that are set to their defaults. It returns the absent value if none remain. The option
// deleteBeforeReplace has no default: false overrides the provider's order.
func withoutDefaults(options Value) Value {
	if options.kind != Object {
		return options
	}
	kept := options.Map(func(_ int, key string, v Value) (Value, bool) {
		return Value{}, v.kind == Bool && v.text == "false" && key != "deleteBeforeReplace" || (v.kind == List || v.kind == Object) && v.Len() == 0
	})
	if kept.Len() == 0 {
		return Value{}
	}
	return kept
}

// source reports a source position that is not of the form FILE:LINE:COLUMN.
func (r *reporter) source(source string, offset uint32) {
	rest, column := cutLast(source)
	file, line := cutLast(rest)
	if file == "" || strings.ContainsRune(file, '\\') || strings.ContainsFunc(source, isHidden) || !isPosition(line) || !isPosition(column) {
		r.at("source", func() {
			r.fault(ShapeFault, offset, `"source" must be a path with slashes, a line and a column, such as "network/main.ts:12:9"`)
		})
	}
}

func cutLast(s string) (before, after string) {
	i := max(0, strings.LastIndexByte(s, ':'))
	return s[:i], strings.TrimPrefix(s[i:], ":")
}

func isPosition(s string) bool { return isIndex(s) && s != "0" }

// unusedKey returns the element of keys that got probably misspells. It returns "" if there is none or if the object in
// already has that key.
func unusedKey(got string, in Value, keys []string) string {
	near := suggest.Name(got, keys)
	if _, ok := member(in, near); ok {
		return ""
	}
	return near
}
