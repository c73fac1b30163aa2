package condition_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/lang/yaql"
	"github.com/lumi-idl/lumi/taskgraph/condition"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

const data = `{"settings": {"storage": {"volumes_ceph": {"value": true}, "osd-pool": {"size": 3}, "none": null}, "roles": ["a", "b"]},
	"cluster": {"net_provider": "neutron", "ratio": 1.0}}`

type hidden struct{}

func (hidden) YAQLOpaque() error { return yaql.Errorf(yaql.Value, "it is a secret") }

func outcome(t *testing.T, source string) string {
	t.Helper()
	c, err := condition.Parse(source)
	if err != nil {
		return err.Error()
	}
	v := must.Get(yaql.FromJSON([]byte(data)))(t)
	must.Do(t, v.(*yaql.Dict).Set("keys", must.Get(yaql.FromGo(map[string]any{"token": hidden{}}))(t)))
	is, err := c.Evaluate(v)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(is)
}

func TestConditions(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"settings:storage.volumes_ceph.value == true and not (cluster:net_provider == 'neutron')": "false",
		"settings:storage.volumes_ceph.value":                                                     "true",
		"settings:storage.osd-pool.size == 3":                                                     "true",
		"settings:storage.osd-pool.size == -3":                                                    "false",
		"settings:storage.osd-pool.size != '3'":                                                   "true",
		"cluster:ratio == 1":                                                                      "true",
		"settings:storage.none == null":                                                           "true",
		"settings:storage.absent? == null":                                                        "true",
		`cluster:net_provider == "neutron"`:                                                       "true",
		"'a' in settings:roles":                                                                   "true",
		"'c' in settings:roles":                                                                   "false",
		"'size' in settings:storage.osd-pool":                                                     "true",
		"'neu' in cluster:net_provider":                                                           "true",
		// Precedence: without parentheses, each of the following would differ with another grouping.
		"true or true and false":         "true",
		"false and false or true":        "true",
		"true or false == true":          "true",
		"not 1 == 2":                     "false", // (not 1) == 2
		"not 'c' in settings:roles":      "false", // (not "c") in settings:roles
		"false == 'c' in settings:roles": "true",
		"not not true":                   "true",
		"1 == 1 == true":                 "true",
		"3 == 3 != false":                "true",
		"(true or true) and false":       "false",
		"false and settings:absent":      "false", // not evaluated
		"true or settings:absent":        "true",
		"\n\ttrue\n and\n(\n'x'\n)":      "true",
		// Errors in the data.
		"true and settings:storage.ceph.value": "1:10: settings:storage.ceph.value does not exist: no ceph in settings:storage",
		"setting:storage":                      "1:1: setting:storage does not exist: no setting in the data",
		"settings:storage.none.x":              "1:1: settings:storage.none.x does not exist: no x in settings:storage.none",
		"keys:token == 'x'":                    "1:1: it is a secret",
		"keys:token.x?":                        "1:1: it is a secret",
		"1 in cluster:net_provider":            "1:3: integer in string: must be a value in a list, a key in an object, or a string in a string",
		"settings:roles in cluster:ratio":      "1:16: list in float: must be a value in a list, a key in an object, or a string in a string",
		// Errors in the source.
		"":                                  "1:1: unexpected end of condition",
		"true and":                          "1:9: unexpected end of condition",
		"(true":                             "1:6: expected )",
		"true)":                             "1:5: unexpected )",
		"true true":                         "1:6: unexpected true",
		"1 not in 2":                        "1:3: unexpected not",
		"settings:a. == 1":                  `1:11: unexpected "."`,
		"settings:a =\n 1":                  `1:12: unexpected "="`,
		"true and\n 'é' == 'open":           `2:9: unexpected "'"`,
		"settings":                          "1:1: unexpected settings",
		"1:a":                               "1:1: unexpected 1:a",
		"and":                               "1:1: unexpected and",
		"settings:a == 9223372036854775808": "1:15: 9223372036854775808 is out of range",
		strings.Repeat("(", 1500):           "1:1001: more than 1000 operators and parentheses",
		strings.Repeat("not ", 1500):        "1:4001: more than 1000 operators and parentheses",
		"1" + strings.Repeat(" or 1", 1500): "1:5003: more than 1000 operators and parentheses",
	} {
		expect.Equal(t, want, outcome(t, source), source)
	}
}

// A condition is in the form of Fuel if it has a path outside of quotes; YAQL has no such paths.
func TestIs(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]bool{
		"settings:a.b == 1": true, "not cluster:x": true, "'it' == settings:x": true, "settings:storage.": true,
		"$.node.name = 'settings:a'": false, `"cluster:a" in $.x`: false, "`a:b` = $.x": false, `'\'a:b' = $`: false, "$.a = b": false, "true": false,
	} {
		if got := condition.Is(source); got != want {
			t.Errorf("Is(%q) = %v, want %v", source, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, source := range []string{
		"settings:storage.volumes_ceph.value == true and not (cluster:net_provider == 'neutron')", "'a' in settings:roles or 1 != -2", "not (", "a:b?",
	} {
		f.Add(source)
	}
	v, err := yaql.FromJSON([]byte(data))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, source string) {
		c, err := condition.Parse(source)
		if err != nil {
			return
		}
		if _, err := c.Evaluate(v); err != nil && !strings.Contains(err.Error(), ":") {
			t.Errorf("Evaluate(%q) = %v, want an error with a position", source, err)
		}
		if condition.Is(source) {
			if _, err := yaql.Compile(source); err == nil {
				t.Errorf("%q is valid YAQL, too", source)
			}
		}
	})
}
