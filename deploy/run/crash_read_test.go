//go:build linux || darwin

package run_test

import (
	"context"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// image is a call of the plugin's function.
type image struct {
	Of    *string
	Value string
}

// Lumi implements [lumi.Object].
func (i *image) Lumi(p *lumi.Props) {
	lumi.Optional(p, "of", &i.Of, lumi.String)
	lumi.Required(p, "value", &i.Value, lumi.String, lumi.Out)
}

func findImage(_ context.Context, call *image, _ lumi.References) error {
	call.Value = "image-of-" + *call.Of
	return nil
}

// Call implements [lumi.Function] with a point before and after the call.
func (w watchedProvider) Call(ctx context.Context, r *lumi.CallRequest) (*lumi.CallResponse, error) {
	w.job.point("Call")
	defer w.job.point("")
	return w.ResourceProvider.(lumi.Function).Call(ctx, r)
}

// An executor is killed around each call of a function, each look-up, and each creation with their results.
func TestReadingExecutorKilled(t *testing.T) {
	t.Parallel()
	s := newSite(t, `Net/a size=1
	 Image/#1 !call=true of=@a.arn
	 Image/#2 !call=true of=x
	 Net/look !read=@a.id
	 Disk/b at=@#1.value on=[@look]
	 Key/c at=@#2.value`)
	killAnywhere(t, s, 20, 1)
}
