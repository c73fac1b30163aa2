package aws

// An ARN is an Amazon Resource Name, such as `arn:aws:s3:::my-bucket`: it names one thing across all accounts, regions
// and services.
type ARN string

// ARNPrefix is what the names of all things in Amazon's commercial regions begin with.
const ARNPrefix = "arn:aws:"
