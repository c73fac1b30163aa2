// Package cloudwatch defines alarms on metrics, and dashboards.
package cloudwatch

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// An Alarm watches a metric and acts when it crosses a threshold.
type Alarm struct {
	idl.NamedResource `lumi:"maxLength=255"`
	// A description of the alarm.
	AlarmDescription *string `lumi:"optional"`
	// The namespace of the metric, such as `AWS/EC2`.
	Namespace string
	// The name of the metric, such as `CPUUtilization`.
	MetricName string
	// The dimensions that select the metric, such as one instance.
	Dimensions *Dimensions `lumi:"optional"`
	// The statistic computed for each period.
	Statistic Statistic
	// The length of a period.
	Period aws.Seconds
	// The number of consecutive periods that must breach the threshold.
	EvaluationPeriods int `lumi:"min=1"`
	// The operator that compares the statistic with the threshold.
	ComparisonOperator ComparisonOperator
	// The threshold.
	Threshold float64
	// The treatment of periods without data.
	TreatMissingData *missingData `lumi:"optional,default=missing"`
	// Whether actions are taken. The default is true.
	ActionsEnabled *bool `lumi:"optional,default=true"`
	// The targets notified when the alarm is raised.
	AlarmActions *[]idl.Resource `lumi:"optional"`
	// The targets notified when the alarm clears.
	OKActions *[]*idl.Resource `lumi:"optional"`
	// The ARN of the alarm.
	ARN aws.ARN `lumi:"out,fixed"`
}

// Dimensions identify a metric. Each has a name, such as `InstanceId`, and a value.
type Dimensions map[string]string

// ComparisonOperator compares a statistic with a threshold.
type ComparisonOperator string

// The comparison operators.
const (
	GreaterThan        ComparisonOperator = "GreaterThanThreshold"
	GreaterThanOrEqual ComparisonOperator = "GreaterThanOrEqualToThreshold"
	LessThan           ComparisonOperator = "LessThanThreshold"
	LessThanOrEqual    ComparisonOperator = "LessThanOrEqualToThreshold"
)

// Statistic aggregates the values of a period.
type Statistic string

// The statistics.
const (
	StatisticAverage     Statistic = "Average"
	StatisticMaximum     Statistic = "Maximum"
	StatisticMinimum     Statistic = "Minimum"
	StatisticSampleCount Statistic = "SampleCount"
	StatisticSum         Statistic = "Sum"
)

// missingData is the treatment of periods without data.
type missingData string

const (
	// They breach the threshold.
	missingBreaching missingData = "breaching"
	// They do not breach the threshold.
	missingNotBreaching missingData = "notBreaching"
	// The alarm keeps its state.
	missingIgnore missingData = "ignore"
	// The alarm's state becomes INSUFFICIENT_DATA.
	missingMissing missingData = "missing"
)
