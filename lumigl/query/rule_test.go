package query_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/query"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// changes returns a step that updates a database, and one that deletes a network.
func changes() (update, gone query.Change) {
	hush, text := lumigl.SecretOf(lumigl.TextOf("hush")), lumigl.TextOf
	object := lumigl.ObjectOf
	update = query.NewChange(
		"update", "aws:rds:Instance", "urn:lumi:prod::shop:index::aws:rds:Instance::db", "shop", "prod",
		object(lumigl.Member{Key: "size", Value: lumigl.IntOf(10)}),
		object(
			lumigl.Member{Key: "size", Value: lumigl.IntOf(20)},
			lumigl.Member{Key: "zone", Value: text(wire.Unknown)},
			lumigl.Member{Key: "password", Value: hush},
			lumigl.Member{Key: "login", Value: object(lumigl.Member{Key: "user", Value: text("app")}, lumigl.Member{Key: "password", Value: hush})},
			lumigl.Member{Key: "hosts", Value: lumigl.ListOf(text("a"), text(wire.Unknown))},
			lumigl.Member{Key: "keys", Value: lumigl.ListOf(text("a"), hush)},
			lumigl.Member{Key: "lists", Value: lumigl.ListOf(lumigl.ListOf(object(lumigl.Member{Key: "zone", Value: text(wire.Unknown)})))},
			lumigl.Member{Key: "none", Value: lumigl.NullValue()},
		), lumigl.Value{})
	none := lumigl.Value{}
	gone = query.NewChange("delete", "aws:ec2:VPC", "", "shop", "prod", object(lumigl.Member{Key: "cidrBlock", Value: text("10.0.0.0/8")}), none, none)
	return update, gone
}

func TestRules(t *testing.T) {
	t.Parallel()
	const secret = "it uses the content of a secret; only isSecret and has accept secrets"
	update, gone := changes()
	for _, test := range []struct{ rule, want string }{
		{`op == "update" && environment == "prod" && module == "shop" && type.startsWith("aws:rds:")`, "true"},
		{`new.size > 2 * old.size`, "false"},
		{`has(new.tags) || has(old.password)`, "false"},
		{`options == {}`, "true"},
		{`new.none == null`, "true"},
		{`new.tags == {}`, "no such key: tags; has tests whether a property exists"},
		{`new.size.contains("x")`, "the type of a value does not fit its operator or function"},
		{`new.size + 0.5 > 2`, "the type of a value does not fit its operator or function"},
		{`new.size`, "the expression must be a bool, got int"},

		{`new.zone == "a"`, "unknown"},
		{`"a" != new.zone`, "unknown"},
		{`new.zone.startsWith("a") || new.size == 20`, "true"},
		{`new.zone in ["a", "b"] && new.size == 20`, "unknown"},
		{`has(new.zone)`, "unknown"},
		{`isSecret(new.zone)`, "unknown"},
		{`new.hosts.exists(h, h == "a")`, "true"},
		{`new.hosts.exists(h, h == "b")`, "unknown"},
		{`"b" in new.hosts`, "unknown"},
		{`new.hosts == ["a", "b"]`, "unknown"},
		{`["a", "b"] == new.hosts`, "unknown"},
		{`new.hosts + [] == ["a", "b"]`, "unknown"},
		{`new.hosts.size() == 2`, "true"},
		{`{"a": 1}[new.zone] == 1`, "unknown"},
		{`new[new.zone] == 1`, "unknown"},
		{`new.zone.first == 1`, "unknown"},
		{`steps.exists(s, s.op == "update" && has(s.new.zone))`, "unknown"},
		{`new.hosts.exists(h, h == "b") || has(new.login.zone) || new.lists[0].exists(l, has(l.zone))`, "unknown"},
		{`new.zone ? true : false`, "unknown"},
		{`new.hosts.map(h, h + "x") == ["ax", "bx"]`, "unknown"},
		{`new.hosts.filter(h, h == "a").size() == 1`, "unknown"},

		{`isSecret(new.password) && isSecret(new.login.password) && isSecret(new.keys[1]) && isSecret(new["password"])`, "true"},
		{`isSecret(new.size) || isSecret(new.login)`, "false"},
		{`isSecret(new.tags)`, "no such key: tags; has tests whether a property exists"},
		{`has(new.password) && has(new.login.password)`, "true"},
		{`has(new.password.value)`, secret},
		{`new.password == "hush"`, secret},
		{`"hush" != new.password`, secret},
		{`new.password in ["a", "hush"]`, secret},
		{`"hush" in new.keys`, secret},
		{`["a", "hush"] == new.keys`, secret},
		{`new.login == {"user": "app", "password": "hush"}`, secret},
		{`{"user": "app", "password": "hush"} != new.login`, secret},
		{`new.keys + ["b"] == ["a", "hush", "b"]`, secret},
		{`[[new.password]] == [["hush"]]`, secret},
		{`new.keys in [["a", "hush"]]`, secret},
		{`[new.keys, ["x"]].exists(l, l == ["a", "hush"])`, secret},
		{`{"k": new.keys} == {"k": ["a", "hush"]}`, secret},
		{`new.login.exists(k, new.login[k] == "hush")`, secret},
		{`dyn(new.keys)[1] == "hush"`, secret},
		{`(new.size > 1 ? new.login : {}).password == "hush"`, secret},
		{`new.login in [new.login]`, secret},
		{`new == old`, secret},
		{`"password" in new.login`, "true"},
		{`"x" + new.password == "xhush"`, secret},
		{`string(new.password) == "hush"`, secret},
		{`type(new.password) == string`, secret},
		{`new.password.matches("h.*")`, secret},
		{`new.login.password.size() == 4`, secret},
		{`new.password > "a"`, secret},
		{`new.keys.exists_one(k, k == "hush")`, secret},
		{`{"hush": 1}[new.password] == 1`, secret},
		{`(new.password == "hush") == true`, secret},
		{`new.password ? true : false`, secret},
		{`new.password == new.zone`, secret},
		{`new.size == 20 || new.password == "hush"`, "true"},

		{`steps.filter(s, s.op == "delete").size() == 1 && environment == "prod" && module == "shop"`, "true"},
		{`steps.exists(s, has(s.new.password) && isSecret(s.new.password))`, "true"},
		{`steps.exists(s, has(s.new.password) && s.new.password == "hush")`, secret},
		{`steps.exists(s, has(s.new.zone) && s.new.zone == "a")`, "unknown"},
		{`steps.exists(s, has(s.new.keys) && "hush" in s.new.keys)`, secret},
		{`size(steps[1].new) == 0 && steps[1].old.cidrBlock.endsWith("/8")`, "true"},
		{strings.ReplaceAll(slow, "name", "urn"), "the expression exceeds the cost limit"},
	} {
		r, err := query.CompileRule(test.rule)
		if err != nil {
			t.Errorf("CompileRule(%s): %v", test.rule, err)
			continue
		}
		holds, known, err := r.Holds("prod", "shop", update, gone)
		got := fmt.Sprint(holds)
		if err != nil {
			got = err.Error()
		} else if !known {
			got = "unknown"
		}
		if got != test.want {
			t.Errorf("Holds(%s) = %s, want %s", test.rule, got, test.want)
		}
	}
}

func TestInvalidRules(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ rule, want string }{
		{`op = "delete"`, "expression, 1:4: unknown operator =; to compare, write =="},
		{`new.size > 1 &&
  typ == "aws:ec2:VPC"`, `expression, 2:3: unknown variable "typ"; did you mean "type"?`},
		{`size`, `expression, 1:1: unknown variable "size"; put strings in quotes, write a property as new.size; the variables are op, type, urn, module, environment, old, new, options, steps`},
		{`steps.size() > 1 && op == "delete"`, `expression, 1:21: op belongs to a single step; in a rule about steps, write it as in steps.exists(s, s.op != null)`},
		{`op`, "expression, 1:1: the expression must be a bool, got string"},
		{`op.matches("(")`, "expression, 1:13: invalid regular expression \"(\": missing closing )"},
	} {
		_, err := query.CompileRule(test.rule)
		if err == nil || err.Error() != test.want {
			t.Errorf("CompileRule(%s) = %v, want %s", test.rule, err, test.want)
		}
	}
}
