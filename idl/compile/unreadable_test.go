package compile_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/lumi-idl/lumi/idl/compile"
	"github.com/lumi-idl/lumi/test/kit/expect"
)

func TestInvalidText(t *testing.T) {
	for _, test := range []struct{ name, src, want string }{
		{"NUL", "package shop\n// a \x00 b\n", "idl/a.go:1:1 GoSyntax: unexpected NUL in input"},
		{"latin 1", "package shop\n// \xfcber\n", "idl/a.go:2:4 GoSyntax: illegal UTF-8 encoding"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := newModule(t, map[string]string{"idl/a.go": test.src})
			t.Chdir(dir)
			_, diags, err := load(t, compile.Options{Dir: "idl"})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range diags {
				got = append(got, filepath.ToSlash(fmt.Sprintf("%s:%d:%d", d.Span.Start.File, d.Span.Start.Line, d.Span.Start.Column))+" "+string(d.Code)+": "+d.Message)
			}
			expect.Equal(t, []string{test.want}, got, "diagnostics")
		})
	}
}
