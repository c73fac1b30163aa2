package plugin

import (
	"context"

	"github.com/lumi-idl/lumi/runtime/internal/provisioning"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/provisioner"
)

// Provisioner is a running provisioner plugin. It implements [provisioner.Provisioner]. Its methods return the errors of the
// provisioner or an *[Error].
type Provisioner struct {
	// Name is the provisioner's name, such as "opentofu". It is empty if the provisioner speaks JSON.
	Name string
	// Version is the version of the plugin, for display. It may be empty.
	Version string

	connection
	client lumirpc.ProvisionerClient
	json   *jsonConn // nil if the provisioner speaks gRPC
}

var _ provisioner.Provisioner = (*Provisioner)(nil)

// StartProvisioner is like [Start], but for a provisioner. If the provisioner speaks JSON, the process handles only the first
// call, and further calls start others.
func StartProvisioner(ctx context.Context, c Command) (*Provisioner, error) {
	if c.JSON {
		conn, err := startJSON(c)
		if err != nil {
			return nil, err
		}
		return &Provisioner{client: lumirpc.NewProvisionerClient(conn), json: conn}, nil
	}
	p := &Provisioner{connection: connection{events: newEvents(c.Events)}}
	if err := p.start(ctx, c, p.introduce); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Provisioner) introduce(ctx context.Context) error {
	p.client = lumirpc.NewProvisionerClient(p.conn)
	resp, err := p.client.Handshake(ctx, &lumirpc.ProvisionerHandshakeRequest{ProtocolVersion: lumirpc.ProtocolVersion})
	if err != nil {
		return p.mistaken(ctx, err)
	}
	if err := agree(resp.GetProtocolVersion()); err != nil {
		return err
	}
	p.Name, p.Version = resp.GetName(), resp.GetVersion()
	return p.explain(ctx, p.events.start(ctx, p.client))
}

// Close stops the plugin as [Plugin.Close] does. If it speaks JSON, its processes get a SIGTERM.
func (p *Provisioner) Close() error {
	if p.json != nil {
		return p.json.close()
	}
	return p.connection.Close()
}

// Plan implements [provisioner.Provisioner].
func (p *Provisioner) Plan(ctx context.Context, c *provisioner.Change) (*provisioner.Plan, error) {
	m, err := provisioning.Encode(c)
	if err != nil {
		return nil, err
	}
	resp, err := p.client.Plan(ctx, &lumirpc.PlanRequest{Change: m})
	if err != nil {
		return nil, err
	}
	return &provisioner.Plan{Text: resp.GetText(), Tasks: resp.GetTasks()}, nil
}

// Provision implements [provisioner.Provisioner].
func (p *Provisioner) Provision(ctx context.Context, c *provisioner.Change) (token string, err error) {
	m, err := provisioning.Encode(c)
	if err != nil {
		return "", err
	}
	resp, err := p.client.Provision(ctx, &lumirpc.ProvisionRequest{Change: m})
	return resp.GetToken(), err
}

// Status implements [provisioner.Provisioner].
func (p *Provisioner) Status(ctx context.Context, token string) (*provisioner.Status, error) {
	resp, err := p.client.Status(ctx, &lumirpc.StatusRequest{Token: token})
	if err != nil {
		return nil, err
	}
	return provisioning.DecodeStatus(resp), nil
}
