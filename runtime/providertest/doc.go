// Package providertest is a test kit for authors of providers and provisioners. It takes a resource through its life cycle,
// as an engine would, in process or in a plugin, and checks the invariants of every provider:
//
//	func TestVPC(t *testing.T) {
//		h := providertest.InProcess(t, serve.Plugin{...})
//		vpc := h.Resource(ec2.VPC, "web")
//		vpc.Life(t, providertest.Life{
//			Create:   providertest.Properties{"name": "web", "cidrBlock": "10.0.0.0/16"},
//			Computed: []string{"defaultSecurityGroup"},
//			Updates:  []providertest.Change{{Set: providertest.Properties{"enableDNSHostnames": true}}},
//			Replaces: []providertest.Replacement{{Set: providertest.Properties{"cidrBlock": "10.1.0.0/16"}}},
//		})
//	}
//
// The same test runs against a plugin in any language with
//
//	path := providertest.Build(t, "./lumi-resource-aws") // or the path of any other binary
//	h := providertest.Binary(t, plugin.Command{Path: path})
//
// Functions are tested with [Harness.Function]:
//
//	h.Function(ec2.FindImage).Call(t, providertest.Call{
//		Arguments: providertest.Properties{"owner": "self", "name": "web-*"},
//		Expect:    providertest.Properties{"architecture": "arm64"},
//	})
//
// The kit calls Describe to learn the properties, whether Create is idempotent, whether Update and Delete are repeatable,
// and whether the provider supports Find.
//
// # Checks
//
// At each step, the kit checks the guarantees that engines rely on:
//
//   - Check does not change the program's values, but may set absent ones. It is idempotent, and deterministic for the same
//     seed and old properties. Unknown values stay unknown.
//   - InspectChange reports unknown values as changes. It reports no changes if nothing changed, or if the provider ignores
//     the changes, in which case it returns the old values, which are passed to Update.
//   - Create and Update return the computed properties, including all required ones, and nothing else. A required property
//     of "" or 0 is reported, since the provider probably forgot to set it.
//   - Get returns the requested and computed properties, except those that the IDL declares in. This includes an import,
//     which passes only the id, and a refresh by an engine that missed the last update.
//   - After a lost response, Create with the same token returns the same resource, if declared idempotent. Find, if
//     supported, finds the resource by its token, and nothing by another token. Update is idempotent.
//   - If Create is declared idempotent, or Update and Delete repeatable, two calls at once with the same token both succeed,
//     with the same id, or one returns a [lumi.RetryError]. A repeatable change that is repeated after a later one has no
//     effect.
//   - After a failure, Get reads the state reported by the failure, or the old state if it reports none.
//   - Update keeps the values of fixed properties.
//   - Update is refused, without changing anything, if the IDL requires a replacement.
//   - After Delete, Get returns [lumi.ErrNotFound], and a second Delete succeeds.
//   - Values that the IDL declares secret are wrapped in every response. No error, log, or event contains a secret that
//     package serve cannot mask.
//   - Call returns the declared results, including all required ones, and the same results for the same arguments.
//   - No call for a resource modifies its request. This is checked in process only.
//
// Failures are reported with the step, the path of each property, and its expected and actual values. At the end, the kit
// lists the calls of failed steps and the provider's log, and deletes remaining resources, even if the test failed. See
// docs/testing.md for an example.
//
// The package does not depend on package testing, so a [TB] need not be a test.
//
// # Provisioners
//
// [RunProvisioner] tests an executable written in any language as an engine would use it, with one process per call:
//
//	func TestConformance(t *testing.T) {
//		db := func(size string) *provisioner.Resource {
//			return providertest.ProvisionerResource("aws:rds:Database", "main", provisioner.Properties{
//				"size": size, "password": provisioner.Secret{Value: "correct horse"},
//			})
//		}
//		providertest.RunProvisioner(t, providertest.Provisioner{
//			Command: plugin.Command{Path: build(t, "lumi-provisioner-tool"), Dir: t.TempDir()},
//			Changes: []provisioner.Change{
//				{New: []*provisioner.Resource{db("small")}}, // creates it
//				{New: []*provisioner.Resource{db("large")}}, // updates it
//				{},                                          // deletes it
//			},
//			Observe: func() (string, error) { return list(endpoint) },
//		})
//	}
//
// It makes the changes twice: first without interruption, and then killing and stopping the process of each Provision
// several times before repeating the call. It deletes everything at the end, even if the test fails. The rules, explained
// in docs/protocol.md, are:
//
//   - name: the name in the handshake matches the executable, lumi-provisioner-NAME.
//   - plan: Plan has no side effects and can be repeated.
//   - status: each change, and each task of its plan, becomes DONE. Status can be called in any process for any token, any
//     number of times, and concurrently.
//   - repeat: Provision is idempotent, whether it completed or its process was stopped or killed.
//   - token: tokens have at most 64 KiB. Status returns NOT_FOUND for any token not returned by Provision.
//   - metadata: all metadata belongs to resources in New.
//   - delete: deleting resources that do not exist succeeds.
//   - secret: plans, tokens, messages, errors, events, and logs contain none of the secrets in Changes.
//   - value: no special value crashes the plugin. The plugin may reject one with a message.
//   - process: the process exits when its standard input is closed, or after SIGTERM if it speaks JSON, and leaves no child
//     processes (checked on Linux).
//
// Failures name the rule. Each change takes about 30 processes and, if Provision is slow, up to 16 calls of it, three of
// which the kit waits for.
package providertest
