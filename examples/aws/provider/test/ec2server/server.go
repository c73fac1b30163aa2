// Package ec2server is a fake EC2 server for tests of the provider. It exists because no maintained server runs offline or
// is available as a Go module. It implements the query protocol for VPCs, subnets, security groups, and images according to
// the AWS API reference: ids, tags, filters with wildcards, CIDR validation, defaults, dependencies, limits, and error codes. It
// checks the access key of a request but not its signature.
//
// It can simulate failures of the network and the service: see [Failure].
package ec2server

import (
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
)

// Server is an AWS account in one region. Use New to create one. It is safe for concurrent use.
type Server struct {
	// Region is the region required in the signature of a request.
	Region string
	// AccessKeyID is the access key required in the signature of a request.
	AccessKeyID string
	// Lag is the number of requests that do not find a new resource, to simulate eventual consistency.
	Lag int

	mu       sync.Mutex
	made     int
	vpcs     map[string]*vpc
	subnets  map[string]*subnet
	groups   map[string]*group
	images   []Image
	held     map[string]bool
	failures map[string][]Failure
	calls    []string
}

// New returns an empty account. Unlike a real one, it has no default VPC.
func New(region, accessKeyID string) *Server {
	return &Server{
		Region: region, AccessKeyID: accessKeyID, vpcs: map[string]*vpc{}, subnets: map[string]*subnet{},
		groups: map[string]*group{}, held: map[string]bool{}, failures: map[string][]Failure{},
	}
}

// Failure is a simulated failure.
type Failure int

// The kinds of failures. Requests that fail with one of the first three have no effect; all others take effect.
const (
	// Throttled rejects the request because of a rate limit.
	Throttled Failure = iota
	// Broken responds with an internal server error.
	Broken
	// Refused responds with an authorization error.
	Refused
	// BrokenAfter executes the request, then responds with an internal server error.
	BrokenAfter
	// Lost executes the request, then closes the connection.
	Lost
	// Stalled executes the request, then sends no response until the client gives up.
	Stalled
	// Fine lets the request succeed, to delay subsequent failures.
	Fine
)

// Fail makes the next requests for an action fail in the given ways, in order.
func (s *Server) Fail(action string, ways ...Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures[action] = append(s.failures[action], ways...)
}

// Hold marks a resource as in use until release is called. A resource in use cannot be deleted.
func (s *Server) Hold(id string) (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[id] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.held, id)
	}
}

// Left returns the ids of all existing resources except default security groups.
func (s *Server) Left() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := slices.Concat(keys(s.vpcs), keys(s.subnets))
	for id, g := range s.groups {
		if g.name != defaultGroup {
			left = append(left, id)
		}
	}
	slices.Sort(left)
	return left
}

// Tags returns the tags of a resource, or nil if it does not exist.
func (s *Server) Tags(id string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.record(id)
	if err != nil {
		return nil
	}
	return maps.Clone(r.tags)
}

// Calls returns the actions requested since the previous call of Calls.
func (s *Server) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := s.calls
	s.calls = nil
	return calls
}

// problem is an error response.
type problem struct {
	status  int
	code    string
	message string
}

func (p *problem) Error() string { return p.code + ": " + p.message }

func refuse(code, format string, args ...any) *problem {
	return &problem{http.StatusBadRequest, code, fmt.Sprintf(format, args...)}
}

// actions maps the names of the supported actions to their implementations, which must be called with the lock held.
var actions = map[string]func(*Server, params) (any, error){
	"CreateVpc":                     (*Server).createVpc,
	"DescribeVpcs":                  (*Server).describeVpcs,
	"DescribeVpcAttribute":          (*Server).describeVpcAttribute,
	"ModifyVpcAttribute":            (*Server).modifyVpcAttribute,
	"ModifyVpcTenancy":              (*Server).modifyVpcTenancy,
	"DeleteVpc":                     (*Server).deleteVpc,
	"CreateSubnet":                  (*Server).createSubnet,
	"DescribeSubnets":               (*Server).describeSubnets,
	"ModifySubnetAttribute":         (*Server).modifySubnetAttribute,
	"DeleteSubnet":                  (*Server).deleteSubnet,
	"CreateSecurityGroup":           (*Server).createSecurityGroup,
	"DescribeSecurityGroups":        (*Server).describeSecurityGroups,
	"DeleteSecurityGroup":           (*Server).deleteSecurityGroup,
	"AuthorizeSecurityGroupIngress": (*Server).authorizeIngress,
	"AuthorizeSecurityGroupEgress":  (*Server).authorizeEgress,
	"RevokeSecurityGroupIngress":    (*Server).revokeIngress,
	"RevokeSecurityGroupEgress":     (*Server).revokeEgress,
	"CreateTags":                    (*Server).createTags,
	"DeleteTags":                    (*Server).deleteTags,
	"DescribeTags":                  (*Server).describeTags,
	"DescribeImages":                (*Server).describeImages,
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil || r.Method != http.MethodPost {
		http.Error(w, "expected a form", http.StatusBadRequest)
		return
	}
	action := r.PostForm.Get("Action")
	way, fails := s.next(action)
	if p, early := map[Failure]*problem{
		Throttled: {http.StatusServiceUnavailable, "RequestLimitExceeded", "Request limit exceeded."},
		Broken:    {http.StatusInternalServerError, "InternalError", "An internal error has occurred"},
		Refused:   {http.StatusForbidden, "UnauthorizedOperation", "You are not authorized to perform this operation."},
	}[way]; fails && early {
		answerError(w, p)
		return
	}
	answer, err := s.do(action, r)
	switch {
	case fails && way == Stalled:
		<-r.Context().Done()
	case fails && way == Lost:
		panic(http.ErrAbortHandler) // closes the connection
	case fails:
		answerError(w, &problem{http.StatusInternalServerError, "InternalError", "An internal error has occurred"})
	case err != nil:
		answerError(w, err.(*problem)) //nolint:errorlint // Actions return no other type of error.
	default:
		w.Header().Set("Content-Type", "text/xml;charset=UTF-8")
		start := xml.StartElement{
			Name: xml.Name{Local: action + "Response"},
			Attr: []xml.Attr{{Name: xml.Name{Local: "xmlns"}, Value: "http://ec2.amazonaws.com/doc/2016-11-15/"}},
		}
		_, _ = w.Write([]byte(xml.Header)) // write errors mean that the client has disconnected
		_ = xml.NewEncoder(w).EncodeElement(answer, start)
	}
}

// next records a request. It returns the failure to simulate, and false if the request should succeed.
func (s *Server) next(action string) (Failure, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, action)
	ways := s.failures[action]
	if len(ways) == 0 {
		return 0, false
	}
	s.failures[action] = ways[1:]
	return ways[0], ways[0] != Fine
}

func (s *Server) do(action string, r *http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	scope := "AWS4-HMAC-SHA256 Credential=" + s.AccessKeyID + "/"
	signed := r.Header.Get("Authorization")
	if !strings.HasPrefix(signed, scope) || !strings.Contains(signed, "/"+s.Region+"/ec2/aws4_request") {
		return nil, &problem{
			http.StatusUnauthorized, "AuthFailure", "AWS was not able to validate the provided access credentials",
		}
	}
	do, ok := actions[action]
	if !ok {
		return nil, refuse("InvalidAction", "The action %s is not valid for this web service.", action)
	}
	return do(s, params(r.PostForm))
}

func answerError(w http.ResponseWriter, p *problem) {
	w.Header().Set("Content-Type", "text/xml;charset=UTF-8")
	w.WriteHeader(p.status)
	type body struct {
		XMLName   xml.Name `xml:"Response"`
		Code      string   `xml:"Errors>Error>Code"`
		Message   string   `xml:"Errors>Error>Message"`
		RequestID string   `xml:"RequestID"`
	}
	_, _ = w.Write([]byte(xml.Header)) // write errors mean that the client has disconnected
	_ = xml.NewEncoder(w).Encode(body{Code: p.code, Message: p.message, RequestID: "0"})
}

// success is the response to an action without a result.
type success struct {
	Return bool `xml:"return"`
}

// Start serves the account on a local port until the end of the test, and returns the URL.
func (s *Server) Start(t interface{ Cleanup(func()) }) (address string) {
	server := httptest.NewServer(s)
	server.Config.ErrorLog = nil
	t.Cleanup(server.Close)
	return server.URL
}

// newID returns a new id in the format of AWS.
func (s *Server) newID(prefix string) string {
	s.made++
	return fmt.Sprintf("%s-0%016x", prefix, s.made)
}
