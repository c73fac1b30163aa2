package providertest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
)

// limited is a test with a deadline.
type limited struct {
	providertest.TB
	end time.Time
}

func (l limited) Deadline() (time.Time, bool) { return l.end, true }

// hanger implements volumes. Deleting the volume named stuck hangs.
type hanger struct{ *volumeOps }

func (h *hanger) Delete(ctx context.Context, old *volumeState) error {
	if old.Properties.Name == "stuck" {
		<-ctx.Done()
		return ctx.Err()
	}
	return h.volumeOps.Delete(ctx, old)
}

// A hanging Delete is reported, and other resources are deleted before the deadline.
func TestHanging(t *testing.T) {
	t.Parallel()
	end := time.Now().Add(6 * time.Second)
	got := said(run(t, func(t providertest.TB) {
		t = limited{t, end}
		h := providertest.InProcess(t, providertest.Resources(newVolumes(&hanger{&volumeOps{newCloud()}})))
		h.Resource(volumeToken, "data").Create(t, small)
		stuck := h.Resource(volumeToken, "stuck")
		stuck.Create(t, small.With(providertest.Properties{"name": "stuck"}))
		stuck.Delete(t)
	}))
	const deadline = "context deadline exceeded (unknown whether it took effect)\n"
	const want = `store:index:Volume "stuck": delete: Delete failed: ` + deadline +
		`store:index:Volume "stuck": cannot clean up id-2: Delete failed: ` + deadline +
		`store:index:Volume "data": cleaned up id-1` + "\n"
	if got != want {
		t.Errorf("report =\n%s\nwant\n%s", got, want)
	}
	if late := time.Since(end); late > 0 {
		t.Errorf("the test ended %s after its deadline", late)
	}
}

// Reports use the terms of the program that runs the kit.
func TestTerms(t *testing.T) {
	terms := providertest.Terms(func(name string) string { return "<" + name + ">" })
	report := run(t, func(t providertest.TB) {
		h := providertest.InProcess(t, providertest.Resources(newVolumes(&author{
			volumeOps: &volumeOps{newCloud()}, absent: errors.New("404 not found"),
			get: func(v, _ *volume) (*volume, error) { v.Comment = nil; return v, nil },
			create: func(want *volumeState, id lumi.ID) (lumi.ID, error) {
				want.Properties.ARN = ""
				return id, nil
			},
		})), terms)
		v := h.Resource(volumeToken, "data")
		v.Check(t, small)
		v.Create(t, small)
		v.Delete(t)
	})
	for _, part := range []string{
		"list it in <MayDiffer>\n", "list it in <MayBeEmpty>\n",
		"Get (import) after Delete must return <lumi.ErrNotFound>, but returned: ",
		"(option <AllCalls> lists all):\n",
	} {
		if !strings.Contains(report, part) {
			t.Errorf("report lacks %q:\n%s", part, report)
		}
	}
}
