package must

import (
	"errors"
	"reflect"
	"testing"
)

// recorder records fatal errors and continues the test.
type recorder struct {
	testing.TB
	fatal []any
}

func (r *recorder) Fatal(args ...any) { r.fatal = append(r.fatal, args...) }

func TestMust(t *testing.T) {
	r, broken, late := &recorder{TB: t}, errors.New("broken"), errors.New("late")
	Do(r, nil)
	Do(r, nil, broken, late)
	if got := Get(1, nil)(r); got != 1 {
		t.Errorf("got %d, want 1", got)
	}
	Get("", late)(r)
	if want := []any{broken, late, late}; !reflect.DeepEqual(r.fatal, want) {
		t.Errorf("got fatal errors %v, want %v", r.fatal, want)
	}
}
