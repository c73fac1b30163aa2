package pages_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/postgres"
	"github.com/lumi-idl/lumi/test/kit/tutorial"
)

func TestFleet(t *testing.T) {
	t.Parallel()
	server := postgres.Start(t)
	steps := must.Get(tutorial.Steps(read(t, filepath.Join("..", "..", "..", "docs", "fleet.md")), ""))(t)
	path := []string{filepath.Dir(providertest.Build(t, "../../../cmd/lumi"))}
	path = append(path, filepath.Dir(providertest.Build(t, "../../../examples/local/provider/lumi-resource-local")), postgres.Find(), os.Getenv("PATH"))
	r := &tutorial.Reader{
		Page: "docs/fleet.md", Dir: t.TempDir(), Errors: true, Env: append(os.Environ(), "PATH="+strings.Join(path, string(filepath.ListSeparator)),
			"NO_COLOR=1", "PGHOST=127.0.0.1", fmt.Sprint("PGPORT=", server.Port), "PGUSER="+server.User),
	}
	r.Do(t, steps...)
}
