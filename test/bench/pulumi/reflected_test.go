package pulumi

import (
	"bytes"
	"encoding/json"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/mapper"
	"google.golang.org/protobuf/types/known/structpb"
)

// tagged is a server for decoders based on struct tags: encoding/json, and Pulumi's mapper, which reads JSON tags and
// treats omitempty as optional.
type tagged struct {
	Name      string            `json:"name"`
	Image     string            `json:"image"`
	Zone      string            `json:"zone"`
	Owner     string            `json:"owner"`
	Kernel    *string           `json:"kernel,omitempty"`
	User      *string           `json:"user,omitempty"`
	Cores     float64           `json:"cores"`
	Memory    float64           `json:"memory"`
	Swap      *float64          `json:"swap,omitempty"`
	Public    bool              `json:"public"`
	Monitored bool              `json:"monitored"`
	Spot      *bool             `json:"spot,omitempty"`
	Disks     []taggedDisk      `json:"disks,omitempty"`
	Tags      map[string]string `json:"tags,omitempty"`
	Addresses []string          `json:"addresses,omitempty"`
}

type taggedDisk struct {
	Device string  `json:"device"`
	Size   float64 `json:"size"`
	Fast   *bool   `json:"fast,omitempty"`
}

// decodeJSON rejects values of the wrong kind and undeclared properties, but accepts missing ones. It stops at the first
// fault.
func decodeJSON(text []byte) (*tagged, error) {
	s := &tagged{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return s, d.Decode(s)
}

// options are the options used by struct-based Pulumi providers, which support neither unknown values nor secrets. Null
// values are treated as absent, as in Lumi.
var options = plugin.MarshalOptions{SkipNulls: true}

// decodePulumi rejects values of the wrong kind and missing or undeclared properties. It converts numbers to strings where
// a string is expected.
func decodePulumi(bag *structpb.Struct) (*tagged, error) {
	props, err := plugin.UnmarshalProperties(bag, options)
	if err != nil {
		return nil, err
	}
	s := &tagged{}
	if err := mapper.Map(props.Mappable(), s); err != nil {
		return nil, err
	}
	return s, nil
}

func encodePulumi(s *tagged) (*structpb.Struct, error) {
	obj, err := mapper.New(nil).Encode(s)
	if err != nil {
		return nil, err
	}
	return plugin.MarshalProperties(resource.NewPropertyMapFromMap(obj), options)
}
