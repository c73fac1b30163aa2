package convert

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/lumi-idl/lumi/runtime/tokens"
)

// providerType returns the short name of a provider: aws for provider["registry.opentofu.org/hashicorp/aws"] and for
// the older form module.a.provider.aws. For any other form, it returns the first word of the resource type.
func providerType(provider, kind string) string {
	name := provider
	if _, rest, ok := strings.Cut(provider, `provider["`); ok {
		name, _, _ = strings.Cut(rest, `"`)
		name = name[strings.LastIndexByte(name, '/')+1:]
	} else if _, rest, ok := strings.Cut(provider, "provider."); ok {
		name, _, _ = strings.Cut(strings.TrimSpace(rest), ".")
	}
	if name == "" {
		name, _, _ = strings.Cut(kind, "_")
	}
	return name
}

// tofuToken returns the token of a type. The provider becomes the package, and the rest of the type is converted to
// camel case: aws_s3_bucket becomes aws:index:S3Bucket. If tofuType could not restore the type, it is kept unchanged
// and therefore starts with a lower-case letter: google-beta:index:google_sql_user.
func tofuToken(provider, module, kind string) (t tokens.Type, changed bool) {
	pkg := packageName(provider, "unknown")
	name := pascal(strings.TrimPrefix(kind, provider+"_"))
	if snake, ok := tofuType(pkg, name); !ok || snake != kind {
		name = kind
	}
	if t, err := tokens.Format(pkg, module, name); err == nil {
		return t, pkg != provider
	}
	t, err := tokens.Format(pkg, module, identifier(name))
	if err != nil { // impossible, since each part is valid
		return "unknown:index:Unknown", true
	}
	return t, true
}

// tofuType is the inverse of tofuToken, for the package and name of a token. ok is false if there is no inverse.
func tofuType(pkg, name string) (kind string, ok bool) {
	if name == "" {
		return "", false
	}
	if c := name[0]; c < 'A' || 'Z' < c {
		return name, true
	}
	var b strings.Builder
	b.WriteString(pkg)
	for _, r := range name {
		if 'A' <= r && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String(), true
}

func pascal(s string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(s, "_") {
		if word != "" {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

// quoted quotes a string as in the address of an instance.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case (r == '$' || r == '%') && strings.HasPrefix(s[i+1:], "{"):
			b.WriteString(string(r) + string(r)) // doubled, since ${ starts a template
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 1<<16:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
