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

// Everything at Amazon that is a resource is marked by two tags.
const (
	// MarkTag is the tag that says which resource it is.
	MarkTag = "lumi:urn"
	// AttemptTag is the tag that says which Create made it. See [Attempt].
	AttemptTag = "lumi:create"
	// ownTags counts them, and the tag Name of some services.
	ownTags = 3
)

// What Amazon accepts.
const (
	maxTags       = 50
	maxTagKey     = 128
	maxTagValue   = 256
	reservedByAWS = "aws:"
	reservedByUs  = "lumi:"
)

// plainTag matches what all services take as a tag.
var plainTag = regexp.MustCompile(`^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$`)

// Mark is the value of the [MarkTag]: the URN, or a hash of one that no tag can hold.
func Mark(u urn.URN) string {
	if len(u) <= maxTagValue && plainTag.MatchString(string(u)) {
		return string(u)
	}
	sum := sha256.Sum256([]byte(u))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Attempt identifies the creation of a resource: it is the same each time that Create or Find is called for it, and no
// two creations have the same.
func Attempt(u urn.URN, token string) string {
	sum := sha256.Sum256([]byte(string(u) + "\x00" + token))
	return hex.EncodeToString(sum[:])
}

// Marked is the URN of the resource with the tags. It is empty if they do not tell.
func Marked(tags aws.Tags) urn.URN {
	u := urn.URN(tags[MarkTag])
	if _, err := u.Parts(); err != nil {
		return ""
	}
	return u
}

// Tags are all tags of a resource, except the [AttemptTag]: those of the configuration, its own above them, and its mark.
func (c *Cloud) Tags(u urn.URN, own aws.Tags) aws.Tags {
	all := aws.Tags{}
	maps.Copy(all, c.defaults)
	maps.Copy(all, own)
	all[MarkTag] = Mark(u)
	return all
}

// OwnTags are those of a resource's tags that its program gave it; nil if there are none.
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

// CheckPlainTags says which tags some services of Amazon's would not accept, S3 among them.
func CheckPlainTags(path lumi.Path, tags aws.Tags, unknown lumi.Paths) error {
	faults := []error{CheckTags(path, tags, unknown)}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if at := path.Key(key); !plainTag.MatchString(key) || !unknown.Has(at) && !plainTag.MatchString(tags[key]) {
			faults = append(faults, lumi.Faultf(at, "has characters beyond letters, digits, spaces and _.:/=+-@"))
		}
	}
	return errors.Join(faults...)
}

// CheckTags says which tags Amazon would not accept anywhere.
func CheckTags(path lumi.Path, tags aws.Tags, unknown lumi.Paths) error {
	var faults []error
	if len(tags) > maxTags-ownTags {
		faults = append(faults, lumi.Faultf(path, "are %d: Amazon takes %d, and this provider needs %d of them",
			len(tags), maxTags, ownTags))
	}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		at := path.Key(key)
		switch value := tags[key]; {
		case key == "":
			faults = append(faults, lumi.Faultf(at, "the name of a tag is empty"))
		case strings.HasPrefix(key, reservedByAWS), strings.HasPrefix(key, reservedByUs):
			faults = append(faults, lumi.Faultf(at, "tags that begin with aws: or lumi: are not for programs to set"))
		case utf8.RuneCountInString(key) > maxTagKey:
			faults = append(faults, lumi.Faultf(at, "the name of the tag has more than %d characters", maxTagKey))
		case !unknown.Has(at) && utf8.RuneCountInString(value) > maxTagValue:
			faults = append(faults, lumi.Faultf(at, "has more than %d characters", maxTagValue))
		}
	}
	return errors.Join(faults...)
}
