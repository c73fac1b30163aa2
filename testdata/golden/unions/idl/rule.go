// Package unions has unions of resources and of structs.
package unions

import (
	"github.com/lumi-idl/lumi/idl"
	"github.com/lumi-idl/lumi/testdata/golden/unions/idl/sns"
)

// Queue keeps messages.
type Queue struct {
	idl.NamedResource
	DeadLetters *Target `lumi:"optional"`
}

// Rule sends messages to targets.
type Rule struct {
	idl.NamedResource
	Target   Target
	Fallback *[]Target          `lumi:"optional,maxItems=3"`
	Filter   Filter             `lumi:"replaces"`
	ByName   *map[string]Filter `lumi:"optional"`
	Last     *Target            `lumi:"out"`
}

// Target is where messages go.
type Target struct {
	idl.OneOf
	// A topic of another folder.
	Topic *sns.Topic
	Queue *Queue
}

// Filter picks messages.
type Filter struct {
	idl.OneOf
	// Messages with an attribute.
	Attribute *Attribute
	// Messages that another filter does not pick.
	Except *Except `lumi:"name=not"`
	// Deprecated: use attribute.
	Sender *Sender `lumi:"secret"`
}

// Attribute is a part of a message.
type Attribute struct{ Name, Value string }

// Except turns a filter around.
type Except struct{ Filter Filter }

// Sender is who sends a message.
type Sender struct{ Address string }
