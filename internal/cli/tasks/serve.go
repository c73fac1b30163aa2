package tasks

import (
	"context"
	"log"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/server"
)

// serving is an invocation of 'lumi serve'.
type serving struct {
	*console.Console
	listen, tokens, cert, key, role string
	insecure, openapi, local        bool
	tasks                           taskOptions
}

func newServeCommand(con *console.Console) *cobra.Command {
	x := &serving{Console: con}
	c := &cobra.Command{
		Use: "serve", Short: "serve task graphs over HTTP",
		Long: `Serve the API that /openapi.json describes, which 'lumi tasks --server=URL' uses, and execute
the runs that it starts. Each request needs a token, as "Authorization: Bearer TOKEN", with a role:
read; plan, which also allows dry runs; or deploy, which also allows changes and runs. Without
--tokens, it generates one for this session and serves only this machine; to serve others, use
--tls-cert and --tls-key.

Users who may run graphs may run commands on the nodes; nodes with connection: local require
--local-nodes. Press Ctrl-C once to stop runs between tasks, twice to cancel running tasks.
docs/serve.md explains the API.`,
		Annotations: console.ExitCodes("interrupted, and all runs have ended", "", console.ElseFailed),
		Example: console.Examples(
			"Serve the programs on this machine.", "lumi serve",
			"Add a token to a file.", "lumi serve --new-token=deploy >>tokens && chmod 600 tokens",
			"Serve other machines.", "lumi serve --listen=:8440 --tokens=tokens --tls-cert=cert.pem --tls-key=key.pem",
			"Write the OpenAPI document.", "lumi serve --openapi >openapi.json",
		),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(c *cobra.Command, _ []string) error { return x.run(c.Context()) },
	}
	flags := c.Flags()
	flags.StringVar(&x.listen, "listen", "127.0.0.1:8440", "the `ADDRESS` to listen on")
	flags.StringVar(&x.tokens, "tokens", "", "the `FILE` of token hashes, which is read for each request")
	flags.StringVar(&x.cert, "tls-cert", "", "the PEM `FILE` with the certificate, followed by its intermediate certificates")
	flags.StringVar(&x.key, "tls-key", "", "the PEM `FILE` with the private key of the certificate")
	flags.BoolVar(&x.insecure, "insecure", false, "serve other machines without TLS, for example behind a TLS proxy")
	flags.StringVar(&x.tasks.inventory, "inventory", "", "the inventory `FILE`, instead of the one in Lumi.yaml")
	flags.BoolVar(&x.local, "local-nodes", false, "allow nodes with connection: local, whose tasks have all permissions of this process")
	flags.StringVar(&x.role, "new-token", "", "only generate a token with the role `ROLE`, and print it with its line for --tokens")
	flags.BoolVar(&x.openapi, "openapi", false, "only print the OpenAPI document")
	completes(c, "new-token", cobra.FixedCompletions([]string{"read", "plan", "deploy"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (x *serving) run(ctx context.Context) error {
	switch {
	case x.openapi:
		x.Printf("%s", server.OpenAPI())
		return nil
	case x.role != "":
		return x.newToken()
	case (x.cert == "") != (x.key == ""):
		return console.Misused("--tls-cert and --tls-key must be used together")
	}
	return workspace.WithStore(ctx, x.Console, true, func(s *workspace.Session) error { return x.serve(ctx, s) })
}

// newToken generates a token. It prints the line for the tokens file on standard output. The token itself is not
// stored; it is printed on standard error.
func (x *serving) newToken() error {
	role, err := server.ParseRole(x.role)
	if err != nil {
		return console.Misused("--new-token: %v", err)
	}
	token, line := server.NewToken(role)
	x.Say("the token is %s", token)
	x.Printf("%s\n", line)
	return nil
}

func (x *serving) serve(ctx context.Context, s *workspace.Session) (err error) {
	console.NormalGC()
	logger := log.New(x.Stderr, "", log.LstdFlags|log.LUTC)
	cancel, cut := context.WithCancel(ctx)
	defer cut()
	x.tasks.remote, x.tasks.hidden = !x.local, []string{x.tokens, x.key}
	tasks := taskService(s, x.tasks)
	runs := &server.Runs{Context: cancel, Log: logger, Engine: func(name string) server.Engine { return tasks.Engine(name) }}
	tasks.Go = runs.Go
	o := server.Options{API: tasks, Runs: runs, Log: logger, Local: x.tokens == ""}
	token := ""
	if o.Local {
		o.Tokens, token = server.SessionTokens()
	} else if o.Tokens, err = server.ReadTokens(x.tokens); err != nil {
		return err
	}
	l, err := server.Listen(x.listen, x.cert, x.key, x.tokens != "" && (x.cert != "" || x.insecure))
	if err != nil {
		return console.Misused("%v", err)
	}
	scheme := "http"
	if x.cert != "" {
		scheme = "https"
	}
	x.Say("serving %s at %s://%s", s.Workspace.File, scheme, l.Addr())
	if token != "" {
		x.Say("the token of this session is %s", token)
	}
	stop, end := context.WithCancel(ctx)
	defer end()
	x.OnInterrupts(func() {
		x.Say("interrupted: waiting for requests and running tasks; interrupt again to cancel them")
		end()
	}, func() {
		x.Say("canceling requests and tasks; interrupt again to exit immediately")
		cut()
	})
	return server.New(o).Serve(stop, l)
}
