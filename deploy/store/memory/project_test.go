package memory_test

import (
	"slices"
	"testing"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	"github.com/lumi-idl/lumi/deploy/store/storetest"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestProject(t *testing.T) {
	t.Parallel()
	storetest.Test(t, func(*testing.T) store.Store { return store.InProject(memory.New(), "shop") })
}

// fill adds one row of each kind.
func fill(t *testing.T, s store.Store) {
	t.Helper()
	must.Do(t, s.Write(t.Context(), "dev", func(tx store.Tx) error {
		must.Do(t, tx.PutEnvironment(store.Environment{Name: "dev", Lineage: "other"}))
		must.Do(t, tx.PutVertices("dev", []store.Vertex{{Key: "a", Text: "other"}}, nil))
		for _, kind := range []store.Kind{store.Deploy, store.Tasks} {
			id := must.Get(tx.AddJob(store.Job{Environment: "dev", Kind: kind, State: store.Wait}, store.Content{}))(t)
			must.Do(t, tx.AddEvents("dev", []store.Event{{Deployment: id, Message: "other"}}))
		}
		release := must.Get(tx.AddRelease(store.Release{Layer: store.ReleaseLayer, Name: "shop", Version: "1"}))(t)
		must.Do(t, tx.PutSelection(store.Selection{Environment: "dev", Release: release}))
		must.Get(tx.AddGraph(store.TaskGraph{Owner: store.Owner{Layer: store.ReleaseLayer, ID: release}, Type: "default"}))(t)
		must.Get(tx.AddGraph(store.TaskGraph{Owner: store.Owner{Layer: store.ClusterLayer, Environment: "dev"}, Type: "default"}))(t)
		return nil
	}))
}

// Two projects may use the same names, and neither reads rows of the other, even by ID.
func TestProjects(t *testing.T) {
	t.Parallel()
	all := memory.New()
	shop := store.InProject(all, "shop")
	fill(t, store.InProject(all, "sho"))
	must.Do(t, shop.Read(t.Context(), func(tx store.Tx) error {
		if _, err := tx.Job(1); err == nil || err.Error() != "deployment 1: not found" {
			t.Errorf("Job = %v, want deployment 1: not found", err)
		}
		rows := len(must.Get(tx.Environments())(t)) + len(must.Get(tx.Vertices("dev"))(t)) + len(must.Get(tx.Queue("dev"))(t)) +
			len(must.Get(tx.Runs("dev", 0, 9))(t)) + len(must.Get(tx.Events("dev", 0, 0, 9))(t)) + len(must.Get(tx.Releases())(t)) +
			len(must.Get(tx.Selections())(t)) + len(must.Get(tx.Graphs())(t))
		if rows > 0 {
			t.Errorf("%d rows of another project", rows)
		}
		return nil
	}))
	fill(t, shop)
	must.Do(t, shop.Read(t.Context(), func(tx store.Tx) error {
		want := []store.Environment{{Name: "dev", Lineage: "other", Serial: 1}}
		if got := must.Get(tx.Environments())(t); !slices.Equal(got, want) {
			t.Errorf("environments = %+v, want %+v", got, want)
		}
		if got := must.Get(tx.Releases())(t); len(got) != 1 || got[0].Name != "shop" {
			t.Errorf("releases = %+v, want one", got)
		}
		if got := must.Get(tx.Graphs())(t); len(got) != 2 || got[0].Owner.Environment != "" || got[1].Owner.Environment != "dev" {
			t.Errorf("graphs = %+v, want one of the release and one of dev", got)
		}
		return nil
	}))
}
