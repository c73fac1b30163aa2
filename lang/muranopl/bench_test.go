package muranopl_test

import (
	"testing"
	"time"
)

// loop is a workflow with loops, assignments, method calls, and property accesses. An iteration has 8 instructions,
// including two calls.
const loop = `Namespaces: {=: t}
Name: Main
Properties:
  count: {Contract: $.int().notNull(), Usage: InOut, Default: 0}
  dict: {Contract: {}, Usage: InOut, Default: {}}
Methods:
  next:
    Arguments:
      - n: {Contract: $.int().notNull()}
      - by: {Contract: $.int(), Default: 1}
    Body:
      - $.count: $.count + $by
      - Return: $n + $by
  main:
    Arguments:
      - turns: {Contract: $.int()}
    Body:
      - $i: 0
      - $sum: 0
      - While: $i < $turns
        Do:
          - $i: $.next($i)
          - $sum: $sum + $i mod 7
          - If: $i mod 10 = 0
            Then:
              $.dict[$i mod 100]: $sum
      - Return: [$sum, $.count, $.dict.len()]
`

func turns(n int) request {
	return request{Classes: []string{loop}, Model: model("t.Main"), Method: "main", Args: []any{n}}
}

func BenchmarkSteps(b *testing.B) {
	for b.Loop() {
		if a := run(b, turns(142_857)); a.Error.Kind != "" {
			b.Fatal(a)
		}
	}
}

// BenchmarkReference runs a hundredth of the iterations in the reference. It reports the time per iteration relative to
// this package.
func BenchmarkReference(b *testing.B) {
	const n = 1_428
	ref := startReference(b)
	ref.ask(turns(1))
	var ours, theirs time.Duration
	for b.Loop() {
		start := time.Now()
		run(b, turns(100*n))
		ours += time.Since(start)
		start = time.Now()
		if a := ref.ask(turns(n)); a.Error.Kind != "" {
			b.Fatal(a)
		}
		theirs += time.Since(start)
	}
	b.ReportMetric(100*float64(theirs)/float64(ours), "times-slower")
}
