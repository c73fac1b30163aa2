package workspace

import (
	"os"
	"slices"
	"testing"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/sqlite"
	lumiyaml "github.com/lumi-idl/lumi/deploy/workspace"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestCompleteDeployments(t *testing.T) {
	t.Chdir(t.TempDir())
	must.Do(t, os.WriteFile(lumiyaml.FileName, []byte("environment: dev\npackage: shop\n"), 0o600))
	s := must.Get(sqlite.Open(t.Context(), Location(&lumiyaml.Workspace{File: lumiyaml.FileName}), sqlite.Options{}))(t)
	t.Cleanup(func() { _ = s.Close() })
	must.Do(t, s.Write(t.Context(), "dev", func(tx store.Tx) error {
		if err := tx.PutEnvironment(store.Environment{Name: "dev"}); err != nil {
			return err
		}
		for i, d := range []store.Job{
			{Number: 1, Kind: "deploy", State: store.Done}, {Number: 2, Kind: "deploy", State: store.Canceled},
			{Number: 3, Kind: "destroy", State: store.Done}, {Kind: "cleanup", State: store.Wait},
			{Number: 4, Kind: "deploy", State: store.Ask}, {Number: 5, Kind: "deploy", State: store.Wait},
		} {
			d.Environment, d.Module = "dev", "shop"
			id, err := tx.AddJob(d, store.Content{})
			if err != nil {
				return err
			}
			step := store.Step{Deployment: id, Number: i, State: store.Unknown, Kind: "create", URN: "urn:lumi:dev::shop:index::a:b:Db::" + string(d.State)}
			if err := tx.PutStep(step); err != nil {
				return err
			}
		}
		return nil
	}))
	for _, test := range []struct {
		use, typed string
		args       []string
		complete   cobra.CompletionFunc
		want       []string
	}{
		{"retry", "", nil, CompleteDeployments, []string{"shop[4]\tASK", "shop[5]\tWAIT"}},
		{"abort", "", []string{"shop[4]"}, CompleteDeployments, nil},
		{"rollback", "", nil, CompleteDeployments, []string{"shop[1]\tDONE"}},
		{"resolve", "", nil, CompleteResources, []string{"ASK"}},
		{"resolve", "urn:l", nil, CompleteResources, []string{"urn:lumi:dev::shop:index::a:b:Db::ASK"}},
	} {
		c := &cobra.Command{Use: test.use}
		c.SetContext(t.Context())
		if got, _ := test.complete(c, test.args, test.typed); !slices.Equal(got, test.want) {
			t.Errorf("completion of '%s %s' = %q, want %q", test.use, test.typed, got, test.want)
		}
	}
}
