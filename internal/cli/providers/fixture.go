package providers

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/internal/fixture"
	"github.com/lumi-idl/lumi/lumigl"
)

// fixtureFile is the input of 'lumi provider test'.
type fixtureFile struct {
	*document.File
	*fixture.Fixture
}

// readFixture reads a fixture. If the fixture has errors, it prints them and returns [console.ErrFailed].
func readFixture(con *console.Console, name string) (*fixtureFile, error) {
	doc, err := document.Load(con, name)
	if errors.Is(err, console.ErrWrong) {
		return nil, console.ErrFailed // exit code 1 means that the provider does not conform
	}
	if err != nil {
		return nil, err
	}
	f := &fixtureFile{File: doc}
	if s, ok := doc.Document.(*lumigl.Snapshot); ok {
		return f, refuseFixture(con, f, []lumigl.Fault{{
			Code:    lumigl.FormFault,
			Message: fmt.Sprintf(`a fixture has "vertices", not %q; this is a snapshot of %s`, "resources", console.Count(s.Base().Len(), "resource")),
		}})
	}
	var faults []lumigl.Fault
	f.Fixture, faults = fixture.Read(doc.Base(), doc.Src)
	return f, refuseFixture(con, f, faults)
}

// refuseFixture prints the errors in a fixture and returns [console.ErrFailed]. It returns nil if there are none.
func refuseFixture(con *console.Console, f *fixtureFile, faults []lumigl.Fault) error {
	if len(faults) == 0 {
		return nil
	}
	return cmp.Or(document.PrintFaults(con, &f.Input, lumigl.InvalidIn(f.Src, faults), document.SecretsIn(f.Src)), console.ErrFailed)
}
