package cloud

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	aws "github.com/lumi-idl/lumi/examples/aws/provider"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// The provider adds two tags to every resource.
const (
	// MarkTag identifies the resource. See [Mark].
	MarkTag = "lumi:urn"
	// AttemptTag identifies the Create request that created the resource. See [Attempt].
	AttemptTag = "lumi:create"
	// ownTags is the maximum number of tags added by the provider: the two above, and Name for some services.
	ownTags = 3
)

// Limits of AWS, and reserved prefixes.
const (
	maxTags       = 50
	maxTagKey     = 128
	maxTagValue   = 256
	reservedByAWS = "aws:"
	reservedByUs  = "lumi:"
)

// plainTag matches tag keys and values accepted by all services.
var plainTag = regexp.MustCompile(`^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$`)

// Mark returns the value of the [MarkTag]: the URN, or its SHA-256 if the URN is not a valid tag value.
func Mark(u urn.URN) string {
	if len(u) <= maxTagValue && plainTag.MatchString(string(u)) {
		return string(u)
	}
	sum := sha256.Sum256([]byte(u))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Attempt returns the value of the [AttemptTag]. Calls of Create and Find have the same value if and only if they have the
// same URN and token.
func Attempt(u urn.URN, token string) string {
	sum := sha256.Sum256([]byte(string(u) + "\x00" + token))
	return hex.EncodeToString(sum[:])
}

// Tags returns all tags of a resource except the [AttemptTag]: the configured default tags, overridden by own, and the
// [MarkTag].
func (c *Cloud) Tags(u urn.URN, own aws.Tags) aws.Tags {
	all := aws.Tags{}
	maps.Copy(all, c.defaults)
	maps.Copy(all, own)
	all[MarkTag] = Mark(u)
	return all
}

// OwnTags returns the tags set by the program, or nil if there are none.
func (c *Cloud) OwnTags(all aws.Tags) aws.Tags {
	var own aws.Tags
	for key, value := range all {
		given, ok := c.defaults[key]
		if strings.HasPrefix(key, reservedByUs) || strings.HasPrefix(key, reservedByAWS) || ok && given == value {
			continue
		}
		if own == nil {
			own = aws.Tags{}
		}
		own[key] = value
	}
	return own
}

// CheckPlainTags is like [CheckTags], but for services with stricter rules, such as S3.
func CheckPlainTags(path lumi.Path, tags aws.Tags, unknown lumi.Paths) error {
	faults := []error{CheckTags(path, tags, unknown)}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if at := path.Key(key); !plainTag.MatchString(key) || !unknown.Has(at) && !plainTag.MatchString(tags[key]) {
			faults = append(faults, lumi.Faultf(at, "has invalid characters: use letters, digits, spaces and _.:/=+-@"))
		}
	}
	return errors.Join(faults...)
}

// CheckTags returns faults for tags that violate the rules of all services.
func CheckTags(path lumi.Path, tags aws.Tags, unknown lumi.Paths) error {
	var faults []error
	if len(tags) > maxTags-ownTags {
		faults = append(faults, lumi.Faultf(path, "has %d tags: AWS allows %d, and this provider needs %d of them",
			len(tags), maxTags, ownTags))
	}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		at := path.Key(key)
		switch value := tags[key]; {
		case key == "":
			faults = append(faults, lumi.Faultf(at, "tag keys must not be empty"))
		case strings.HasPrefix(key, reservedByAWS), strings.HasPrefix(key, reservedByUs):
			faults = append(faults, lumi.Faultf(at, "tag keys that begin with aws: or lumi: are reserved"))
		case utf8.RuneCountInString(key) > maxTagKey:
			faults = append(faults, lumi.Faultf(at, "tag keys must be at most %d characters", maxTagKey))
		case !unknown.Has(at) && utf8.RuneCountInString(value) > maxTagValue:
			faults = append(faults, lumi.Faultf(at, "must be at most %d characters", maxTagValue))
		}
	}
	return errors.Join(faults...)
}
