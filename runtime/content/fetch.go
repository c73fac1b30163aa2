package content

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// transport does not decompress responses, so content is read as stored.
var transport = func() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableCompression = true
	return t
}()

// remoteLimits limits the resources that a server can consume.
type remoteLimits struct {
	size      int64 // bytes
	redirects int
	// silence limits each wait for a response or more data, and wait limits the total time spent waiting. Time between
	// reads does not count.
	silence, wait time.Duration
}

var remote = remoteLimits{size: 5 << 30, redirects: 10, silence: time.Minute, wait: time.Hour}

// instead is the advice in errors about remote content that exceeds a limit.
const instead = "download it and use its path instead"

// fetch opens the content at an http or https URI. The error contains the URI, without credentials.
func fetch(ctx context.Context, where place) (*stream, error) {
	limited, cancel := context.WithCancelCause(ctx)
	d := &download{ctx: limited, cancel: cancel}
	resp, err := d.get(where.uri) //nolint:bodyclose // Close closes it.
	if err != nil {
		cancel(nil)
		return nil, where.failed(err)
	}
	d.body, d.size = resp.Body, resp.ContentLength
	switch {
	case resp.StatusCode != http.StatusOK:
		err = errors.New("the server answered " + status(resp.StatusCode))
	case d.size > remote.size:
		err = errTooLarge()
	}
	if err != nil {
		_ = d.Close() // The response was not read.
		return nil, where.failed(err)
	}
	return &stream{ReadCloser: &reader{ctx: ctx, from: d, where: where}, size: d.size}, nil
}

// status formats a status code with its standard text, since the server's text is untrusted.
func status(code int) string { return fmt.Sprintf("%d %s", code, http.StatusText(code)) }

func errTooLarge() error {
	return fmt.Errorf("is larger than %s, the limit for remote content; %s", bytesText(remote.size), instead)
}

// download is a reader of a response body that enforces the limits.
type download struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	body   io.ReadCloser
	size   int64 // -1 if unknown
	read   int64
	waited time.Duration
}

// wait calls do, which waits for the server, and returns its error. If do exceeds a time limit, wait cancels d.ctx and
// returns a *readError.
func (d *download) wait(do func() error) error {
	limit, message := remote.silence, fmt.Sprintf("the server sent nothing for %v, the limit for remote content",
		remote.silence)
	if left := remote.wait - d.waited; left < limit {
		limit, message = left, fmt.Sprintf("took longer than %v, the limit for remote content; %s", remote.wait, instead)
	}
	timer := time.AfterFunc(limit, func() { d.cancel(&readError{message: message}) })
	start := time.Now()
	err := do()
	timer.Stop()
	d.waited += time.Since(start)
	var reached *readError
	if err != nil && errors.As(context.Cause(d.ctx), &reached) {
		return reached
	}
	return err
}

// get requests a URI and follows redirects. Unlike an http.Client, it sends no Referer header, which could leak a signed
// URI to another server, and its errors do not contain URIs.
func (d *download) get(uri *url.URL) (resp *http.Response, err error) {
	for range remote.redirects + 1 {
		req, err := http.NewRequestWithContext(d.ctx, http.MethodGet, uri.String(), nil)
		if err != nil {
			return nil, errors.New("the URI is malformed")
		}
		if user := uri.User; user != nil {
			password, _ := user.Password()
			req.SetBasicAuth(user.Username(), password)
		}
		if err := d.wait(func() error {
			resp, err = transport.RoundTrip(req) //nolint:bodyclose // It is closed below, or by Close.
			return err
		}); err != nil {
			return nil, err
		}
		if !slices.Contains(redirections, resp.StatusCode) || resp.Header.Get("Location") == "" {
			return resp, nil
		}
		_ = resp.Body.Close() // Only the header is needed.
		next, err := resp.Location()
		switch {
		case err != nil:
			return nil, errors.New("the server redirects to a malformed URI")
		case next.Scheme != "http" && next.Scheme != "https" || next.Hostname() == "":
			return nil, errors.New("the server redirects to a URI whose scheme is not http or https")
		}
		uri = next
	}
	return nil, fmt.Errorf("the server redirects more than %d times", remote.redirects)
}

var redirections = []int{
	http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
	http.StatusPermanentRedirect,
}

func (d *download) Read(data []byte) (n int, err error) {
	err = d.wait(func() (err error) {
		n, err = d.body.Read(data)
		return err
	})
	d.read += int64(n)
	switch {
	case d.read > remote.size:
		return 0, errTooLarge()
	case errors.Is(err, io.ErrUnexpectedEOF) && d.size >= 0:
		err = &readError{message: fmt.Sprintf("is cut off: the server sent %d of %d bytes", d.read, d.size), err: err}
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = &readError{message: "is cut off", err: err}
	}
	return n, err
}

func (d *download) Close() error {
	defer d.cancel(nil)
	return d.body.Close()
}

// bytesText formats n bytes in the largest unit, up to GiB, of which n is a multiple.
func bytesText(n int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB"}
	i := 0
	for ; n%1024 == 0 && n > 0 && i+1 < len(units); i++ {
		n /= 1024
	}
	return fmt.Sprintf("%d %s", n, units[i])
}
