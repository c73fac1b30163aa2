package s3

import (
	"testing"

	aws "github.com/lumi-idl/lumi/examples/aws/provider"
	"github.com/lumi-idl/lumi/examples/aws/provider/internal/cloud"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestBucketAddresses(t *testing.T) {
	for name, test := range map[string]struct {
		region                aws.Region
		configured, variable  string
		domainName, websiteOf string
	}{
		"Amazon": {
			aws.USWest2, "", "", "pages.s3.us-west-2.amazonaws.com", "http://pages.s3-website-us-west-2.amazonaws.com",
		},
		"Amazon, with a dot": {
			aws.EUCentral1, "", "",
			"pages.s3.eu-central-1.amazonaws.com", "http://pages.s3-website.eu-central-1.amazonaws.com",
		},
		"configured": {
			aws.USWest2, "https://localhost:4566/s3/", "http://ignored", "localhost:4566", "https://localhost:4566/s3/pages",
		},
		"environment": {aws.USWest2, "", "http://127.0.0.1:7070", "127.0.0.1:7070", "http://127.0.0.1:7070/pages"},
		"password":    {aws.USWest2, "http://user:hush@host", "", "host", "http://host/pages"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, variable := range []string{"AWS_PROFILE", "AWS_ENDPOINT_URL"} {
				t.Setenv(variable, "")
			}
			t.Setenv("AWS_ENDPOINT_URL_S3", test.variable)
			t.Setenv("AWS_CONFIG_FILE", t.TempDir()+"/none")
			config := &aws.Config{
				Region: test.region, Credentials: &aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "secret"},
			}
			if test.configured != "" {
				config.Endpoints = map[aws.Service]string{aws.S3Service: test.configured}
			}
			c := new(cloud.Cloud)
			must.Do(t, c.Configure(t.Context(), config))
			ops := &bucketProviderOpsImpl{&account{Cloud: c, api: cloud.Client(c, aws.S3Service, open)}}
			b := &bucket{Name: "pages"}
			if ops.compute(b); b.DomainName != test.domainName || b.WebsiteURL != nil {
				t.Errorf("DomainName = %s, WebsiteURL = %v, want %s and none", b.DomainName, b.WebsiteURL, test.domainName)
			}
			b.Website = &BucketWebsite{}
			if ops.compute(b); *b.WebsiteURL != test.websiteOf {
				t.Errorf("WebsiteURL = %s, want %s", *b.WebsiteURL, test.websiteOf)
			}
		})
	}
}
