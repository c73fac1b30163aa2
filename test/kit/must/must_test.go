package must

import (
	"errors"
	"reflect"
	"testing"
)

// recorder records the arguments of Fatal instead of stopping the test.
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
		t.Errorf("Get(1, nil)(t) = %d, want 1", got)
	}
	Get("", late)(r)
	if want := []any{broken, late, late}; !reflect.DeepEqual(r.fatal, want) {
		t.Errorf("errors passed to Fatal = %v, want %v", r.fatal, want)
	}
}
