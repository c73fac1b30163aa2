package desired

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/lumi-idl/lumi/idl/equality"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/constraint"
	"github.com/lumi-idl/lumi/lang/yaql"
	"github.com/lumi-idl/lumi/lumigl"
)

// checkLimits returns an error if v violates a constraint. Unknown parts are not checked. Errors do not reveal values.
func checkLimits(t schema.Type, c *schema.Constraints, v lumigl.Value, path string) error {
	if c == nil || v.IsExpression() {
		return nil
	}
	if inner, secret := v.Secret(); secret {
		v = inner
	}
	const hidden = true
	for _, r := range constraint.Rules(c.All()) {
		problem, at := "", path
		switch v.Kind() {
		case lumigl.Number:
			n, _ := v.Float()
			problem = r.Number(n, hidden)
		case lumigl.Text:
			s, _ := v.Text()
			problem = r.String(s, hidden)
		case lumigl.List:
			if problem = r.Count(v.Len(), hidden); r.IsUnique() {
				problem = constraint.Equal(identities(v, equality.Of(t, nil)))
			}
		case lumigl.Object:
			problem = r.Count(v.Len(), hidden)
			for key := range v.Members() {
				if wrong := r.Key(key); wrong != "" && problem == "" {
					problem, at = wrong, member(path, key)
				}
			}
		}
		if problem != "" {
			return wrong(at, "%s", problem)
		}
	}
	return nil
}

// identities returns a string for each element of a list. Strings are equal for equal elements and for unknown elements
// with the same origin.
func identities(list lumigl.Value, e *constraint.Equality) []string {
	var before []lumigl.Value
	var ids []string
	for _, v := range list.Elements() {
		at := slices.IndexFunc(before, func(w lumigl.Value) bool {
			if v.Equal(w) || e == nil || e.Elements == nil {
				return v.Equal(w)
			}
			id := e.Elements.Identity(v.Plain(special))
			return id != "" && id == e.Elements.Identity(w.Plain(special))
		})
		if at < 0 {
			at = len(before)
		}
		before, ids = append(before, v), append(ids, strconv.Itoa(at))
	}
	return ids
}

// special converts references and expressions, which are unknown, and secrets.
func special(part lumigl.Value) (any, bool) {
	if content, ok := part.Secret(); ok {
		return content.Plain(special), true
	}
	return constraint.Unknown{}, part.Kind() == lumigl.Reference || part.IsExpression()
}

func wrong(path, format string, args ...any) error {
	if path != "" {
		path += ": "
	}
	return yaql.Errorf(yaql.Value, "%s%s", path, fmt.Sprintf(format, args...))
}

func member(path, name string) string {
	switch {
	case !identifier.MatchString(name):
		return fmt.Sprintf("%s[%q]", path, name)
	case path == "":
		return name
	}
	return path + "." + name
}

var identifier = regexp.MustCompile(`^[\pL_$][\pL\pN_$]*$`)
