// Package providertest is a test kit for authors of providers and provisioners. It takes a resource through its life as an engine would,
// in the process of the test or in a plugin of its own, and checks what must be true of every provider:
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
// The same test runs against a plugin in any language, where h is
//
//	path := providertest.Build(t, "./lumi-resource-aws") // or the path of any other binary
//	h := providertest.Binary(t, plugin.Command{Path: path})
//
// The kit learns from the plugin's Describe which properties there are, and what the provider promises beyond that:
// whether Create is idempotent, and whether resources can be found.
//
// # What is checked
//
// The kit checks at each step what an engine relies on:
//
//   - Check does not change what the program gave, though it may fill in what is absent. It gives the same answer to the
//     same question, seed and old inputs included, and accepts its own answer without changing it. Unknown values stay
//     unknown.
//   - InspectChange reports unknown values as changes, and no changes where there are none. Of changes that the provider
//     ignores it reports none, and returns the old values, which Update then gets.
//   - Create and Update return what the provider computes, all that must be known, and nothing else. A required value of
//     "" or 0 was probably forgotten.
//   - Get returns what was asked for and computed, except what the IDL declares in: for an import, by the id alone, and for
//     a refresh, also if the engine does not know of the last update.
//   - After a lost answer, Create with the same token returns the same resource, if the provider promises that. Find finds
//     it by the token, if the provider can, and nothing by another token. Update with the same properties does no harm.
//   - After a failure, Get reads what the failure says that there is, or what there was if it says nothing.
//   - Update is refused where the IDL wants a replacement, and then changes nothing.
//   - After Delete, Get returns [lumi.ErrNotFound], and a second Delete is not an error.
//   - What the IDL declares secret is wrapped in every answer. No error, log or event contains a secret that package
//     serve cannot mask.
//   - No call modifies what it is given. This is checked in process only.
//
// A failure is reported with the step, the path of each property, and what was expected and found. The calls of failed
// steps are listed at the end, with what the provider logged. What exists when a test ends is deleted, whether it failed
// or not. Docs/testing.md has an example.
//
// The package does not depend on package testing: a [TB] can be something else than a test.
//
// # Provisioners
//
// [RunProvisioner] tests an executable, in whatever language it is written, as an engine would use it, with a process for
// each call:
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
// before it is repeated. It deletes everything in the end, also if the test fails. The rules, which docs/protocol.md explains:
//
//   - name: the handshake has the name of the executable, lumi-provisioner-NAME.
//   - plan: Plan changes nothing, and can be repeated.
//   - status: each change becomes DONE, and so does each of the plan's tasks. Any process answers Status for any token, any
//     number of times and concurrently.
//   - repeat: Provision can be repeated, after it is done and after it was stopped or killed, with the same result.
//   - token: tokens have 64 KiB at most. Status returns NOT_FOUND for those that Provision never returned.
//   - metadata: all metadata is of resources in New.
//   - delete: resources that do not exist can be deleted.
//   - secret: the secrets in Changes are not in plans, tokens, messages, errors, events and logs.
//   - value: no special value crashes the plugin. It may refuse them with a message.
//   - process: the process ends when its standard input is closed, and leaves no processes behind, which is checked on Linux.
//
// A failure names the rule. Each change takes about 30 processes, up to 16 calls of Provision if these are slow, and waits for
// three of them to be done.
package providertest
