package taskgraph

import (
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Of returns the number of nodes for a total, rounded down.
func (s Share) Of(total int) int {
	if s.IsPercent {
		return total * s.Number / 100
	}
	return s.Number
}

var percentage = regexp.MustCompile(`^([0-9]|[1-9][0-9]|100)%$`)

// share returns a share that is at least the given number.
func (r reader) share(v any, path string, least int) (s Share) {
	ok := v == nil || IsExpression(v)
	switch v := v.(type) {
	case string:
		s.IsPercent = percentage.MatchString(v)
		s.Number, _ = strconv.Atoi(strings.TrimSuffix(v, "%"))
		ok = s.IsPercent && s.Number >= least
	case json.Number:
		n, err := v.Float64() // 1.0 counts as a whole number
		s.Number, ok = int(n), err == nil && n >= float64(least) && n <= 10_000 && n == math.Trunc(n)
	}
	if !ok {
		r.fail(path, "a whole number from %d to 10000, or a percentage from %[1]d%% to 100%%", least)
	}
	return s
}
