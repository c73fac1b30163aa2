package roundtrip

import (
	"cmp"
	"math"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/constraint"
)

// limits lists the constraints on a value. Nil elements have no effect.
type limits []*schema.Constraints

// all returns the arguments of every constraint with the given name.
func (l limits) all(name string) []any {
	var args []any
	for _, c := range l {
		for other, arg := range c.All() {
			if other == name {
				args = append(args, arg)
			}
		}
	}
	return args
}

// keys returns the constraints on a map's keys, or nil if there are none.
func (l limits) keys() *schema.Constraints {
	for _, pattern := range l.all("keyPattern") {
		return &schema.Constraints{Pattern: pattern.(string)}
	}
	return nil
}

// tightest returns the maximum of otherwise and the arguments of every constraint with the given name, or their minimum if
// highest is false.
func tightest[T cmp.Ordered](l limits, name string, highest bool, otherwise T) T {
	for _, arg := range l.all(name) {
		if n := arg.(T); (n > otherwise) == highest {
			otherwise = n
		}
	}
	return otherwise
}

// length draws a number of elements within the limits named least and most.
func (l limits) length(t *rapid.T, depth int, least, most string) int {
	low := tightest(l, least, true, 0)
	high := tightest(l, most, false, low+2)
	if depth <= 0 {
		high = low
	}
	return rapid.IntRange(low, high).Draw(t, "length")
}

// ok returns a filter for values that satisfy the limits.
func ok[T any](l limits, problem func(*constraint.Rule, T, bool) string) func(T) bool {
	return func(value T) bool {
		for _, c := range l {
			for _, r := range constraint.Rules(c.All()) {
				if problem(&r, value, false) != "" {
					return false
				}
			}
		}
		return true
	}
}

func (l limits) numbers() *rapid.Generator[float64] {
	const far = 1e9
	low := max(tightest(l, "min", true, -far), tightest(l, "exclusiveMin", true, -far))
	high := min(tightest(l, "max", false, far), tightest(l, "exclusiveMax", false, far))
	made := rapid.Float64Range(low, high)
	if step := tightest(l, "multipleOf", true, 0.0); step > 0 {
		whole := rapid.IntRange(int(math.Ceil(low/step)), int(math.Floor(high/step)))
		made = rapid.Map(whole, func(n int) float64 { return float64(n) * step })
	} else if low == -far && high == far {
		made = rapid.Float64()
	}
	return made.Filter(ok(l, (*constraint.Rule).Number))
}

func (l limits) integers() *rapid.Generator[float64] {
	return rapid.Map(l.numbers(), math.Round).Filter(ok(l, (*constraint.Rule).Number)).
		Filter(func(n float64) bool { return constraint.Int(n, constraint.MaxInt, false) == "" })
}

// samples maps formats to valid strings.
var samples = map[string][]string{
	"cidr": {"10.0.0.0/8", "::/0"}, "date-time": {"2006-01-02T15:04:05Z"}, "duration": {"PT1H"}, "email": {"a@example.com"},
	"ipv4": {"10.0.0.1"}, "ipv6": {"::1"}, "json": {"{}", "[1]"}, "uri": {"https://example.com/"},
	"int64": {"-9223372036854775808", "0"}, "uint64": {"18446744073709551615"}, "decimal": {"-0.50", "12"}, "base64": {"", "aGk="},
	"uuid": {"123e4567-e89b-12d3-a456-426614174000"},
}

func (l limits) strings() *rapid.Generator[string] {
	least := tightest(l, "minLength", true, 0)
	made := rapid.StringN(least, tightest(l, "maxLength", false, least+50), -1)
	for _, pattern := range l.all("pattern") {
		made = rapid.StringMatching(pattern.(string))
	}
	for _, format := range l.all("format") {
		made = rapid.SampledFrom(samples[format.(string)])
	}
	return made.Filter(ok(l, (*constraint.Rule).String))
}
