// Package cloudwatch describes measurements: how they are shown, and what happens when one is out of bounds.
package cloudwatch

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// An Alarm watches one metric and acts when it crosses a threshold.
type Alarm struct {
	idl.NamedResource
	// What the alarm is about, in words.
	AlarmDescription *string `lumi:"optional"`
	// The service that the metric is about, such as `AWS/EC2`.
	Namespace string
	// The name of the metric, such as `CPUUtilization`.
	MetricName string
	// What to restrict the metric to, such as one instance.
	Dimensions *Dimensions `lumi:"optional"`
	// How to make one number of all measurements of a period.
	Statistic Statistic
	// How long a period is.
	Period aws.Seconds
	// How many periods in a row have to be out of bounds.
	EvaluationPeriods float64 `lumi:"min=1,multipleOf=1"`
	// How to compare the number with the threshold.
	ComparisonOperator ComparisonOperator
	// What to compare the number with.
	Threshold float64
	// What to make of a period without measurements.
	TreatMissingData *missingData `lumi:"optional,default=missing"`
	// Whether to act at all. It does, unless told otherwise.
	ActionsEnabled *bool `lumi:"optional,default=true"`
	// Whom to tell when the metric gets out of bounds.
	AlarmActions *[]idl.Resource `lumi:"optional"`
	// Whom to tell when it is back.
	OKActions *[]*idl.Resource `lumi:"optional"`
	// The name under which other things refer to the alarm.
	ARN aws.ARN `lumi:"out"`
}

// Dimensions restrict a metric: each has a name, such as `InstanceId`, and a value.
type Dimensions map[string]string

// ComparisonOperator is a way to compare a number with a threshold.
type ComparisonOperator string

// The ways to compare.
const (
	GreaterThan        ComparisonOperator = "GreaterThanThreshold"
	GreaterThanOrEqual ComparisonOperator = "GreaterThanOrEqualToThreshold"
	LessThan           ComparisonOperator = "LessThanThreshold"
	LessThanOrEqual    ComparisonOperator = "LessThanOrEqualToThreshold"
)

// Statistic makes one number of many.
type Statistic string

// The statistics.
const (
	StatisticAverage     Statistic = "Average"
	StatisticMaximum     Statistic = "Maximum"
	StatisticMinimum     Statistic = "Minimum"
	StatisticSampleCount Statistic = "SampleCount"
	StatisticSum         Statistic = "Sum"
)

// missingData says what to make of a period without measurements.
type missingData string

const (
	// It counts as out of bounds.
	missingBreaching missingData = "breaching"
	// It counts as within bounds.
	missingNotBreaching missingData = "notBreaching"
	// The alarm stays as it is.
	missingIgnore missingData = "ignore"
	// The alarm says that it does not know.
	missingMissing missingData = "missing"
)
