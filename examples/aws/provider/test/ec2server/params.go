package ec2server

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// params holds the parameters of a request, such as TagSpecification.1.Tag.2.Key.
type params url.Values

func (p params) get(name string) string { return url.Values(p).Get(name) }

func (p params) has(name string) bool { return url.Values(p).Has(name) }

// list returns the elements of the list parameter with the given name.
func (p params) list(name string) []string {
	var list []string
	for i := 1; p.has(name + "." + strconv.Itoa(i)); i++ {
		list = append(list, p.get(name+"."+strconv.Itoa(i)))
	}
	return list
}

// each returns the parameters of each object in the list with the given name.
func (p params) each(name string) []params {
	var list []params
	for i := 1; ; i++ {
		element := params{}
		for key, values := range p {
			if rest, ok := strings.CutPrefix(key, name+"."+strconv.Itoa(i)+"."); ok {
				element[rest] = values
			}
		}
		if len(element) == 0 {
			return list
		}
		list = append(list, element)
	}
}

// record holds the fields common to all resources.
type record struct {
	id   string
	tags map[string]string
	lag  int
}

// seen reports whether the resource is already visible, and counts the request.
func (r *record) seen() bool {
	if r.lag > 0 {
		r.lag--
		return false
	}
	return true
}

type tag struct {
	Key   string `xml:"key"`
	Value string `xml:"value"`
}

func (r *record) tagSet() []tag {
	var set []tag
	for _, key := range keys(r.tags) {
		set = append(set, tag{key, r.tags[key]})
	}
	return set
}

func keys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

const maxTags = 50

// tagsFor parses the tags for a new resource of the given kind.
func (p params) tagsFor(kind string) (map[string]string, error) {
	tags := map[string]string{}
	for _, spec := range p.each("TagSpecification") {
		if spec.get("ResourceType") != kind {
			return nil, refuse("InvalidParameterValue", "'%s' is not a valid taggable resource type for this operation.",
				spec.get("ResourceType"))
		}
		if err := spec.addTags(tags); err != nil {
			return nil, err
		}
	}
	return tags, nil
}

func (p params) addTags(tags map[string]string) error {
	for _, t := range p.each("Tag") {
		key, value := t.get("Key"), t.get("Value")
		if key == "" || strings.HasPrefix(key, "aws:") || len([]rune(key)) > 127 || len([]rune(value)) > 255 {
			return refuse("InvalidParameterValue", "Tag key or value is invalid: %q", key)
		}
		tags[key] = value
	}
	if len(tags) > maxTags {
		return refuse("TagLimitExceeded", "The maximum number of tags for a resource has been reached.")
	}
	return nil
}

func (s *Server) createTags(p params) (any, error) {
	for _, id := range p.list("ResourceId") {
		r, err := s.record(id)
		if err != nil {
			return nil, err
		}
		tags := maps.Clone(r.tags)
		if err := p.addTags(tags); err != nil {
			return nil, err
		}
		r.tags = tags
	}
	return success{true}, nil
}

func (s *Server) deleteTags(p params) (any, error) {
	for _, id := range p.list("ResourceId") {
		r, err := s.record(id)
		if err != nil {
			return nil, err
		}
		for _, t := range p.each("Tag") {
			delete(r.tags, t.get("Key"))
		}
	}
	return success{true}, nil
}

// describeTags implements the action DescribeTags.
func (s *Server) describeTags(p params) (any, error) {
	type item struct {
		Resource string `xml:"resourceId"`
		Kind     string `xml:"resourceType"`
		tag
	}
	var response struct {
		Tags []item `xml:"tagSet>item"`
	}
	kinds := map[string][]string{"vpc": keys(s.vpcs), "subnet": keys(s.subnets), "security-group": keys(s.groups)}
	for _, kind := range keys(kinds) {
		for _, id := range kinds[kind] {
			r, err := s.record(id)
			if err != nil {
				return nil, err
			}
			for _, t := range r.tagSet() {
				ok, err := p.wanted(r, map[string]string{
					"resource-id": id, "resource-type": kind, "key": t.Key, "value": t.Value,
				})
				if err != nil {
					return nil, err
				}
				if ok {
					response.Tags = append(response.Tags, item{id, kind, t})
				}
			}
		}
	}
	return response, nil
}

func (s *Server) record(id string) (*record, error) {
	if v, ok := s.vpcs[id]; ok {
		return &v.record, nil
	}
	if n, ok := s.subnets[id]; ok {
		return &n.record, nil
	}
	if g, ok := s.groups[id]; ok {
		return &g.record, nil
	}
	return nil, refuse("InvalidID", "The ID '%s' is not valid", id)
}

// wanted reports whether a resource with the given attributes matches the filters of a request.
func (p params) wanted(r *record, attributes map[string]string) (bool, error) {
	for _, f := range p.each("Filter") {
		name := f.get("Name")
		value, ok := attributes[name]
		if key, isTag := strings.CutPrefix(name, "tag:"); isTag {
			if value, ok = r.tags[key]; !ok {
				return false, nil
			}
		}
		if !ok {
			return false, refuse("InvalidParameterValue", "The filter '%s' is invalid", name)
		}
		if !slices.ContainsFunc(f.list("Value"), func(pattern string) bool { return matches(pattern, value) }) {
			return false, nil
		}
	}
	return r.seen(), nil
}

var special = regexp.MustCompile(`\\.|[*?]|[^\\*?]+`)

// matches reports whether value matches a pattern with the wildcards * and ?. A backslash escapes a wildcard.
func matches(pattern, value string) bool {
	expr := special.ReplaceAllStringFunc(pattern, func(part string) string {
		switch {
		case part == "*":
			return ".*"
		case part == "?":
			return "."
		case part[0] == '\\':
			return regexp.QuoteMeta(part[1:])
		}
		return regexp.QuoteMeta(part)
	})
	return regexp.MustCompile(`(?s)\A` + expr + `\z`).MatchString(value)
}

// pick returns the visible resources selected by the ids and filters of a request.
func pick[T any](
	s *Server, p params, idParam, prefix, code string, all map[string]T, look func(T) (*record, map[string]string),
) ([]T, error) {
	ids := p.list(idParam)
	for _, id := range ids {
		if err := exists(id, prefix, code, all); err != nil {
			return nil, err
		}
	}
	if len(ids) == 0 {
		ids = keys(all)
	}
	var picked []T
	for _, id := range ids {
		r, attributes := look(all[id])
		ok, err := p.wanted(r, attributes)
		switch {
		case err != nil:
			return nil, err
		case ok:
			picked = append(picked, all[id])
		case p.has(idParam + ".1"):
			return nil, notFound(id, prefix, code)
		}
	}
	return picked, nil
}

// exists returns an error if id is malformed or not in all.
func exists[T any](id, prefix, code string, all map[string]T) error {
	if !strings.HasPrefix(id, prefix+"-") {
		return refuse(code+".Malformed", "Invalid id: \"%s\" (expecting \"%s-...\")", id, prefix)
	}
	if _, ok := all[id]; !ok {
		return notFound(id, prefix, code)
	}
	return nil
}

func notFound(id, prefix, code string) error {
	kind := map[string]string{"vpc": "vpc", "subnet": "subnet", "sg": "security group"}[prefix]
	if prefix == "sg" {
		code = "InvalidGroup"
	}
	return refuse(code+".NotFound", "The %s ID '%s' does not exist", kind, id)
}
