package plan

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/internal/constraint"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
)

const nameProperty = graph.NameProperty

// leastText is the number of characters of a text that a unique name must keep if the text is cut.
const leastText = 3

// uniqueName returns a name for a resource of type d: a text, a hyphen unless the type's pattern rejects it, and length
// characters derived from the seed. A text that does not fit is cut.
func uniqueName(text string, length int, seed []byte, d Description) (string, error) {
	fault := func(format string, args ...any) (string, error) {
		return "", fmt.Errorf("uniqueName(%q): %s", text, fmt.Sprintf(format, args...))
	}
	rules := [...]constraint.Rule{constraint.New("pattern", d.Name.Pattern), constraint.New("minLength", d.Name.MinLength)}
	end := generated(length, seed)
	name, kept := joined(text, "-"+end, d.Name.MaxLength)
	if other, n := joined(text, end, d.Name.MaxLength); rules[0].String(name, false) != "" && rules[0].String(other, false) == "" {
		name, kept = other, n
	}
	if kept < min(leastText, utf8.RuneCountInString(text)) {
		return fault("names of this type have at most %d characters, which leaves %d for the text: at least %d must remain", d.Name.MaxLength, kept, leastText)
	}
	for _, rule := range rules {
		if problem := rule.String(name, false); problem != "" {
			return fault("the name %s", problem)
		}
	}
	return name, nil
}

// joined joins a text, cut so that the result has at most the given number of characters if that is not 0, and an end.
// It returns the number of characters of the text that remain.
func joined(text, end string, most int) (name string, kept int) {
	start := []rune(text)
	if room := max(0, most-len(end)); most > 0 && len(start) > room {
		start = []rune(strings.TrimRight(string(start[:room]), "-"))
	}
	return string(start) + end, len(start)
}

// isUniqueName reports whether name may be the result of uniqueName for a text, with any seed and any constraints.
func isUniqueName(name, text string, length int) bool {
	at := len(name) - length
	if at < 0 || strings.Trim(name[at:], characters) != "" {
		return false
	}
	start := strings.TrimSuffix(name[:at], "-")
	return start == text || utf8.RuneCountInString(start) >= leastText && strings.HasPrefix(text, start)
}

const characters = "abcdefghijklmnopqrstuvwxyz0123456789"

// generated returns lowercase letters and digits derived from a seed.
func generated(length int, seed []byte) string {
	var all []byte
	for block := uint64(0); len(all) < length; block++ {
		mac := hmac.New(sha256.New, seed)
		mac.Write(binary.BigEndian.AppendUint64([]byte("uniqueName"), block))
		for _, b := range mac.Sum(nil) {
			if int(b) < 256-256%len(characters) { // Larger bytes would bias the choice.
				all = append(all, characters[int(b)%len(characters)])
			}
		}
	}
	return string(all[:length])
}

// nameProperties returns the properties that identify a resource by its physical name.
func (d Description) nameProperties() []string {
	if d.Name.Scope != "" {
		return []string{nameProperty, d.Name.Scope}
	}
	return []string{nameProperty}
}

// sameName reports whether two resources of a type with the given properties have the same physical name. If names are
// unique only within a property, that must be equal or unknown, too.
func (d Description) sameName(desired, other lumigl.Value) bool {
	name, scope := desired.Get(nameProperty), desired.Get(d.Name.Scope)
	return d.Named && !name.IsUnknown() && name.Equal(other.Get(nameProperty)) &&
		(d.Name.Scope == "" || !expr.IsKnown(scope) || scope.Equal(other.Get(d.Name.Scope)))
}
