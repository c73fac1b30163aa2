package muranopl_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/lumi-idl/lumi/lang/muranopl"
	"github.com/lumi-idl/lumi/lang/muranopl/catalog"
	"github.com/lumi-idl/lumi/lang/yaql"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// limited calls method main of class t.Main with the default clock.
func limited(t testing.TB, ctx context.Context, steps int, source string) error {
	t.Helper()
	classes, errs := catalog.Folder("", fstest.MapFS{"0.yaml": {Data: []byte(source)}})
	if len(errs) > 0 {
		return errs[0]
	}
	in := muranopl.New(classes, muranopl.Options{MaxSteps: steps, Functions: []*yaql.Function{
		yaql.Func("crash", "", func(*yaql.Call) (any, error) { panic("host") }),
	}})
	documents := must.Get(catalog.Decode("model", model("t.Main")))(t)
	o, err := in.Load(ctx, documents[0])
	if err == nil {
		_, err = in.Call(ctx, o, "main")
	}
	return err
}

// TestLimits runs hostile workflows, which must fail with an error that Catch cannot handle.
func TestLimits(t *testing.T) {
	t.Parallel()
	const head = "Namespaces: {=: t}\nName: Main\nMethods:\n"
	for _, c := range []struct{ name, source, want string }{
		{"While", mainClass("", "- While: true\n  Do:"), "more than 20000 instructions"},
		{"the scope as variable", mainClass("", "- For: '?scope'\n  In: [1]\n  Do: new(Main)"), "For must be the name of a variable"},
		{"the scope as argument", head + "  main: {Arguments: {'?scope': {Contract: $}}}", "must be a string without ?"},
		{"sleep", mainClass("", "- sleep(10000000000000000000000)"), "cannot sleep 10000000000000000000000 seconds"},
		{"Repeat", mainClass("", "- Repeat: 1000000000000000000\n  Do: []"), "more than 20000 instructions"},
		{"Try", mainClass("", "- While: true\n  Do:\n    Try:\n      - Throw: A\n    Catch: {}"), "more than 20000 instructions"},
		{"Finally", mainClass("", "- Try:\n    - While: true\n      Do:\n  Finally:\n    - While: true\n      Do:"), "more than 20000 instructions"},
		{"Parallel", mainClass("", "- While: true\n  Do:\n    Parallel: [sleep(0), sleep(0)]\n    Limit: 1000000000000000000"), "more than 20000 instructions"},
		{"methods", head + "  main: {Body: $.main()}", "methods nested deeper than 200 calls"},
		{"lambdas that run", head + "  main: {Body: !yaql 'list(1, 2).select($this.main()).len()'}", "methods nested deeper than 200 calls"},
		{"Parallel calls", head + "  main:\n    Body:\n      - Parallel: [$.main()]", "methods nested deeper than 200 calls"},
		{"defaults of arguments", head + "  main: {Arguments: {a: {Contract: $, Default: $.main()}}}", "methods nested deeper than 200 calls"},
		{"contracts", head + "  main: {Arguments: {a: {Contract: $.check($this.main())}}}", "methods nested deeper than 200 calls"},
		{"super", head + "  main: {Body: $.a()}\n  a: {Body: !yaql 'super($this, $this.a())'}", "methods nested deeper than 200 calls"},
		{"psuper", head + "  main: {Body: $.a()}\n  a: {Body: !yaql 'psuper($this, $this.a())'}", "methods nested deeper than 200 calls"},
		{"defaults of properties", "Namespaces: {=: t}\nName: Main\nProperties: {p: {Contract: $.class(Main), Default: {}}}", "objects nested deeper than 1000"},
		{"new in defaults", "Namespaces: {=: t}\nName: Main\nProperties: {p: {Contract: $.class(Main), Default: new(Main)}}", "objects nested deeper than 1000"},
		{"new in .init", head + "  .init: {Body: new(Main)}", "methods nested deeper than 200 calls"},
		{"objects", mainClass("", "- While: true\n  Do: {$x: new(Main)}"), "more than 100000 objects"},
		{"strings", mainClass("", "- $x: a\n- While: true\n  Do: {$x: $x + $x}"), "memory quota of 8388608 bytes exceeded"},
		{"lists", mainClass("", "- While: true\n  Do: {$x: [$x, $x]}"), "value of more than 8388608 bytes"},
		{"dictionaries", mainClass("", "- $x: {}\n- While: true\n  Do: {$x.a: {a: $x, b: $x}}"), "value of more than 8388608 bytes"},
		{"append", mainClass("", "- $s: !yaql \"'a' * 1000000\"\n- While: true\n  Do: {$x.append(): $s}"), "value of more than 8388608 bytes"},
		{"properties", head + `  .init: {Body: [$.p: !yaql "'a' * 8000000"]}
  main:
    Body:
      - While: true
        Do: {$x: new(Main)}
`, "variables and properties hold more than 268435456 bytes"},
		{"variables", head + `  main: {Body: !yaql "$.a('a' * 8000000)"}
  a:
    Arguments: {s: {Contract: $}}
    Body: [$.a($s + 'a')]
`, "variables and properties hold more than 268435456 bytes"},
		{"loops", head + `  main:
    Body:
      - For: x
        In: [!yaql "'a' * 8000000"]
        Do: $.main()
`, "variables and properties hold more than 268435456 bytes"},
		{"variables that end", head + `  main:
    Body:
      - Repeat: 30
        Do:
          - !yaql "$.a('a' * 8000000)"
          - $y: !yaql "'b' * 4000000"
  a:
    Arguments: {s: {Contract: $}}
    Body: [$x: $s + 'a']
`, ""},
		{"Parallel that recurses", head + "  main:\n    Body:\n      - Parallel: [new(Main).main(), new(Main).main()]", "more than 10000 branches of Parallel at a time"},
		{"pselect", head + "  main: {Body: !yaql 'range(100000).pselect(sleep(1))'}", "more than 10000 branches of Parallel at a time"},
		{"memory of branches", head + `  main:
    Arguments: {s: {Contract: $, Default: !yaql "'a' * 4000000"}}
    Body: [Parallel: [new(Main).main(), new(Main).main()]]
`, "variables and properties hold more than 268435456 bytes"},
		{"panic", mainClass("", "- Try:\n    - crash()\n  Catch: {With: io.murano.NoSuch}"), "panic: host"},
		{"panic in Parallel", mainClass("", "- Parallel:\n    - crash()\n    - sleep(1)"), "panic: host"},
		{"deadlock", head + `  a: {Arguments: {to: {Contract: $}}, Body: [sleep(0), $to.a($this)]}
  main:
    Body:
      - $o: new(Main)
      - $p: new(Main)
      - Parallel:
          - $o.a($p)
          - $p.a($o)
`, "waits for a branch that waits for this one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			steps := 20_000
			if c.name == "objects" {
				steps = 300_000
			}
			err := limited(t, t.Context(), steps, strings.ReplaceAll(c.source, "\nExtends: \n", "\n"))
			if err == nil && c.want != "" || err != nil && (c.want == "" || !strings.HasSuffix(err.Error(), c.want)) {
				t.Errorf("error = %v, want %q", err, c.want)
			}
		})
	}
}

func TestCancel(t *testing.T) {
	for _, body := range []string{
		"- sleep(100000)",
		"- Parallel:\n    - sleep(100000)\n    - Try: [sleep(1000000)]\n      Catch: {Do: sleep(10000)}\n      Finally: sleep(10000)",
		"- Try:\n    sleep(10000)\n  Catch: {Do: sleep(10000)}",
		"- $x: range(1000000000).len()",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		start := time.Now()
		err := limited(t, ctx, 20_000, strings.ReplaceAll(mainClass("", body), "\nExtends: \n", "\n"))
		cancel()
		if e := (*muranopl.Error)(nil); !errors.As(err, &e) || e.Kind != yaql.Canceled && e.Kind != yaql.Limit {
			t.Errorf("error of\n%s\n= %v, want kind %s or %s", body, err, yaql.Canceled, yaql.Limit)
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("run of\n%s\ntook %s, want at most 5s", body, d)
		}
	}
}

func FuzzRun(f *testing.F) {
	head, cases, _ := strings.Cut(string(must.Get(os.ReadFile(workflows))(f)), "\n=== ")
	f.Add(head)
	for _, section := range strings.Split(cases, "\n=== ") {
		section, _, _ = strings.Cut(section, ">>> ")
		if _, source, _ := strings.Cut(section, "\n"); strings.HasPrefix(source, "Name") {
			f.Add(source)
		} else {
			f.Add(mainClass("io.murano.Object", source))
		}
	}
	f.Fuzz(func(t *testing.T, source string) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := limited(t, ctx, 20_000, source); err != nil && strings.Contains(err.Error(), "panic") && !strings.HasSuffix(err.Error(), "panic: host") {
			t.Error(err)
		}
	})
}
