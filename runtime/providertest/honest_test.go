package providertest_test

import (
	"errors"
	"strings"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
)

// A failure that reports a wrong state is reported.
func TestReportedState(t *testing.T) {
	full := errors.New("no more room")
	var c *cloud
	for _, test := range []struct {
		name   string
		create func(want *volumeState, id lumi.ID) (lumi.ID, error)
		update func(want *volumeState) error
		option providertest.Option
		want   string
	}{
		{
			name: "done what is not",
			update: func(want *volumeState) error {
				want.Done("size", "tags")
				return full
			},
			option: providertest.WantPartial("room"),
			want: `store:index:Volume "data": update, get: the failed Update reports size as 20, but Get reads 10
store:index:Volume "data": update, get: the failed Update reports tags as {"a":"b"}, but Get reads nothing
`,
		},
		{
			name: "not done what is",
			update: func(want *volumeState) error {
				c.put(want.ID, want.Properties)
				want.Done("tags")
				return full
			},
			option: providertest.WantPartial("room"),
			want: `store:index:Volume "data": update, get: the failed Update reports secret as nothing, but Get reads a secret
store:index:Volume "data": update, get: the failed Update reports size as 10, but Get reads 20
`,
		},
		{
			name: "done what is not, and does not know the rest",
			update: func(want *volumeState) error {
				tags := want.Properties.Tags
				want.Properties.Size, want.Properties.Tags = 15, nil
				c.put(want.ID, want.Properties)
				want.Properties.Tags = tags
				want.Done("tags")
				return lumi.Uncertain(full)
			},
			option: providertest.WantPartial("room"),
			want: `store:index:Volume "data": update, get: the failed Update reports size as 10, but Get reads 15
store:index:Volume "data": update, get: the failed Update reports tags as {"a":"b"}, but Get reads nothing
`,
		},
		{
			name: "changed after all",
			update: func(want *volumeState) error {
				c.put(want.ID, want.Properties)
				return full
			},
			option: providertest.WantError("room"),
			want: `store:index:Volume "data": update, get: the failed Update reports secret as nothing, but Get reads a secret
store:index:Volume "data": update, get: the failed Update reports size as 10, but Get reads 20
store:index:Volume "data": update, get: the failed Update reports tags as nothing, but Get reads {"a":"b"}
`,
		},
		{
			name: "gone",
			update: func(want *volumeState) error {
				delete(c.volumes, want.ID)
				return full
			},
			option: providertest.WantError("room"),
			want: `store:index:Volume "data": update, get: the failed Update reports that id-1 exists, but Get (import) failed: ` +
				`id-1: no such resource
`,
		},
		{
			name: "created more than it says",
			create: func(want *volumeState, id lumi.ID) (lumi.ID, error) {
				want.Properties.ARN, want.Properties.Address = "", nil
				want.Done("size")
				return id, full
			},
			option: providertest.WantPartial("room"),
			want: `store:index:Volume "data": create, get: the failed Create reports comment as nothing, but Get reads "made by a test"
`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := said(run(t, func(t providertest.TB) {
				c = newCloud()
				h := providertest.InProcess(t, providertest.Resources(newVolumes(
					&author{volumeOps: &volumeOps{c}, create: test.create, update: test.update})))
				v := h.Resource(volumeToken, "data")
				if test.create != nil {
					v.Create(t, small, test.option)
					return
				}
				v.Create(t, small)
				v.Update(t, providertest.Properties{
					"size": 20, "tags": map[string]string{"a": "b"}, "secret": "battery staple",
				}, test.option)
			}))
			got, _, _ = strings.Cut(got, `store:index:Volume "data": cleaned up id-1`)
			if got != test.want {
				t.Errorf("report =\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// After an uncertain partial failure, an update may have done more than it reported.
func TestReportedStateUncertain(t *testing.T) {
	t.Parallel()
	a := &author{volumeOps: &volumeOps{newCloud()}}
	v := providertest.InProcess(t, providertest.Resources(newVolumes(a))).Resource(volumeToken, "data")
	v.Create(t, small)
	a.update = func(want *volumeState) error {
		a.cloud.put(want.ID, want.Properties)
		want.Done("tags")
		return lumi.Uncertain(errors.New("no answer"))
	}
	v.Update(t, providertest.Properties{"size": 20, "tags": map[string]string{"a": "b"}}, providertest.WantPartial("no answer"))
	a.update = nil
	v.Update(t, providertest.Properties{"size": 21})
	v.Delete(t)
}
