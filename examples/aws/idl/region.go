package aws

// A Region is an independent group of data centers.
type Region string

// The supported regions.
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

// A Service is an AWS service that the provider uses.
type Service string

// The services, one per module.
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
