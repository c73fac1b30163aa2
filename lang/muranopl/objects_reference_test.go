package muranopl_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// objectCases lists classes and models. The test calls method main of the root object of each model.
var objectCases = []struct{ name, classes, model string }{
	{"init order", `
Name: A
Methods: {.init: {Body: trace(A)}}
---
Name: B
Extends: A
Methods: {initialize: {Body: trace(B)}}
---
Name: C
Methods: {.init: {Body: trace(C)}}
---
Name: Main
Extends: [B, C]
Methods: {.init: {Body: trace(Main)}, main: {Body: trace(main)}}
`, ``},
	{"init arguments", `
Name: A
Properties: {p: {Contract: $, Default: 1}}
Methods:
  .init:
    Arguments: [x: {Contract: $.int()}, q: {Contract: $, Default: 5}]
    Body: trace([$x, $q, $.p])
---
Name: Main
Extends: A
Properties: {q: {Contract: $}, x: {Contract: $.string()}}
Methods:
  .init: {Arguments: {q: {Contract: $}}, Body: trace($q)}
  main: {Body: trace($.x)}
`, `"x": "8", "q": 3`},
	{"init writes inputs", `
Name: Main
Properties: {p: {Contract: $, Default: 1}, q: {Contract: $, Usage: Const}}
Methods:
  .init: {Body: [$.p: 2, $.set(3)]}
  put: {Arguments: [v: {Contract: $}], Body: {$.q: $v}}
  main: {Body: [trace($.p), trace($.q), $.put(4)]}
`, ``},
	{"init takes objects", `
Name: Node
Properties: {p: {Contract: $}}
---
Name: Main
Methods:
  .init: {Arguments: {n: {Contract: $.class(Node)}}, Body: [{$.n: $n}, trace($n.p)]}
  m: {Arguments: {n: {Contract: $.class(Node)}}, Body: [trace($n.find(Main) = $)]}
  main: {Body: [trace($.n.p), !yaql "$.m({p => 1})"]}
`, `"n": {"p": 2}`},
	{"private", `
Name: A
Methods: {put: {Body: [{$.x: 1}]}, read: {Body: {Return: $.x}}}
---
Name: Main
Extends: A
Methods:
  main:
    Body:
    - $.put()
    - trace($.read())
    - $.x: 2
    - trace($.x)
    - trace($.read())
    - trace(cast($, A).x)
    - $.y
`, ``},
	{"private of another", `
Name: A
Properties: {p: {Contract: $}}
Methods: {.init: {Body: [{$.x: 1}]}}
---
Name: Main
Properties: {a: {Contract: $.class(A)}}
Methods:
  main:
    Body:
    - Try: trace($.a.p)
      Catch: {Do: trace(e1)}
    - Try: trace($.a.x)
      Catch: {Do: trace(e2)}
    - Try: [$.a.p: 3]
      Catch: {Do: trace(e3)}
    - Try: [$.a.x: 3]
      Catch: {Do: trace(e4)}
    - Try: [$.a.z: 3]
      Catch: {Do: trace(e5)}
`, `"a": {"?": {"type": "t.A"}, "p": 4}`},
	{"usages", `
Name: Main
Properties:
  in: {Contract: $.int()}
  out: {Contract: $.int(), Usage: Out}
  inOut: {Contract: $.int(), Usage: InOut}
  const: {Contract: $.int(), Usage: Const}
  runtime: {Contract: $.int(), Usage: Runtime}
  preset: {Contract: $.int(), Usage: Runtime, Default: 5}
  outPreset: {Contract: $.int(), Usage: Out, Default: 6}
  strict: {Contract: $.int().notNull(), Usage: Runtime, Default: null}
Methods:
  main:
    Body:
    - trace([$.in, $.out, $.inOut, $.const, $.preset, $.outPreset])
    - Try: trace($.runtime)
      Catch: {Do: trace(runtime)}
    - Try: trace($.strict)
      Catch: {Do: trace(strict)}
    - $.out: '07'
    - $.inOut: true
    - $.runtime: 2.5
    - trace([$.out, $.inOut, $.runtime])
    - Try: [$.in: 1]
      Catch: {Do: trace(in)}
    - Try: [$.const: 1]
      Catch: {Do: trace(const)}
    - Try: [$.out: x]
      Catch: {Do: trace(out)}
    - trace($.out)
`, `"in": "1", "out": "2", "inOut": "3", "const": "4", "runtime": "5", "preset": "6", "outPreset": "7"`},
	{"redeclared", `
Name: A
Properties:
  p: {Contract: $.int().notNull(), Default: 3, Usage: Out}
  q: {Contract: $.int()}
  r: {Contract: $.string().notNull(), Default: a}
Methods:
  main:
    Body:
    - trace([$.p, $.q, $.r])
    - $.p: 8
    - trace($.p)
    - $.p: '9'
---
Name: Main
Extends: A
Properties:
  p: {Contract: $, Usage: InOut, Default: 4}
  q: {Contract: $.check($ != 5)}
  r: {Contract: $.string()}
`, `"q": 6, "r": "x"`},
	{"redeclared default", `
Name: A
Properties: {r: {Contract: $.string().notNull(), Default: a}}
---
Name: Main
Extends: A
Properties: {r: {Contract: $.string()}}
Methods: {main: {Body: trace($.r)}}
`, ``},
	{"explicit null", `
Name: Main
Properties: {p: {Contract: $.int(), Default: 5}, q: {Contract: [$.int()], Default: [5]}, r: {Contract: {}, Default: {a: 1}}}
Methods:
  main:
    Body: trace([$.p, $.q, $.r])
`, `"p": null, "q": null, "r": null`},
	{"null violates", `
Name: Main
Properties: {p: {Contract: $.int().notNull(), Default: 5}}
Methods: {main: {Body: trace($.p)}}
`, `"p": null`},
	{"expressions", `
Name: Main
Properties:
  a: {Contract: $.int(), Default: $.b + 1}
  b: {Contract: $.int(), Default: $this.c + 1}
  c: {Contract: $.int(), Default: 1}
  d: {Contract: [$], Default: [$.a, {x: $.b}]}
Methods:
  main:
    Body: trace([$.a, $.b, $.c, $.d])
`, ``},
	{"circular", `
Name: Main
Properties: {a: {Contract: $.int(), Default: $.b + 1}, b: {Contract: $.int(), Default: $.a + 1}}
Methods: {main: {Body: trace($.a)}}
`, ``},
	{"default of a parent", `
Name: A
Properties: {a: {Contract: $.int(), Default: $.b + 1}}
---
Name: Main
Extends: A
Properties: {b: {Contract: $.int(), Default: 4}, c: {Contract: $, Default: $.a}}
Methods:
  main:
    Body: trace([$.a, $.c])
`, ``},
	{"default objects", `
Name: Node
Properties: {a: {Contract: $.int(), Default: 1}, b: {Contract: $.string()}}
---
Name: Leaf
Extends: Node
---
Name: Main
Properties:
  p: {Contract: $.class(Node), Default: {a: 12}}
  q: {Contract: $.class(Node, Leaf), Default: {}}
  r: {Contract: $.class(Node), Default: {':Leaf': {a: 5}}}
  s: {Contract: [$.class(Node)], Default: [{a: 3}, {}]}
  u: {Contract: $.class(Node), Default: new(Leaf)}
Methods:
  main:
    Body:
    - trace([$.p, $.q, $.r, $.s, $.u])
    - trace([$.p.a, $.q.a, $.r.a, $.s.select($.a)])
    - trace([$.p.find(Main) = $, $.u.find(Main) = $])
`, ``},
	{"references", `
Name: Node
Properties: {next: {Contract: $.class(Node)}, all: {Contract: [$.class(Node)]}, map: {Contract: {!yaql '$.string()': $.class(Node)}}, text: {Contract: $.string()}}
Methods:
  .init:
    Body: trace([$.text, $.next.text])
---
Name: Main
Properties: {first: {Contract: $.class(Node)}, second: {Contract: $.class(Node)}, same: {Contract: $.class(Node)}}
Methods:
  main:
    Body:
    - trace([$.first.text, $.first.next.text, $.second.next.text, $.same = $.second])
    - trace([$.first.all.select($.text), $.first.map.values().select($.text)])
    - trace([$.second.find(Main) = $, $.first.all[1].find(Node) = $.first])
`, `"first": {"?": {"id": "1", "type": "t.Node"}, "text": "2", "next": "2", "all": ["2", {"?": {"id": "3", "type": "t.Node"}, "text": "three"}, "1"], "map": {"a": "3"}},
"second": {"?": {"id": "2", "type": "t.Node"}, "text": "second", "next": "3"}, "same": "2"`},
	{"unknown id", `
Name: Main
Properties: {p: {Contract: $.class(Main)}}
Methods: {main: {Body: trace($.p)}}
`, `"p": "nowhere"`},
	{"self", `
Name: Main
Properties: {p: {Contract: $.class(Main)}, q: {Contract: $.string()}}
Methods:
  main:
    Body: trace([$.p = $, $.q])
`, `"p": "main", "q": "main"`},
	{"owned", `
Name: Node
Properties: {p: {Contract: $.class(Node)}}
---
Name: Main
Properties: {a: {Contract: $.class(Node).owned()}, b: {Contract: $.class(Node).notOwned()}}
Methods:
  main:
    Body: trace([$.a, $.b])
`, `"a": {"?": {"type": "t.Node", "id": "1"}}, "b": "1"`},
	{"wrong class", `
Name: Node
---
Name: Main
Properties: {a: {Contract: $.class(Main)}}
Methods: {main: {Body: trace($.a)}}
`, `"a": {"?": {"type": "t.Node", "id": "1"}}`},
	{"unknown type", `
Name: Main
Properties: {a: {Contract: $}}
Methods: {main: {Body: trace($.a)}}
`, `"a": {"?": {"type": "t.Nowhere", "id": "1"}}`},
	{"unknown type in a class", `
Name: Main
Properties: {a: {Contract: $.class(Main)}}
Methods: {main: {Body: trace($.a)}}
`, `"a": {"?": {"type": "t.Nowhere", "id": "1"}}`},
	{"ambiguous property", `
Name: A
Properties: {p: {Contract: $}}
---
Name: B
Properties: {p: {Contract: $}}
---
Name: Main
Extends: [A, B]
Methods: {main: {Body: trace(1)}}
`, ``},
	{"ambiguous method", `
Name: A
Methods: {m: {Body: trace(A)}, n: {Body: trace(A)}}
---
Name: B
Extends: A
Methods: {m: {Body: trace(B)}}
---
Name: C
Extends: A
---
Name: D
Methods: {n: {Body: trace(D)}}
---
Name: Main
Extends: [C, B, D]
Methods: {main: {Body: [$.m(), !yaql 'cast($, D).n()', !yaql 'cast($, C).m()', $.n()]}}
`, ``},
	{"broken contract", `
Name: A
Properties: {p: {Contract: $.unknown()}}
---
Name: Main
Methods:
  bad: {Arguments: {x: {Contract: $.class(Nowhere)}}, Body: trace(bad)}
  main:
    Body:
    - trace(1)
    - Try: $.bad(2)
      Catch: {Do: trace(caught)}
    - Try: new(A).p
      Catch: {Do: trace(caught)}
    - Try: new(A, p => 1)
      Catch: {Do: trace(caught)}
`, ``},
	{"configuration", `
Name: Main
Properties: {p: {Contract: $.int(), Usage: Config, Default: 4}, q: {Contract: [$.int()], Usage: Config}}
Methods:
  main:
    Body:
    - trace([$.p, $.q])
    - $.p: 5
    - trace($.p)
`, `"p": 8`},
	{"configuration violates", `
Name: Main
Properties: {p: {Contract: $.int().notNull(), Usage: Config}}
Methods: {main: {Body: trace($.p)}}
`, `"p": 8`},
	{"static", `
Name: A
Properties: {n: {Contract: $.int(), Usage: Static, Default: 1}, p: {Contract: $, Default: 2}}
Methods:
  next: {Usage: Static, Arguments: {by: {Contract: $.int()}}, Body: [$.n: $.n + $by, Return: $.n]}
  up: {Body: [$.n: '7', Return: $this.next(1)]}
---
Name: Main
Extends: A
Methods:
  main:
    Body:
    - trace([$.n, :A.n, :Main.n])
    - trace(:A.next(2))
    - trace([$.n, new(A).n, new(A).up(), $.n])
    - Try: trace(:A.p)
      Catch: {Do: trace(instance)}
    - Try: trace(:A.up())
      Catch: {Do: trace(instance)}
`, `"n": 8`},
	{"static properties of classes", `
Name: A
Properties:
  n: {Contract: $.int(), Usage: Static, Default: 1}
  m: {Contract: $, Usage: Static, Default: {}}
  none: {Contract: $.int(), Usage: Static}
  p: {Contract: $, Default: 2}
---
Name: Main
Extends: A
Methods:
  main:
    Body:
    - :A.n: '5'
    - trace([$.n, :A.n, t:Main.n])
    - t:Main.n: 6
    - trace([$.n, :A.n])
    - t:A.m.k.l: 7
    - trace(:A.m)
    - :A.none: 8
    - trace(:Main.none)
    - Try: [!yaql ':A.n': wrong]
      Catch: {Do: trace(violates)}
    - trace(:A.n)
`, ``},
	{"lazy sequences", `
Name: Node
Properties: {p: {Contract: [$.int()]}}
---
Name: Main
Properties: {items: {Contract: [$.int()]}, p: {Contract: [$.string()], Usage: InOut}}
Methods:
  any: {Arguments: {x: {Contract: []}}, Body: {Return: [!yaql '$x.len()', $x]}}
  texts: {Arguments: {x: {Contract: [!yaql '$.string()', 1, 3]}}, Body: {Return: [!yaql '$x.len()', $x, $x]}}
  main:
    Body:
    - trace($.any($.items.select($ + 1)))
    - trace($.texts($.items.select($ + 1)))
    - trace($.texts($.items.where($ > 1)))
    - trace($.any(range(2)))
    - trace($.any(set(1, 2)))
    - trace($.any({a => 1}))
    - trace($.any(ab))
    - trace(new(Node, p => $.items.select($ * 2)).p)
    - $.p: $.items.select($ + 1)
    - trace($.p)
    - Try: $.texts(range(4))
      Catch: {Do: trace(violates)}
    - Try: $.texts([[1].select($)])
      Catch: {Do: trace(violates)}
`, `"items": [1, 2, 3]`},
	{"metadata", `
Name: Note
Usage: Meta
Cardinality: Many
Applies: [Property, Method, Argument, Type]
Inherited: true
Properties: {text: {Contract: $.string()}}
---
Name: Main
Meta: {Note: {text: a}}
Properties: {p: {Contract: $, Meta: [{Note: {text: b}}]}}
Methods:
  main: {Scope: Public, Meta: {Note: {text: c}}, Arguments: [a: {Contract: $, Meta: Note}], Body: trace($.p)}
`, `"p": 8`},
	{"template", `
Name: Node
Properties: {p: {Contract: $.int().notNull(), Default: 3}, t: {Contract: $.string().notNull()}, n: {Contract: $.class(Node)}, o: {Contract: $, Usage: Runtime, Default: 1}}
Methods: {.init: {Body: trace(init)}}
---
Name: Leaf
Extends: Node
---
Name: Main
Properties:
  a: {Contract: $.template(Node)}
  b: {Contract: !yaql "$.template(Node, Leaf, excludeProperties => [t, 'n.t'])"}
  c: {Contract: [$.template(Node).notNull()]}
  none: {Contract: $.template(Node)}
Methods:
  m: {Arguments: [t: {Contract: $.template(Node)}], Body: {Return: $t}}
  main:
    Body:
    - trace([$.a.p, $.a.t, $.a.keys().toList().orderBy($), $.b.keys().toList().orderBy($), $.b.n.keys().toList().orderBy($), $.none])
    - trace([$.c.len(), $.c[0].p, $.a.get('?').get(type) = $.b.get('?').get(type)])
    - $o: new($.a)
    - trace([$o is Node, $o.p, $o is Leaf])
    - $o: new($.b.set(t, u).set(n, null), $this)
    - trace([$o is Leaf, id($o.find(Main)) = id($)])
    - trace([$.m({t => y, p => '4'}).p, $.m($o).p, $.m(null)])
    - Try: $.m({t => y, p => x})
      Catch: {Do: trace(violates)}
    - Try: $.m({t => null})
      Catch: {Do: trace(violates)}
    - Try: $.m(5)
      Catch: {Do: trace(violates)}
    - Try: $.m($this)
      Catch: {Do: trace(violates)}
`, `"a": {"t": "x", "p": "5"}, "b": {"n": {"p": 6}}, "c": [{"t": "z"}]`},
	{"template refers", `
Name: Node
Properties: {n: {Contract: $.class(Node)}, p: {Contract: $}}
---
Name: Main
Properties: {a: {Contract: $.template(Node)}, b: {Contract: $.class(Node)}}
Methods:
  main:
    Body: trace([new($.a, $this).n.p, $.b.p])
`, `"a": {"n": "x"}, "b": {"?": {"type": "t.Node", "id": "x"}, "p": 4}`},
	{"template violates", `
Name: Node
Properties: {p: {Contract: $.int().notNull()}}
---
Name: Main
Properties: {a: {Contract: $.template(Node)}}
Methods: {main: {Body: trace($.a)}}
`, `"a": {}`},
	{"super", `
Name: A
Methods: {m: {Body: {Return: A}}}
---
Name: B
Methods: {m: {Body: {Return: B}}}
---
Name: Main
Extends: [A, B]
Methods: {m: {Body: [!yaql 'trace(super($, $.m()))', !yaql 'trace(psuper($, $.m()))']}, main: {Body: $.m()}}
`, ``},
	{"new", `
Name: Node
Properties: {p: {Contract: $.int(), Default: 3}, n: {Contract: $.class(Node)}}
Methods: {.init: {Body: trace($.p)}}
---
Name: Main
Methods:
  main:
    Body:
    - $a: new(Node, p => 1)
    - $b: new(Node, $this, p => 2, n => $a)
    - $c: new(Node, {p => 4, n => {p => 5}}, $this)
    - trace([id($b.find(Main)) = id($), $a.find(Main), $b.n = $a, id($c.n.find(Node)) = id($c)])
    - $d: new({':Node' => {p => 6}})
    - $e: new({'?' => {type => 't.Node'}, p => 7})
    - trace([$d.p, $e.p])
`, ``},
	{"contract makes objects", `
Name: Node
Properties: {p: {Contract: $.int()}}
Methods: {.init: {Body: trace($.p)}}
---
Name: Main
Properties: {n: {Contract: $.class(Node), Usage: Out}, l: {Contract: [$.class(Node)], Usage: Runtime}}
Methods:
  main:
    Body:
    - $.n: {p: 2}
    - $.l: [{p: 3}, $.n]
    - trace([$.n.p, $.l.select($.p).toList(), id($.n.find(Main)) = id($)])
`, ``},
	{"namespaces", `
Name: Main
Methods:
  main:
    Body:
    - trace($ is :Main)
    - trace($ is t:Main)
    - trace(new('t.Other') is Other)
    - trace(new(u:Other) is u:Other)
---
Name: Other
---
Name: u:Other
`, ``},
	{"check sees this", `
Name: Main
Properties: {min: {Contract: $.int(), Default: 3}, p: {Contract: $.int().check($ > $this.min)}, q: {Contract: $.check($this.p > $)}}
Methods: {main: {Body: trace($.p)}}
`, `"p": 4, "q": 2`},
	{"check fails", `
Name: Main
Properties: {min: {Contract: $.int(), Default: 3}, p: {Contract: !yaql "$.int().check($ > $this.min, 'too small')"}}
Methods: {main: {Body: trace($.p)}}
`, `"p": 2`},
}

func TestObjectsReference(t *testing.T) {
	t.Parallel()
	ref := startReference(t)
	for _, test := range objectCases {
		q := request{Classes: []string{"Namespaces: {=: t, t: t, u: u}" + test.classes}, Method: "main"}
		q.Model = json.RawMessage(strings.TrimSuffix(`{"?": {"type": "t.Main", "id": "main"}, `+test.model, ", ") + "}")
		if d := difference(run(t, q), ref.ask(q)); d != "" {
			t.Errorf("%s: the answer differs from the reference: %s", test.name, d)
		}
	}
}
