// Package net uses what its parent declares.
//
//   - It has a list in its documentation.
//   - The list has two items.
package net

import (
	"github.com/lumi-idl/lumi/idl"
	feature "github.com/lumi-idl/lumi/test/testprovider/idl"
)

// Network is a resource with a property of every type and with every option.
//
// # Rules
//
// They come in a list, see [Rule].
type Network struct {
	idl.NamedResource
	// CIDR cannot change.
	CIDR string `lumi:"replaces"`
	// Size has no pointer.
	Size    float64
	Open    bool
	Comment *string  `lumi:"optional"`
	Limit   *float64 `lumi:"optional"`
	Public  *bool    `lumi:"optional"`

	Color    feature.Color
	Accent   *feature.Color `lumi:"optional,replaces"`
	Rules    *[]Rule        `lumi:"optional"`
	Routes   *[]Rule        `lumi:"optional"`
	Matrix   *[][]float64   `lumi:"optional"`
	Required []string
	Tags     *feature.Tags             `lumi:"optional"`
	Colors   *map[feature.Color]string `lumi:"optional"`
	Limits   *map[string]feature.Point `lumi:"optional"`
	Origin   feature.Point
	Corner   *feature.Point  `lumi:"optional"`
	Outline  *feature.Points `lumi:"optional"`
	Tree     *feature.Tree   `lumi:"optional"`
	Outer    *feature.Outer  `lumi:"optional"`
	Empty    *feature.Empty  `lumi:"optional"`

	Peer    *Network `lumi:"optional,replaces"`
	Gateway *Gateway
	Others  *[]*Gateway          `lumi:"optional"`
	Known   *map[string]*Network `lumi:"optional"`
	Parent  *idl.Resource        `lumi:"optional"`

	Policy   any `lumi:"optional"`
	Document any
	Logo     *idl.Asset   `lumi:"optional"`
	Code     *idl.Archive `lumi:"optional"`
	Script   *idl.Asset

	Password *string            `lumi:"optional,in,secret"`
	Seed     *string            `lumi:"optional,in,replaces"`
	Keys     *map[string]string `lumi:"optional,secret"`

	// ARN is computed.
	ARN      string   `lumi:"out"`
	Address  *string  `lumi:"out"`
	Token    *string  `lumi:"out,secret"`
	Zones    []string `lumi:"out"`
	Endpoint *string  `lumi:"optional,out,name=theEndpoint"`
	Owner    *Gateway `lumi:"out"`
}

// Rule is a struct that only a resource uses.
type Rule struct {
	// Protocol is TCP or the like.
	Protocol string
	FromPort *float64  `lumi:"optional"`
	ToPort   *float64  `lumi:"optional"`
	Names    *[]string `lumi:"optional"`
}
