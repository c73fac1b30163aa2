// Package providertest is a test kit for authors of providers and provisioners. It takes a resource through its life as an engine
// would, in process or in a plugin, and checks the invariants of every provider:
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
// The kit calls Describe to learn the properties, whether Create is idempotent, and whether the provider supports Find.
//
// # Checks
//
// At each step, the kit checks the guarantees that engines rely on:
//
//   - Check does not change the program's values, though it may set absent ones. It is deterministic, given the same seed
//     and old properties, and idempotent. Unknown values stay unknown.
//   - InspectChange reports unknown values as changes, and no changes if nothing changed. It does not report changes that
//     the provider ignores, and returns their old values, which are passed to Update.
//   - Create and Update return the computed properties, including all required ones, and nothing else. A required value
//     of "" or 0 was probably forgotten.
//   - Get returns the requested and computed properties, except those that the IDL declares in: for an import, given the id
//     alone, and for a refresh, even if the engine does not know about the last update.
//   - After a lost response, Create with the same token returns the same resource, if declared idempotent. Find, if
//     supported, finds it by its token, and nothing by another token. Update with the same properties is idempotent.
//   - After a failure, Get reads the state that the failure reports, or else the old state.
//   - Update is refused if the IDL requires a replacement, and then changes nothing.
//   - After Delete, Get returns [lumi.ErrNotFound], and a second Delete is not an error.
//   - Values that the IDL declares secret are wrapped in every response. No error, log, or event contains a secret that
//     package serve cannot mask.
//   - No call modifies its request. This is checked in process only.
//
// Failures are reported with the step, the path of each property, and its expected and actual values. The calls of failed
// steps are listed at the end, with the provider's log. Remaining resources are deleted at the end, whether the test failed
// or not. See docs/testing.md for an example.
//
// The package does not depend on package testing: a [TB] need not be a test.
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
// It makes the changes twice: once undisturbed, and once with each call of Provision killed and stopped at several points
// before it is repeated. It deletes everything at the end, even if the test fails. The rules, explained in docs/protocol.md:
//
//   - name: the name in the handshake matches the executable, lumi-provisioner-NAME.
//   - plan: Plan changes nothing, and can be repeated.
//   - status: each change becomes DONE, and so does each of the plan's tasks. Status works in any process for any token, any
//     number of times and concurrently.
//   - repeat: Provision can be repeated with the same result, both when done and after it was stopped or killed.
//   - token: tokens have at most 64 KiB. Status returns NOT_FOUND for any token not returned by Provision.
//   - metadata: all metadata belongs to resources in New.
//   - delete: resources that do not exist can be deleted.
//   - secret: the secrets in Changes are not in plans, tokens, messages, errors, events, and logs.
//   - value: no special value crashes the plugin. It may reject them with a message.
//   - process: the process exits when its standard input is closed, and leaves no child processes (checked on Linux).
//
// Failures name the rule. Each change takes about 30 processes and up to 16 calls of Provision if these are slow, and
// waits for three of them to complete.
package providertest
