package cloudwatch

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// A Dashboard is a page of charts and text.
type Dashboard struct {
	idl.NamedResource `lumi:"maxLength=255,pattern='^[A-Za-z0-9_-]+$',says='letters, digits, _, and -'"`
	// The rows from top to bottom, each with its widgets from left to right.
	Rows [][]Widget
	// The start of the time range, such as `-PT6H`.
	Start *string `lumi:"optional"`
}

// A Widget is a chart or a text.
type Widget struct {
	// The title.
	Title *string `lumi:"optional"`
	// The width in columns, at most DashboardColumns.
	Width *int `lumi:"optional,default=6,min=1,max=24"`
	// The Markdown of a text widget.
	Markdown *string `lumi:"optional,conflictsWith=metrics"`
	// The metrics of a chart: for each, its namespace, its name, and alternating names and values of dimensions.
	Metrics *[][]string `lumi:"optional"`
	// The region of the metrics.
	Region *aws.Region `lumi:"optional"`
	// Additional settings, passed to Amazon unchanged.
	Properties any `lumi:"optional"`
}

// DashboardColumns is the width of a dashboard in columns.
const DashboardColumns = 24
