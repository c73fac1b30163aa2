// Package must fails tests on setup errors.
package must

// T is the part of testing.TB that rapid.T implements.
type T interface {
	Helper()
	Fatal(args ...any)
}

// Do fails the test immediately if one of the errors is not nil.
func Do(t T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Get returns v from must.Get(f())(t), or fails the test immediately if f returned an error.
func Get[V any](v V, err error) func(T) V {
	return func(t T) V {
		t.Helper()
		Do(t, err)
		return v
	}
}

// Value returns v from must.Value(f()), or panics if f returned an error. Use it outside of tests.
func Value[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}
