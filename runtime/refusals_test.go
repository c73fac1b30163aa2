package lumi_test

import (
	"errors"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	testnet "github.com/lumi-idl/lumi/test/testprovider/net"
)

func TestInvalidProperties(t *testing.T) {
	p := testnet.NewNetworkProvider(&networkOps{}) // Its operations are not called.
	good, bad, unknown := bag(t, minimal), bag(t, `{}`), with(t, minimal, `{"cidr": "$unknown"}`)
	calls := map[string]func() error{
		"Check": func() error {
			_, err := p.Check(t.Context(), &lumi.CheckRequest{Properties: bad})
			return err
		},
		"Name": func() error {
			_, err := p.Name(t.Context(), &lumi.NameRequest{Properties: bad})
			return err
		},
		"Create": func() error {
			_, err := p.Create(t.Context(), &lumi.CreateRequest{Properties: bad})
			return err
		},
		"InspectChange": func() error {
			_, err := p.InspectChange(t.Context(), &lumi.InspectChangeRequest{Old: good, New: bad})
			return err
		},
		"InspectChange, old unknown": func() error {
			_, err := p.InspectChange(t.Context(), &lumi.InspectChangeRequest{Old: unknown, New: good})
			return err
		},
		"Update": func() error {
			_, err := p.Update(t.Context(), &lumi.UpdateRequest{Old: good, New: unknown})
			return err
		},
		"Update, old unknown": func() error {
			_, err := p.Update(t.Context(), &lumi.UpdateRequest{Old: unknown, New: good})
			return err
		},
		"Update, computed unknown": func() error {
			old := with(t, minimal, `{"arn": "$unknown"}`)
			_, err := p.Update(t.Context(), &lumi.UpdateRequest{Old: old, New: good})
			return err
		},
		"Delete": func() error {
			_, err := p.Delete(t.Context(), &lumi.DeleteRequest{Properties: unknown})
			return err
		},
	}
	for name, call := range calls {
		if err := call(); !errors.As(err, new(*lumi.InvalidError)) {
			t.Errorf("%s returned %v, want an *InvalidError", name, err)
		}
	}
}

// If a result cannot be sent, the error still contains the created resource.
func TestInvalidOutput(t *testing.T) {
	spoil := func(want *lumi.State[*network]) { want.Properties.ARN = "\xff" }
	p := testnet.NewNetworkProvider(&networkOps{
		check:  func(want *lumi.State[*network]) error { want.Properties.CIDR = "\xff"; return nil },
		create: func(want *lumi.State[*network]) (lumi.ID, error) { spoil(want); return "n-1", nil },
		update: func(_, want *lumi.State[*network], _ *lumi.Diff) error { spoil(want); return nil },
		get:    func(lumi.ID, *lumi.State[*network]) (*network, error) { return &network{ARN: "\xff"}, nil },
	})
	var output *lumi.OutputError
	var partial *lumi.PartialError
	if _, err := p.Check(t.Context(), &lumi.CheckRequest{Properties: bag(t, minimal)}); !errors.As(err, &output) {
		t.Errorf("Check error = %v, want an *OutputError", err)
	}
	if _, err := p.Get(t.Context(), &lumi.GetRequest{}); !errors.As(err, &output) {
		t.Errorf("Get error = %v, want an *OutputError", err)
	}
	_, err := p.Create(t.Context(), &lumi.CreateRequest{Properties: with(t, minimal, `{"password": "hush"}`)})
	if !errors.As(err, &output) || !errors.As(err, &partial) || partial.ID != "n-1" ||
		!isSecret(partial.Properties.Struct().Fields["password"]) {
		t.Errorf("Create error = %v, want an *OutputError in a *PartialError for n-1", err)
	}
	req := &lumi.UpdateRequest{ID: "n-2", Old: bag(t, minimal), New: bag(t, minimal)}
	_, err = p.Update(t.Context(), req)
	if !errors.As(err, &output) || !errors.As(err, &partial) || partial.ID != "n-2" || partial.Properties.IsZero() {
		t.Errorf("Update error = %v, want an *OutputError in a *PartialError for n-2", err)
	}
}

func TestAuthorErrors(t *testing.T) {
	down := errors.New("the cloud is down")
	p := testnet.NewNetworkProvider(&networkOps{
		create:  func(*lumi.State[*network]) (lumi.ID, error) { return "", lumi.Faultf(testnet.Network_CIDR, "is taken") },
		inspect: func(_, _ *lumi.State[*network], _ *lumi.Diff) error { return down },
		delete:  func(*lumi.State[*network]) error { return down },
	})
	_, err := p.Create(t.Context(), &lumi.CreateRequest{Properties: bag(t, minimal)})
	if !errors.As(err, new(*lumi.InvalidError)) || err.Error() != "cidr: is taken" {
		t.Errorf("Create error = %v, want an *InvalidError for cidr", err)
	}
	req := &lumi.InspectChangeRequest{Old: bag(t, minimal), New: bag(t, minimal)}
	if _, err := p.InspectChange(t.Context(), req); !errors.Is(err, down) {
		t.Errorf("InspectChange error = %v, want %v", err, down)
	}
	if _, err := p.Delete(t.Context(), &lumi.DeleteRequest{Properties: bag(t, minimal)}); !errors.Is(err, down) {
		t.Errorf("Delete error = %v, want %v", err, down)
	}
}
