package lumi_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
	testnet "github.com/lumi-idl/lumi/test/testprovider/net"
)

// failed checks the id and message of a partial failure, and returns its properties.
func failed(t *testing.T, err error, id lumi.ID, message string) lumi.Bag {
	t.Helper()
	var partial *lumi.PartialError
	if !errors.As(err, &partial) {
		t.Fatalf("error = %T %v, want a *PartialError", err, err)
	}
	if partial.ID != id || err.Error() != message {
		t.Errorf("id = %s, error = %v, want %s, %s", partial.ID, err, id, message)
	}
	return partial.Properties
}

var errHalf = errors.New("half way")

func TestUpdatePartial(t *testing.T) {
	const changed = `{"limit": 2, "comment": "new", "tags": {"a": "b"}, "rules": null, "keys": {"k": "new"}}`
	old := with(t, minimal, `{"arn": "arn:1", "token": "t1", "address": "1.2.3.4", "limit": 1, "rules": [{"protocol": "tcp"}],
		"keys": {"k": "old"}, "password": {"$sig": "$secret", "value": "hunter2"}, "gone": true,
		"comment": {"$sig": "$secret", "value": "old"}}`)
	const before = `{"arn": "arn:1", "token": {"$sig": "$secret", "value": "t1"}, "address": "1.2.3.4", "zones": null,
		"limit": 1, "rules": [{"protocol": "tcp"}], "keys": {"$sig": "$secret", "value": {"k": "old"}},
		"password": {"$sig": "$secret", "value": "hunter2"}, "comment": {"$sig": "$secret", "value": "old"}}`
	tests := []struct {
		name   string
		update func(want *lumi.State[*network])
		want   string // in addition to the old properties
	}{
		{"added", func(want *lumi.State[*network]) { want.Done(testnet.Network_Tags) }, `{"tags": {"a": "b"}}`},
		{"removed", func(want *lumi.State[*network]) { want.Done(testnet.Network_Rules) }, `{"rules": null}`},
		{"modified", func(want *lumi.State[*network]) { want.Done(testnet.Network_Limit) }, `{"limit": 2}`},
		{"several", func(want *lumi.State[*network]) {
			want.Done(testnet.Network_Limit, testnet.Network_Tags)
			want.Done(testnet.Network_Rules)
		}, `{"limit": 2, "tags": {"a": "b"}, "rules": null}`},
		{"secret in the IDL", func(want *lumi.State[*network]) { want.Done(testnet.Network_Keys) },
			`{"keys": {"$sig": "$secret", "value": {"k": "new"}}}`},
		{"secret no more", func(want *lumi.State[*network]) { want.Done(testnet.Network_Comment) }, `{"comment": "new"}`},
		{"neither old nor new", func(want *lumi.State[*network]) {
			want.Properties.Limit = ptr(1.5)
			want.Done(testnet.Network_Limit)
		}, `{"limit": 1.5}`},
		{"final values", func(want *lumi.State[*network]) {
			want.Done(testnet.Network_Tags)
			want.Properties.Tags["a"] = "c"
		}, `{"tags": {"a": "c"}}`},
		{"unset", func(want *lumi.State[*network]) {
			want.Properties.Tags = nil
			want.Done(testnet.Network_Tags)
		}, `{}`},
		{"computed", func(want *lumi.State[*network]) {
			want.Properties.Address, want.Properties.Token, want.Properties.Zones = nil, ptr("t2"), []string{"z"}
			want.Done(testnet.Network_Open) // unchanged
		}, `{"address": null, "token": {"$sig": "$secret", "value": "t2"}, "zones": ["z"]}`},
		{"another struct", func(want *lumi.State[*network]) {
			want.Properties = &network{ARN: "arn:2", Limit: ptr(3.0), Comment: ptr("lost")}
			want.Done(testnet.Network_Limit)
		}, `{"arn": "arn:2", "token": null, "address": null, "limit": 3}`},
		{"cannot be encoded", func(want *lumi.State[*network]) {
			want.Properties.Tags["\xff"] = "c"
			want.Done(testnet.Network_Tags, testnet.Network_Limit)
		}, `{"limit": 2}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := testnet.NewNetworkProvider(&networkOps{update: func(_, want *lumi.State[*network], _ *lumi.Diff) error {
				test.update(want)
				return errHalf
			}})
			_, err := p.Update(t.Context(), &lumi.UpdateRequest{ID: "n-1", Old: old, New: with(t, minimal, changed)})
			message := "partially done: half way"
			if test.name == "cannot be encoded" {
				message += "\n" + `the provider returned an invalid result: tags["\xff"]: is not valid UTF-8`
			}
			has := failed(t, err, "n-1", message)
			compare(t, over(t, with(t, minimal, before), test.want), has)
			if !errors.Is(err, errHalf) {
				t.Errorf("Update error = %v, want it to wrap errHalf", err)
			}
		})
	}
}

func TestUpdateWithoutDone(t *testing.T) {
	p := testnet.NewNetworkProvider(&networkOps{update: func(old, want *lumi.State[*network], _ *lumi.Diff) error {
		old.Done(testnet.Network_Limit) // no effect on old
		want.Properties.ARN = "arn:2"
		want.Done()
		return errHalf
	}})
	_, err := p.Update(t.Context(), &lumi.UpdateRequest{ID: "n-1", Old: bag(t, minimal), New: with(t, minimal, `{"limit": 2}`)})
	if err != errHalf { //nolint:errorlint // Nothing is added.
		t.Errorf("Update error = %T %v, want errHalf", err, err)
	}
}

func TestDoneUnknownName(t *testing.T) {
	p := testnet.NewNetworkProvider(&networkOps{update: func(_, want *lumi.State[*network], _ *lumi.Diff) error {
		want.Done(testnet.Network_Limit, "rules[0]", "tgas")
		return lumi.Uncertain(errHalf)
	}})
	_, err := p.Update(t.Context(), &lumi.UpdateRequest{ID: "n-1", Old: bag(t, minimal), New: with(t, minimal, `{"limit": 2}`)})
	has := failed(t, err, "n-1", "partially done: half way\n"+`Done("rules[0]"): no such property`+"\n"+
		`Done("tgas"): no such property; did you mean "tags"?`)
	compare(t, with(t, minimal, `{"arn": "", "limit": 2}`), has)
	if !errors.As(err, new(*lumi.UncertainError)) {
		t.Errorf("Update error = %v, want an *UncertainError", err)
	}
}

func TestDoneConcurrently(t *testing.T) {
	names := []string{testnet.Network_Limit, testnet.Network_Tags, testnet.Network_Comment, testnet.Network_Rules}
	p := testnet.NewNetworkProvider(&networkOps{update: func(_, want *lumi.State[*network], _ *lumi.Diff) error {
		var group sync.WaitGroup
		for _, name := range names {
			group.Go(func() { want.Done(name) })
		}
		group.Wait()
		go want.Done(testnet.Network_Color) // too late
		return errHalf
	}})
	wanted := with(t, minimal, `{"limit": 2, "tags": {}, "comment": "", "rules": []}`)
	_, err := p.Update(t.Context(), &lumi.UpdateRequest{ID: "n-1", Old: bag(t, minimal), New: wanted})
	compare(t, over(t, wanted, `{"arn": ""}`), failed(t, err, "n-1", "partially done: half way"))
}

func TestCreatePartial(t *testing.T) {
	wanted := with(t, minimal, `{"limit": 5, "seed": "s", "tags": {"a": "b"}, "accent": "red", "peer": "$network",
		"password": "hunter2", "comment": {"$sig": "$secret", "value": "hush"}}`)
	p := testnet.NewNetworkProvider(&networkOps{
		create: func(want *lumi.State[*network]) (lumi.ID, error) {
			n := want.Properties
			n.ARN, n.CIDR, n.Token = "arn:1", "010.0.0.0/8", ptr("t")
			n.Tags["default"] = "c"
			want.Done(testnet.Network_Tags, testnet.Network_Password)
			return "n-1", errHalf
		},
		update: func(_, want *lumi.State[*network], _ *lumi.Diff) error {
			if want.Properties.ARN != "arn:1" {
				t.Errorf("Update called with %+v, want ARN arn:1", want.Properties)
			}
			return nil
		},
	})
	_, err := p.Create(t.Context(), &lumi.CreateRequest{URN: networkURN, Token: "t-1", Properties: wanted})
	has := failed(t, err, "n-1", "partially done: half way")
	want := bag(t, `{"name": "n", "cidr": "10.0.0.0/8", "accent": "red", "peer": "$network", "seed": "s",
		"arn": "arn:1", "token": {"$sig": "$secret", "value": "t"},
		"tags": {"a": "b", "default": "c"}, "password": {"$sig": "$secret", "value": "hunter2"}}`)
	compare(t, want, has)
	inspected := must.Get(p.InspectChange(t.Context(), &lumi.InspectChangeRequest{ID: "n-1", Old: has, New: wanted}))(t)
	changes := []string{
		`+ color: "red"`, "+ comment: (secret)", "+ document: {}",
		`+ gateway: "` + string(gatewayURN) + `"`, "+ limit: 5", "+ open: false", `+ origin: {"x":0,"y":0}`,
		"+ required: []", `+ script: {"text":""}`, "+ size: 1", `- tags.default: "c"`,
	}
	expect.Equal(t, changes, lines(inspected.Changes), "changes")
	if len(inspected.Replaces) > 0 {
		t.Errorf("Replaces = %v, want none", inspected.Replaces)
	}
	resp, err := p.Update(t.Context(), &lumi.UpdateRequest{ID: "n-1", Old: has, New: wanted})
	if err != nil || !same(bag(t, `{"arn": "arn:1", "token": {"$sig": "$secret", "value": "t"}}`), resp.Properties) {
		t.Errorf("Update = %v, %v, want the arn and token", resp, err)
	}
}

// A failed Create may report a value other than the requested one, even for a property that requires a replacement.
func TestCreateReplacedDone(t *testing.T) {
	p := testnet.NewNetworkProvider(&networkOps{create: func(want *lumi.State[*network]) (lumi.ID, error) {
		want.Properties.CIDR = "10.1.0.0/16"
		want.Done(testnet.Network_CIDR)
		return "n-1", errHalf
	}})
	_, err := p.Create(t.Context(), &lumi.CreateRequest{Properties: bag(t, minimal)})
	want := bag(t, `{"name": "n", "cidr": "10.1.0.0/16", "arn": ""}`)
	compare(t, want, failed(t, err, "n-1", "partially done: half way"))
}

func TestCreateFailure(t *testing.T) {
	p := testnet.NewNetworkProvider(&networkOps{create: func(want *lumi.State[*network]) (lumi.ID, error) {
		want.Done(testnet.Network_Limit) // no effect without a resource
		return "", errHalf
	}})
	_, err := p.Create(t.Context(), &lumi.CreateRequest{Properties: bag(t, minimal)})
	if err != errHalf { //nolint:errorlint // Nothing is added.
		t.Errorf("Create error = %T %v, want errHalf", err, err)
	}
}

func TestAuthorPartialError(t *testing.T) {
	var result error
	p := testnet.NewNetworkProvider(&networkOps{
		create: func(want *lumi.State[*network]) (lumi.ID, error) {
			want.Properties.ARN = "arn:1"
			return "", result
		},
		update: func(_, want *lumi.State[*network], _ *lumi.Diff) error {
			want.Properties.ARN = "arn:1"
			return result
		},
	})
	own := bag(t, `{"limit": 4, "comment": "hush"}`)
	tests := []struct {
		name            string
		result          error
		created, update string // the expected state
		message         string
		uncertain       bool
	}{
		{"with properties", &lumi.PartialError{ID: "n-1", Properties: own, Err: errHalf},
			`{"limit": 4, "comment": {"$sig": "$secret", "value": "hush"}}`,
			`{"limit": 4, "comment": {"$sig": "$secret", "value": "hush"}}`, "partially done: half way", false},
		{"without", &lumi.PartialError{ID: "n-1", Err: errHalf},
			`{"name": "n", "cidr": "10.0.0.0/8", "arn": "arn:1"}`, `{"limit": 1, "arn": "arn:1"}`, "partially done: half way", false},
		{"without a reason", &lumi.PartialError{ID: "n-1"},
			`{"name": "n", "cidr": "10.0.0.0/8", "arn": "arn:1"}`, `{"limit": 1, "arn": "arn:1"}`, "partially done", false},
		{"wrapped", fmt.Errorf("subnet: %w", &lumi.PartialError{ID: "n-1", Err: errHalf}),
			`{"name": "n", "cidr": "10.0.0.0/8", "arn": "arn:1"}`, `{"limit": 1, "arn": "arn:1"}`,
			"partially done: subnet: partially done: half way", false},
		{"wrapped timeout", fmt.Errorf("subnet: %w", &lumi.PartialError{ID: "n-1", Err: context.DeadlineExceeded}),
			`{"name": "n", "cidr": "10.0.0.0/8", "arn": "arn:1"}`, `{"limit": 1, "arn": "arn:1"}`,
			"partially done: subnet: partially done: context deadline exceeded", true},
		{"next to what is uncertain", errors.Join(&lumi.PartialError{ID: "n-1", Err: errHalf}, lumi.Uncertain(errHalf)),
			`{"name": "n", "cidr": "10.0.0.0/8", "arn": "arn:1"}`, `{"limit": 1, "arn": "arn:1"}`,
			"partially done: partially done: half way\nhalf way", true},
		{"timeout", &lumi.PartialError{ID: "n-1", Err: context.DeadlineExceeded},
			`{"name": "n", "cidr": "10.0.0.0/8", "arn": "arn:1"}`, `{"limit": 1, "arn": "arn:1"}`,
			"partially done: context deadline exceeded", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			result = test.result
			wanted := with(t, minimal, `{"limit": 2, "comment": {"$sig": "$secret", "value": "x"}}`)
			_, err := p.Create(t.Context(), &lumi.CreateRequest{Properties: wanted})
			compare(t, bag(t, test.created), failed(t, err, "n-1", test.message))
			_, err = p.Update(t.Context(), &lumi.UpdateRequest{ID: "n-1", Old: with(t, minimal, `{"limit": 1}`), New: wanted})
			want := bag(t, test.update)
			if test.name != "with properties" {
				want = with(t, minimal, test.update)
			}
			compare(t, want, failed(t, err, "n-1", test.message))
			var partial *lumi.PartialError
			if errors.As(err, &partial); isUncertain(partial.Err) != test.uncertain {
				t.Errorf("error = %v, want uncertain %v", err, test.uncertain)
			}
		})
	}
	result = &lumi.PartialError{ID: "n-1", Properties: bag(t, `{"keys": {"k": "hush"}, "comment": "hush", "tags": {"a": "b"}, "gone": 1}`)}
	_, err := p.Update(t.Context(), &lumi.UpdateRequest{
		ID: "n-1", Old: with(t, minimal, `{"comment": {"$sig": "$secret", "value": "x"}}`), New: bag(t, minimal),
	})
	compare(t, bag(t, `{"keys": {"$sig": "$secret", "value": {"k": "hush"}}, "comment": {"$sig": "$secret", "value": "hush"},
		"tags": {"a": "b"}, "gone": 1}`), failed(t, err, "n-1", "partially done"))
	result = &lumi.PartialError{Properties: own, Err: errHalf}
	_, err = p.Create(t.Context(), &lumi.CreateRequest{Properties: bag(t, minimal)})
	if !isUncertain(err) || err.Error() != "partially done: half way" {
		t.Errorf("Create error = %T %v, want an *UncertainError", err, err)
	}
}

// If computed properties cannot be encoded, the failure reports all others.
func TestPartialInvalidOutput(t *testing.T) {
	spoil := func(want *lumi.State[*network]) {
		want.Properties.ARN, want.Properties.Zones, want.Properties.Token = "\xff", []string{"z"}, ptr("t")
		want.Properties.Limit, want.Properties.Size = ptr(7.0), 8
		want.Done(testnet.Network_Limit) // redundant, since the operation succeeds
	}
	p := testnet.NewNetworkProvider(&networkOps{
		create: func(want *lumi.State[*network]) (lumi.ID, error) { spoil(want); return "n-1", nil },
		update: func(_, want *lumi.State[*network], _ *lumi.Diff) error { spoil(want); return nil },
	})
	wanted := with(t, minimal, `{"limit": 2, "password": "hunter2"}`)
	want := with(t, minimal, `{"limit": 2, "password": {"$sig": "$secret", "value": "hunter2"}, "zones": ["z"],
		"token": {"$sig": "$secret", "value": "t"}}`)
	const message = "partially done: the provider returned an invalid result: arn: is not valid UTF-8"
	_, err := p.Create(t.Context(), &lumi.CreateRequest{Properties: wanted})
	compare(t, want, failed(t, err, "n-1", message))
	_, err = p.Update(t.Context(), &lumi.UpdateRequest{ID: "n-1", Old: with(t, minimal, `{"arn": "arn:1"}`), New: wanted})
	compare(t, want, failed(t, err, "n-1", message))
	if !errors.As(err, new(*lumi.OutputError)) {
		t.Errorf("Update error = %v, want an *OutputError", err)
	}
}

func TestCanceledDuringCall(t *testing.T) {
	for _, result := range []error{nil, errHalf} {
		ctx, cancel := context.WithCancel(t.Context())
		p := testnet.NewNetworkProvider(&networkOps{
			create: func(want *lumi.State[*network]) (lumi.ID, error) {
				cancel()
				want.Properties.ARN = "arn:1"
				return "n-1", result
			},
			update: func(_, want *lumi.State[*network], _ *lumi.Diff) error {
				cancel()
				want.Properties.ARN = "arn:1"
				want.Done(testnet.Network_Limit)
				return result
			},
		})
		created, err := p.Create(ctx, &lumi.CreateRequest{Properties: with(t, minimal, `{"limit": 2}`)})
		if result == nil {
			if err != nil || !same(bag(t, `{"arn": "arn:1"}`), created.Properties) {
				t.Errorf("Create = %v, %v, want arn:1", created, err)
			}
		} else {
			compare(t, bag(t, `{"name": "n", "cidr": "10.0.0.0/8", "arn": "arn:1"}`),
				failed(t, err, "n-1", "partially done: half way"))
		}
		ctx, cancel = context.WithCancel(t.Context())
		updated, err := p.Update(ctx, &lumi.UpdateRequest{ID: "n-1", Old: bag(t, minimal), New: with(t, minimal, `{"limit": 2}`)})
		if result == nil {
			if err != nil || !same(bag(t, `{"arn": "arn:1"}`), updated.Properties) {
				t.Errorf("Update = %v, %v, want arn:1", updated, err)
			}
		} else {
			compare(t, with(t, minimal, `{"limit": 2, "arn": "arn:1"}`), failed(t, err, "n-1", "partially done: half way"))
		}
		cancel()
	}
}

func TestMovedSecretsPartial(t *testing.T) {
	p := testnet.NewNetworkProvider(&networkOps{update: func(_, want *lumi.State[*network], _ *lumi.Diff) error {
		slices.Reverse(want.Properties.Required)
		want.Properties.ARN = "\xff"
		want.Done(testnet.Network_Required)
		return errHalf
	}})
	_, err := p.Update(t.Context(), &lumi.UpdateRequest{
		ID: "n-1", Old: bag(t, minimal), New: with(t, minimal, `{"required": ["a", {"$sig": "$secret", "value": "hush"}]}`),
	})
	has := failed(t, err, "n-1", "partially done: half way\n"+
		"the provider returned an invalid result: arn: is not valid UTF-8")
	want := `{"required": {"$sig": "$secret", "value": ["hush", {"$sig": "$secret", "value": "a"}]}}`
	compare(t, with(t, minimal, want), has)
}
