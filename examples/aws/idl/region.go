package aws

// A Region is a group of data centers that is independent of all others.
type Region string

// The regions that the provider knows.
const (
	// Northern Virginia, the oldest region.
	USEast1 Region = "us-east-1"
	// Ohio.
	USEast2 Region = "us-east-2"
	// Northern California.
	USWest1 Region = "us-west-1"
	// Oregon.
	USWest2 Region = "us-west-2"
	// Ireland.
	EUWest1 Region = "eu-west-1"
	// Frankfurt.
	EUCentral1 Region = "eu-central-1"
	// Singapore.
	APSoutheast1 Region = "ap-southeast-1"
	// Tokyo.
	APNortheast1 Region = "ap-northeast-1"
)

// A Service is one of the services that the provider talks to.
type Service string

// The services, one for each module.
const (
	APIGatewayService Service = "apigateway"
	CloudWatchService Service = "monitoring"
	DynamoDBService   Service = "dynamodb"
	EC2Service        Service = "ec2"
	IAMService        Service = "iam"
	LambdaService     Service = "lambda"
	S3Service         Service = "s3"
	SNSService        Service = "sns"
	SQSService        Service = "sqs"
)
