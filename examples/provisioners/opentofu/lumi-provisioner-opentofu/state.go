package main

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/provisioner"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// token identifies a change for Status.
type token struct {
	Environment string `json:"environment"`
	Module      string `json:"module"`
	// Addresses maps the keys of resources to their addresses in the applied configuration.
	Addresses map[string]string `json:"addresses"`
}

const (
	tokenPrefix = "opentofu1:"
	sumSize     = 8
)

// encode returns the token as text. The text is compressed, since it contains the addresses of up to thousands of
// resources.
func (t token) encode() (string, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return "", err
	}
	var packed bytes.Buffer
	w, _ := flate.NewWriter(&packed, flate.BestCompression) // the level is valid, so the error is nil
	_, err = w.Write(text)
	if err := errors.Join(err, w.Close()); err != nil {
		return "", err
	}
	sum := sha256.Sum256(packed.Bytes())
	encoded := tokenPrefix + base64.RawURLEncoding.EncodeToString(append(sum[:sumSize], packed.Bytes()...))
	if len(encoded) > lumirpc.MaxToken {
		return "", fmt.Errorf("module %s has %d resources, which is too many for this provisioner: split it", t.Module, len(t.Addresses))
	}
	return encoded, nil
}

func decodeToken(text string) (t token, err error) {
	encoded, ok := strings.CutPrefix(text, tokenPrefix)
	if !ok {
		return t, errors.New("unknown prefix")
	}
	data, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if err != nil {
		return t, err
	}
	packed := data[min(sumSize, len(data)):]
	if sum := sha256.Sum256(packed); !bytes.HasPrefix(data, sum[:sumSize]) {
		return t, errors.New("checksum mismatch")
	}
	const most = 16 << 20
	return t, json.NewDecoder(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), most)).Decode(&t)
}

// metadata returns the attributes of the resources in the output of tofu show, by key. It converts the names of attributes
// to camel case. Sensitive attributes, and attributes that contain a copy of a secret, become secrets.
func metadata(state []byte, addresses map[string]string, secrets *wire.Secrets) (map[string]provisioner.Properties, error) {
	var shown struct {
		Values struct {
			Root struct {
				Resources []struct {
					Address   string         `json:"address"`
					Values    map[string]any `json:"values"`
					Sensitive map[string]any `json:"sensitive_values"`
				} `json:"resources"`
			} `json:"root_module"`
		} `json:"values"`
	}
	// The JSON is a single line. tofu may print warnings about its CLI configuration before it.
	if begin := bytes.LastIndex(state, []byte("\n{")); begin > 0 {
		state = state[begin:]
	}
	if err := json.Unmarshal(state, &shown); err != nil {
		return nil, fmt.Errorf("cannot parse the output of tofu show: %w", err)
	}
	keys := make(map[string]string, len(addresses))
	for key, address := range addresses {
		keys[address] = key
	}
	all := map[string]provisioner.Properties{}
	for _, r := range shown.Values.Root.Resources {
		key, ok := keys[r.Address]
		if !ok {
			continue
		}
		all[key] = provisioner.Properties{addressProperty: r.Address}
		for name, v := range r.Values {
			if v != nil {
				all[key][camel(name)] = protected(v, r.Sensitive[name], secrets)
			}
		}
	}
	return all, nil
}

// protected returns v with sensitive parts replaced with secrets. A part is sensitive if it is true in sensitive, which has
// the same structure as v, or if it contains one of the secrets.
func protected(v, sensitive any, secrets *wire.Secrets) any {
	if sensitive == true {
		return provisioner.Secret{Value: v}
	}
	switch v := v.(type) {
	case string:
		if wire.Mask(v, secrets) != v {
			return provisioner.Secret{Value: v}
		}
	case float64:
		if wire.Mask(number(v), secrets) == wire.Masked {
			return provisioner.Secret{Value: v}
		}
	case []any:
		marks, _ := sensitive.([]any)
		for i := range v {
			var mark any
			if i < len(marks) {
				mark = marks[i]
			}
			v[i] = protected(v[i], mark, secrets)
		}
	case map[string]any:
		marks, _ := sensitive.(map[string]any)
		for name := range v {
			v[name] = protected(v[name], marks[name], secrets)
		}
	}
	return v
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// secretsIn adds all strings and numbers in v to a set of secrets.
func secretsIn(v any, to *wire.Secrets) {
	switch v := v.(type) {
	case string:
		to.AddValue(v)
	case float64:
		to.AddValue(number(v))
	case []any:
		for _, element := range v {
			secretsIn(element, to)
		}
	case map[string]any:
		for _, member := range v {
			secretsIn(member, to)
		}
	}
}
