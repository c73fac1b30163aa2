package s3

import (
	"context"
	"errors"
	"slices"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/lumi-idl/lumi/examples/aws/provider/internal/cloud"
	lumi "github.com/lumi-idl/lumi/runtime"
)

// readSettings sets all settings in b to those of the existing bucket. It returns errors as reported by the SDK.
func (ops *bucketProviderOpsImpl) readSettings(ctx context.Context, b *bucket) error {
	acl, err := ops.api().GetBucketAcl(ctx, &s3.GetBucketAclInput{Bucket: &b.Name})
	if err != nil {
		return err
	}
	b.AccessControl = new(cannedACL(acl.Grants))
	versioning, err := ops.api().GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: &b.Name})
	if err != nil {
		return err
	}
	if versioning.Status != "" {
		b.Versioning = new(VersioningStatus(versioning.Status))
	}
	cors, err := ops.api().GetBucketCors(ctx, &s3.GetBucketCorsInput{Bucket: &b.Name})
	if err != nil && !cloud.Is(err, "NoSuchCORSConfiguration") {
		return err
	}
	if err == nil {
		b.CORSRules = readCORS(cors.CORSRules)
	}
	website, err := ops.api().GetBucketWebsite(ctx, &s3.GetBucketWebsiteInput{Bucket: &b.Name})
	if err != nil && !cloud.Is(err, "NoSuchWebsiteConfiguration") {
		return err
	}
	if err == nil {
		b.Website = readWebsite(website)
	}
	return nil
}

// access returns the canned ACL of a bucket. The default is private.
func access(b *bucket) CannedACL {
	if b.AccessControl == nil {
		return CannedACLPrivate
	}
	return *b.AccessControl
}

func checkAccess(acl *CannedACL) error {
	if acl == nil {
		return nil
	}
	switch *acl {
	case CannedACLPrivate, CannedACLPublicRead, CannedACLPublicReadWrite:
		return nil
	}
	return lumi.Faultf(Bucket_AccessControl, "%q is not supported by this provider: must be %q, %q or %q",
		*acl, CannedACLPrivate, CannedACLPublicRead, CannedACLPublicReadWrite)
}

// setAccess applies a canned ACL. New buckets prevent public access in two ways: ACLs are disabled, and public access is
// blocked. For a public ACL, setAccess enables ACLs and removes the block; for the private one, it restores the block. It
// sets the ACL last, so that the old one remains after a failure.
func (ops *bucketProviderOpsImpl) setAccess(ctx context.Context, name string, acl CannedACL) error {
	prepare := ops.block
	if acl != CannedACLPrivate {
		lumi.Log(ctx).Warn("bucket " + name + " is public: " + Bucket_AccessControl + " is " + string(acl))
		prepare = ops.unblock
	}
	if err := prepare(ctx, name); err != nil {
		return err
	}
	_, err := ops.api().PutBucketAcl(ctx, &s3.PutBucketAclInput{Bucket: &name, ACL: types.BucketCannedACL(acl)})
	return err
}

// block blocks public access regardless of the ACL. It ignores an error from servers that do not implement the request.
func (ops *bucketProviderOpsImpl) block(ctx context.Context, name string) error {
	yes := new(true)
	_, err := ops.api().PutPublicAccessBlock(ctx, &s3.PutPublicAccessBlockInput{
		Bucket: &name, PublicAccessBlockConfiguration: &types.PublicAccessBlockConfiguration{
			BlockPublicAcls: yes, BlockPublicPolicy: yes, IgnorePublicAcls: yes, RestrictPublicBuckets: yes,
		},
	})
	return unlessNotImplemented(err)
}

// unblock enables ACLs and removes the block on public access.
func (ops *bucketProviderOpsImpl) unblock(ctx context.Context, name string) error {
	_, err := ops.api().PutBucketOwnershipControls(ctx, &s3.PutBucketOwnershipControlsInput{
		Bucket: &name, OwnershipControls: &types.OwnershipControls{
			Rules: []types.OwnershipControlsRule{{ObjectOwnership: types.ObjectOwnershipBucketOwnerPreferred}},
		},
	})
	if err != nil {
		return err
	}
	_, err = ops.api().DeletePublicAccessBlock(ctx, &s3.DeletePublicAccessBlockInput{Bucket: &name})
	return unlessNotImplemented(err)
}

func unlessNotImplemented(err error) error {
	if cloud.Is(err, "NotImplemented") {
		return nil
	}
	return err
}

// isPublic reports whether a grantee is the group of all users, which has a URI at AWS and an id on the test server.
func isPublic(g *types.Grantee) bool {
	return g != nil && g.Type == types.TypeGroup &&
		(sdk.ToString(g.URI) == "http://acs.amazonaws.com/groups/global/AllUsers" || sdk.ToString(g.ID) == "all-users")
}

// cannedACL returns the canned ACL that corresponds to the public grants in a list.
func cannedACL(grants []types.Grant) CannedACL {
	acl := CannedACLPrivate
	for _, g := range grants {
		if !isPublic(g.Grantee) {
			continue
		}
		if g.Permission == types.PermissionWrite {
			return CannedACLPublicReadWrite
		}
		acl = CannedACLPublicRead
	}
	return acl
}

// versions returns the versioning status of a bucket, or "" if versioning was never enabled. A bucket cannot return to that
// state, only to suspended.
func versions(b *bucket) types.BucketVersioningStatus {
	if b.Versioning == nil {
		return ""
	}
	return types.BucketVersioningStatus(*b.Versioning)
}

func (ops *bucketProviderOpsImpl) setVersioning(
	ctx context.Context, name string, status types.BucketVersioningStatus,
) error {
	if status == "" {
		status = types.BucketVersioningStatusSuspended
	}
	_, err := ops.api().PutBucketVersioning(ctx, &s3.PutBucketVersioningInput{
		Bucket: &name, VersioningConfiguration: &types.VersioningConfiguration{Status: status},
	})
	return err
}

// corsMethods lists the methods that AWS accepts in a CORS rule.
var corsMethods = []string{"DELETE", "GET", "HEAD", "POST", "PUT"}

func checkCORS(rules []CORSRule, unknown lumi.Paths) error {
	var faults []error
	if rules != nil && len(rules) == 0 {
		faults = append(faults, lumi.Faultf(Bucket_CORSRules, "must not be empty: remove it"))
	}
	for i, rule := range rules {
		at := lumi.Path(Bucket_CORSRules).Index(i)
		for j, method := range rule.AllowedMethods {
			path := at.Field(CORSRule_AllowedMethods).Index(j)
			if !slices.Contains(corsMethods, method) && !unknown.Has(path) {
				faults = append(faults, lumi.Faultf(path, "must be one of %v, got %q", corsMethods, method))
			}
		}
		for _, list := range []struct {
			name   string
			values []string
		}{
			{CORSRule_AllowedMethods, rule.AllowedMethods},
			{CORSRule_AllowedOrigins, rule.AllowedOrigins},
		} {
			if len(list.values) == 0 && !unknown.Has(at.Field(list.name)) {
				faults = append(faults, lumi.Faultf(at.Field(list.name), "must not be empty"))
			}
		}
	}
	return errors.Join(faults...)
}

func (ops *bucketProviderOpsImpl) setCORS(ctx context.Context, name string, rules []CORSRule) error {
	if len(rules) == 0 {
		_, err := ops.api().DeleteBucketCors(ctx, &s3.DeleteBucketCorsInput{Bucket: &name})
		return err
	}
	var list []types.CORSRule
	for _, rule := range rules {
		sent := types.CORSRule{
			AllowedMethods: rule.AllowedMethods, AllowedOrigins: rule.AllowedOrigins,
			AllowedHeaders: rule.AllowedHeaders, ExposeHeaders: rule.ExposedHeaders,
		}
		if rule.MaxAge != nil {
			sent.MaxAgeSeconds = new(int32(*rule.MaxAge))
		}
		list = append(list, sent)
	}
	_, err := ops.api().PutBucketCors(ctx, &s3.PutBucketCorsInput{
		Bucket: &name, CORSConfiguration: &types.CORSConfiguration{CORSRules: list},
	})
	return err
}

func readCORS(list []types.CORSRule) []CORSRule {
	var rules []CORSRule
	for _, r := range list {
		rule := CORSRule{
			AllowedMethods: r.AllowedMethods, AllowedOrigins: r.AllowedOrigins,
			AllowedHeaders: r.AllowedHeaders, ExposedHeaders: r.ExposeHeaders,
		}
		if r.MaxAgeSeconds != nil {
			rule.MaxAge = new(int(*r.MaxAgeSeconds))
		}
		rules = append(rules, rule)
	}
	return rules
}

func (ops *bucketProviderOpsImpl) setWebsite(ctx context.Context, name string, site *BucketWebsite) error {
	if site == nil {
		_, err := ops.api().DeleteBucketWebsite(ctx, &s3.DeleteBucketWebsiteInput{Bucket: &name})
		return err
	}
	config := &types.WebsiteConfiguration{}
	if site.IndexDocument != nil {
		config.IndexDocument = &types.IndexDocument{Suffix: site.IndexDocument}
	}
	if site.ErrorDocument != nil {
		config.ErrorDocument = &types.ErrorDocument{Key: site.ErrorDocument}
	}
	if site.RedirectAllRequestsTo != nil {
		config.RedirectAllRequestsTo = &types.RedirectAllRequestsTo{HostName: site.RedirectAllRequestsTo}
	}
	_, err := ops.api().PutBucketWebsite(ctx, &s3.PutBucketWebsiteInput{Bucket: &name, WebsiteConfiguration: config})
	return err
}

func readWebsite(config *s3.GetBucketWebsiteOutput) *BucketWebsite {
	site := &BucketWebsite{}
	if config.IndexDocument != nil {
		site.IndexDocument = config.IndexDocument.Suffix
	}
	if config.ErrorDocument != nil {
		site.ErrorDocument = config.ErrorDocument.Key
	}
	if config.RedirectAllRequestsTo != nil {
		site.RedirectAllRequestsTo = config.RedirectAllRequestsTo.HostName
	}
	return site
}
