// Package providertest is a test kit for authors of providers. It takes a resource through its life as an engine would,
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
// The same test runs against the binary, where h is
//
//	path := providertest.Build(t, "./lumi-resource-aws")
//	h := providertest.Binary(t, plugin.Command{Path: path}, providertest.Like(serve.Plugin{...}))
//
// # What is checked
//
// At each step, without being asked:
//
//   - Check leaves alone what the program gave, but for what it fills in. It changes nothing in what it returned itself,
//     and finds no faults there. What is not known yet stays so.
//   - InspectChange reports what is not known yet as a change, and no changes where there are none.
//   - Create and Update return what the provider computes, all that must be known, and nothing else. What must be known
//     and comes as "" or 0 was most likely forgotten.
//   - Get by id alone returns what was asked for and computed, but for what the IDL declares in.
//   - A second Create for the same URN makes no second resource.
//   - Update is refused where the IDL wants a replacement, and then changes nothing.
//   - After Delete, Get returns [lumi.ErrNotFound], and a second Delete is no error.
//   - What the IDL declares secret is wrapped in every answer. No error and no log tells a secret that package
//     serve cannot mask.
//   - No call changes what it is given. That can only be seen in process.
//
// What fails is reported with the step, the path of each property, what was expected and what was found; and the calls
// of that step are listed at the end. What exists when a test ends is deleted, whether it failed or not.
// Docs/testing.md shows it.
package providertest
