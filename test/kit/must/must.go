// Package must fails tests on setup errors.
package must

// T is the subset of testing.TB used by this package. *rapid.T implements it.
type T interface {
	Helper()
	Fatal(args ...any)
}

// Do calls t.Fatal with the first non-nil error, if any.
func Do(t T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Get wraps the results of a function call, as in must.Get(f())(t). The returned function returns v, or calls t.Fatal if
// err is not nil.
func Get[V any](v V, err error) func(T) V {
	return func(t T) V {
		t.Helper()
		Do(t, err)
		return v
	}
}

// Value wraps the results of a function call, as in must.Value(f()). It returns v, or panics if err is not nil. Use it
// where there is no T, such as in package variables.
func Value[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}
