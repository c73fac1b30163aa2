package muranopl_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lumi-idl/lumi/lang/muranopl"
	"github.com/lumi-idl/lumi/lang/muranopl/catalog"
	"github.com/lumi-idl/lumi/lang/yaql"
)

func decode(t testing.TB, source string) (muranopl.Declarations, []string) {
	t.Helper()
	classes, errs := catalog.Folder("", fstest.MapFS{"c.yaml": {Data: []byte(source)}})
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	return classes, slices.Sorted(maps.Keys(classes))
}

// TestCheck checks classes with one error of each kind. Some names are declared by a class that is loaded first.
func TestCheck(t *testing.T) {
	known := muranopl.Known{
		Functions: []*yaql.Function{yaql.Func("trace", "value any", nil)},
		Resources: map[string][]string{"p:m:File": {"path", "sum"}},
	}
	for _, test := range []struct{ name, source, want string }{
		{"correct", `
Namespaces: {=: t, std: io.murano}
Name: A
Extends: std:Object
Properties:
  p: {Contract: $.int().check($ > 0), Default: 1, Usage: InOut}
  q: {Contract: $.class(A).check($.p > 0), Default: {p: -1}}
  r: {Contract: [$.string(), 1, 2], Default: x}
  s: {Contract: $, Default: $.p + 1}
Workflow:
  initialize: {Body: [{$.p: 2}]}
  m:
    Arguments: [{a: {Contract: !yaql '$.class(:A)'}}, {b: {Contract: {A: StringMap, !yaql "$.string()": $}, Default: {A: StringMap}}}]
    Body:
    - If: $a is A
      Then: {Return: 1}
    - new(A, p => 2)
    - $.find(:A)
`, ``},
		{"keys", `
Name: A
Propertys: {}
Properties:
  p: {Contract: $, Usages: In}
  q: {Usage: In}
  r: {Contract: $, Usage: Inn}
Workflow:
  m: {Body: [], Argument: []}
  n: {Arguments: [{a: {Contrakt: $}}]}
  o: 5
`, `
2:1: unknown key 'Propertys' of class A: did you mean Properties?
4:20: unknown key 'Usages' of property p: did you mean Usage?
5:6: property q has no Contract: write Contract: $ for any value
6:27: invalid usage of property r: it must be In, Out, InOut, Const, Runtime, Config or Static
8:17: unknown key 'Argument' of method m: did you mean Arguments?
9:23: argument a of n has no Contract: write Contract: $ for any value
9:24: unknown key 'Contrakt' of argument a of method n: did you mean Contract?
10:6: method o must have Arguments and Body
`},
		{"parents", `
Name: A
Extends: [B, B, Missing, 'x:B', 1]
Properties: {p: {Contract: $}}
---
Name: B
---
Name: C
Extends: D
---
Name: D
Extends: C
---
Name: E
Extends: [A, F]
---
Name: F
Properties: {p: {Contract: $}}
Methods: {m: {}}
---
Name: G
Methods: {m: {}}
---
Name: H
Extends: [F, G]
---
Name: I
Extends: H
`, `
2:10: class A extends B twice
2:17: unknown class Missing
2:26: unknown namespace prefix "x"
2:33: Extends must be the names of classes
11:10: class C inherits from itself: C extends D extends C
14:10: class E inherits property p from A and F: define it in E
24:10: class H inherits method m from F and G: define it in H
`},
		{"members", `
Name: A
Namespaces: {z: w, y: w}
Methods:
  initialize: {}
  .init: {}
  m:
    Arguments:
    - a: {Contract: $}
    - a: {Contract: $}
    - {b: {Contract: $}, c: {Contract: $}}
Workflow: {}
`, `
5:3: class A declares the method .init twice
9:10: method m has two arguments named a
10:7: an argument of m must be a name with a contract
11:11: class A has both Methods and Workflow: move all methods to one of them
`},
		{"contracts", `
Name: Apple
Properties:
  a: {Contract: int}
  b: {Contract: !yaql '$.int('}
  c: {Contract: $.strng()}
  d: {Contract: [2]}
  e: {Contract: [$, 5, 2]}
  f: {Contract: {!yaql "$.int()": $, !yaql "$.string()": $}}
  g: {Contract: $.class(Aple)}
  h: {Contract: {a: [!yaql "$.class(x:Apple, 'y.Z')"]}}
  i: {Contract: $.notNull(), Default: null}
  j: {Contract: [{k: $.int()}], Default: [{k: 1}, {k: x}]}
  k: {Contract: $.class(Apple), Default: 5}
  l: {Contract: $, Default: !yaql '1 +'}
  m: {Contract: $, Default: new(Aple)}
`, `
3:17: the contract of property a is the constant 'int': did you mean $.int()?
4:30: unexpected end of expression
5:17: unknown function strng in a contract: did you mean string?
6:17: the contract of a list in property d has lengths but no contract of its items: write [$, 2]
7:21: the minimum length of the list in property e is greater than its maximum
8:45: the contract of a dictionary in property f has more than one key that is an expression
9:17: unknown class Aple: did you mean Apple?
10:29: unknown class y.Z
10:29: unknown namespace prefix "x"
11:39: the default of property i of class Apple: null violates notNull() (contract $.notNull())
12:55: the default of property j[1]['k'] of class Apple: 'x' violates int() (contract [{'k': $.int()}])
13:42: the default of property k of class Apple: 5 is not an object (contract $.class(Apple))
14:39: unexpected end of expression
15:29: unknown class Aple: did you mean Apple?
`},
		{"bodies", `
Name: Apple
Methods:
  m:
    Body:
    - Throw: x:Error
    - If: $x
    - new('Aple')
    - new(x:Apple, p => 1)
    - Return: {a: [!yaql "$.cast(y:Apple)"]}
    - For: x
      In: [new(Pear)]
      Do: 5
    - Iff: 1
    - $.a: $.b(1
    - $.a: "$.b(1"
    - $.a: US$(1
    - Try: {Throw: lumi:Error}
      Catch: {With: [lumi:Other, z:Error], Do: new(Pear)}
`, `
5:14: unknown namespace prefix "x"
6:7: If without Then
7:7: unknown class Aple: did you mean Apple?
8:7: unknown namespace prefix "x"
9:27: unknown namespace prefix "y"
11:12: unknown class Pear
12:11: an instruction must be an expression, an assignment or a block construct, not 5
13:7: unknown block construct with the keys 'Iff': did you mean If?
14:17: invalid expression, read as a string: unexpected end of expression; quote it if a string is intended
18:34: unknown namespace prefix "z"
18:48: unknown class Pear
`},
		{"names", `
Name: Base
Namespaces: {=: t}
Properties: {peer: {Contract: $.class(Peer)}}
Methods:
  m: {Body: [$.abstract(), $.private, $.other]}
---
Name: Main
Extends: Base
Properties:
  list: {Contract: [$], Usage: InOut}
  preset: {Contract: $, Default: $.lst}
Methods:
  abstract: {}
  helper: {Body: {$.mine: 1}}
  m:
    Arguments: [arg: {Contract: $.class(Peer)}]
    Body:
    - $this.nope()
    - $.help() + nofunc(1)
    - $x: $y
    - $.list: $.list.select($.z + $arg.z).where($this.lost > $1)
    - $z: $.lost + $.private
    - $.mine: $.mne
    - new({'?' => {type => 't.Nowhere'}})
    - new(Peer, nme => 1).hallo()
    - $peer: new(Peer)
    - $peer.hallo($arg.nme, $.peer.hello())
    - $peer2: $peer
    - $peer: null
    - For: item
      In: $.list
      Do: [$item.any(), $itm.any(), $peer2.hallo(), $peer.hallo()]
    - Try: $.abstract()
      Catch: {As: e, Do: trace($e.message)}
    - let(u => 1) -> $u
    - $s.append(): [$1, $arg.own()]
    - $.getAttr(a, $.list.first($.q))
    - Return: new(lumi:Resource, type => 'p:m:Fiel').get(x)
  resources:
    Body:
    - $r: new(lumi:Resource, type => 'p:m:File')
    - $.r: $r
    - trace([$r.get(sum), $this.r.get(smu), $r.get(id), $.r.get($r)])
---
Name: Peer
Properties: {name: {Contract: $}}
Methods: {hello: {}}
---
Name: Son
Extends: Peer
Methods: {own: {}}
---
Name: lumi:Resource
Properties: {type: {Contract: $}}
Methods: {get: {Arguments: [name: {Contract: $}]}}
`, `
5:29: class t.Base has no property private
5:40: class t.Base has no property other
11:35: class t.Main has no property lst: did you mean list?
18:13: class t.Main has no method nope
19:9: class t.Main has no method help
19:18: unknown function nofunc
20:11: variable $y is never assigned
21:39: class t.Peer has no property z
21:54: class t.Main has no property lost: did you mean list?
22:12: class t.Main has no property lost: did you mean list?
22:21: class t.Main has no property private
23:16: class t.Main has no property mne: did you mean mine?
24:7: unknown class t.Nowhere
25:7: warning: class t.Peer has no property nme: did you mean name?
25:27: class t.Peer has no method hallo: did you mean hello?
27:23: class t.Peer has no property nme: did you mean name?
32:25: variable $itm is never assigned: did you mean $item?
37:34: class t.Main has no property q
38:15: unknown resource type p:m:Fiel: did you mean p:m:File?
43:35: resource type p:m:File has no property smu: did you mean sum?
`},
		{"without effect", `
Name: A
Usage: Meta
Cardinality: One
Applies: [Method]
Inherited: true
Meta: []
Properties: {p: {Contract: $, Usage: Config, Meta: B}, q: {Contract: $, Usage: Static}}
Methods:
  m: {Scope: Public, Usage: Static, Arguments: [a: {Contract: $, Usage: VarArgs}]}
  n: {Usage: Action}
`, `
2:8: warning: Usage: Meta of class A has no effect
3:1: warning: Cardinality of class A has no effect
4:1: warning: Applies of class A has no effect
5:1: warning: Inherited of class A has no effect
6:1: warning: Meta of class A has no effect
7:38: warning: Usage: Config of property p has no effect
7:46: warning: Meta of property p has no effect
9:7: warning: Scope of method m has no effect
9:73: warning: Usage: VarArgs of argument a of method m has no effect
10:14: warning: Usage: Action of method n has no effect
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			classes, names := decode(t, strings.TrimPrefix(test.source, "\n"))
			got := ""
			for _, e := range muranopl.Check(classes, names, known) {
				text := strings.TrimPrefix(e.Error(), "c.yaml:")
				if e.Warning {
					text = strings.Replace(text, ": ", ": warning: ", 1)
				}
				got += text + "\n"
			}
			if want := strings.TrimPrefix(test.want, "\n"); got != want {
				t.Errorf("Check =\n%s\nwant\n%s", got, want)
			}
		})
	}
}
