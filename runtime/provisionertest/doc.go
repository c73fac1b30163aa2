// Package provisionertest is the conformance test for provisioners. It tests an executable, in whatever language it is
// written, as an engine would use it, with a process for each call:
//
//	func TestConformance(t *testing.T) {
//		db := func(size string) *provisioner.Resource {
//			return provisionertest.Resource("aws:rds:Database", "main", provisioner.Properties{
//				"size": size, "password": provisioner.Secret{Value: "correct horse"},
//			})
//		}
//		provisionertest.Run(t, provisionertest.Options{
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
// # What is checked
//
// Run makes the changes twice: once undisturbed, and once with each call of Provision killed and stopped at several points
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
package provisionertest
