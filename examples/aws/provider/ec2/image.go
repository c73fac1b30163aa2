package ec2

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/lumi-idl/lumi/examples/aws/provider/internal/cloud"
	lumi "github.com/lumi-idl/lumi/runtime"
)

// findImage implements [FindImageFunc].
func (a *account) findImage(ctx context.Context, call *findImage, _ lumi.References) error {
	pages := ec2.NewDescribeImagesPaginator(a.api(), &ec2.DescribeImagesInput{Owners: []string{call.Owner}, Filters: []types.Filter{
		{Name: sdk.String("name"), Values: []string{call.Name}}, // with wildcards
		filter("architecture", string(*call.Architecture)), filter("state", string(types.ImageStateAvailable)),
	}})
	var found []types.Image
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return cloud.Error(err)
		}
		found = append(found, page.Images...)
	}
	if len(found) == 0 {
		return fmt.Errorf("%s image %s of %s: %w", *call.Architecture, call.Name, call.Owner, lumi.ErrNotFound)
	}
	latest := slices.MaxFunc(found, func(x, y types.Image) int { // dates are in UTC and have the same length
		return cmp.Or(
			cmp.Compare(sdk.ToString(x.CreationDate), sdk.ToString(y.CreationDate)), cmp.Compare(sdk.ToString(x.ImageId), sdk.ToString(y.ImageId)),
		)
	})
	call.ImageID, call.ImageName = sdk.ToString(latest.ImageId), sdk.ToString(latest.Name)
	call.CreationDate, call.RootDeviceName = sdk.ToString(latest.CreationDate), latest.RootDeviceName
	return nil
}
