package workspace_test

import (
	"slices"
	"testing"

	"github.com/lumi-idl/lumi/deploy/workspace"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestIgnoredDrift(t *testing.T) {
	t.Parallel()
	w := must.Get(workspace.Parse([]byte(`drift: {ignore: ["aws:ec2:Instance.tags.scanner", "a/b:c.d/e:F.list[*].x"]}`), "f"))(t)
	if want := []string{"aws:ec2:Instance.tags.scanner", "a/b:c.d/e:F.list[*].x"}; !slices.Equal(w.IgnoredDrift, want) {
		t.Errorf("Parse().IgnoredDrift = %q, want %q", w.IgnoredDrift, want)
	}
}
