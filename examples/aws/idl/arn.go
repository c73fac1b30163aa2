package aws

// An ARN is an Amazon Resource Name. It is unique across accounts, regions and services.
//
//lumi:pattern='^arn:aws(-[a-z]+)*:[a-z0-9-]+:[a-z0-9-]*:[a-z0-9-]*:[!-~]',says='an ARN such as arn:aws:s3:::my-bucket'
type ARN string

// An ARNPattern is `*`, or an ARN in which `*` matches any text and `?` any character.
//
//lumi:pattern='^(\*$|arn:[^:]+:[^:]+:[^:]*:[^:]*:[!-~])'
type ARNPattern string

// ARNPrefix is the prefix of ARNs in Amazon's commercial regions.
const ARNPrefix = "arn:aws:"
