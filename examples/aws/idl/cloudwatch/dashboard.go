package cloudwatch

import (
	aws "github.com/lumi-idl/lumi/examples/aws/idl"
	"github.com/lumi-idl/lumi/idl"
)

// A Dashboard is a page of charts and texts.
type Dashboard struct {
	idl.NamedResource
	// The rows of the page, from top to bottom; each lists its widgets from left to right.
	Rows [][]Widget
	// How far back the charts reach, such as `-PT6H`.
	Start *string `lumi:"optional"`
}

// A Widget is a chart or a text.
type Widget struct {
	// What stands above it.
	Title *string `lumi:"optional"`
	// The width, where the whole page is DashboardColumns wide.
	Width *float64 `lumi:"optional,default=6,min=1,max=24,multipleOf=1"`
	// What it says, in Markdown, if it is a text.
	Markdown *string `lumi:"optional,conflictsWith=metrics"`
	// The metrics that it shows, if it is a chart: for each, the namespace, the name, and then names and values of
	// dimensions in turn.
	Metrics *[][]string `lumi:"optional"`
	// The region that the metrics are from.
	Region *aws.Region `lumi:"optional"`
	// Further settings, handed to Amazon as they are.
	Properties any `lumi:"optional"`
}

// DashboardColumns is the width of a dashboard.
const DashboardColumns = 24
