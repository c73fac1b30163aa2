package aws

// An ARN is an Amazon Resource Name, such as `arn:aws:s3:::my-bucket`: it names one thing across all accounts, regions
// and services.
//
//lumi:pattern='^arn:aws(-[a-z]+)*:[a-z0-9-]+:[a-z0-9-]*:[a-z0-9-]*:[!-~]'
type ARN string

// An ARNPattern is `*`, or an ARN in which `*` stands for any text and `?` for any character: it names several things.
//
//lumi:pattern='^(\*$|arn:[^:]+:[^:]+:[^:]*:[^:]*:[!-~])'
type ARNPattern string

// ARNPrefix is what the names of all things in Amazon's commercial regions begin with.
const ARNPrefix = "arn:aws:"
