package schema

import (
	"bufio"
	"bytes"
	"reflect"
	"testing"
)

// A nil pointer next to a set one yields another digest than the reverse.
func TestDigestAbsent(t *testing.T) {
	type limits struct{ Min, Max *float64 }
	digest := func(l limits) string {
		var b bytes.Buffer
		d := digester{Writer: bufio.NewWriter(&b)}
		d.value(reflect.ValueOf(l))
		_ = d.Flush() // buffers return no errors
		return b.String()
	}
	if three := 3.0; digest(limits{Min: &three}) == digest(limits{Max: &three}) {
		t.Error("a minimum and a maximum have the same digest")
	}
}
