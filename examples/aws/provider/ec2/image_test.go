package ec2_test

import (
	"testing"

	"github.com/lumi-idl/lumi/examples/aws/provider/ec2"
	"github.com/lumi-idl/lumi/examples/aws/provider/test/ec2server"
	"github.com/lumi-idl/lumi/runtime/providertest"
)

func TestFindImage(t *testing.T) {
	t.Parallel()
	server, h := start(t)
	server.AddImages(
		ec2server.Image{ID: "ami-1", Name: "web-1", Owner: "self", Created: "2026-01-02T00:00:00.000Z", Processor: "x86_64", State: "available"},
		ec2server.Image{ID: "ami-2", Name: "web-3", Owner: "self", Created: "2026-03-01T00:00:00.000Z", Processor: "x86_64", State: "available", RootDevice: "/dev/xvda"},
		ec2server.Image{ID: "ami-3", Name: "web-2", Owner: "self", Created: "2026-02-01T00:00:00.000Z", Processor: "x86_64", State: "available"},
		ec2server.Image{ID: "ami-4", Name: "web-4", Owner: "self", Created: "2026-04-01T00:00:00.000Z", Processor: "x86_64", State: "pending"},
		ec2server.Image{ID: "ami-5", Name: "web-5", Owner: "self", Created: "2026-05-01T00:00:00.000Z", Processor: "arm64", State: "available"},
		ec2server.Image{ID: "ami-6", Name: "web-6", Owner: "amazon", Created: "2026-06-01T00:00:00.000Z", Processor: "x86_64", State: "available"},
	)
	find := h.Function(ec2.FindImage)
	find.Call(t, providertest.Call{
		Arguments: bag{"owner": "self", "name": "web-*"},
		Expect: bag{
			"imageID": "ami-2", "imageName": "web-3", "creationDate": "2026-03-01T00:00:00.000Z", "rootDeviceName": "/dev/xvda",
		},
	})
	find.Call(t, providertest.Call{
		Arguments: bag{"owner": "self", "name": "web-?", "architecture": ec2.ARM64}, Expect: bag{"imageID": "ami-5"},
	})
	find.Call(t, providertest.Call{Arguments: bag{"owner": "self", "name": "db-*"}},
		providertest.WantError("x86_64 image db-* of self: no such resource"))
	find.Call(t, providertest.Call{Arguments: bag{"owner": "me", "name": ""}}, providertest.WantFaults(
		`owner: must be an account ID, amazon, aws-marketplace or self, found "me"`, "name: must have at least 1 character, found 0"))
	server.Fail("DescribeImages", ec2server.Throttled)
	find.Call(t, providertest.Call{Arguments: bag{"owner": "self", "name": "web-*"}}, providertest.WantRetry("RequestLimitExceeded"))
	server.Fail("DescribeImages", ec2server.Refused)
	find.Call(t, providertest.Call{Arguments: bag{"owner": "self", "name": "web-*"}}, providertest.WantError("UnauthorizedOperation"))
}
