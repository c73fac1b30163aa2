package content

import (
	"context"
	"errors"
	"net/http"
	"net/url"
)

// client takes content as it is stored: a file that is compressed stays so.
var client = func() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true
	return &http.Client{Transport: transport}
}()

// fetch opens what is behind an address.
func fetch(ctx context.Context, where place) (*stream, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, where.uri.String(), nil)
	if err != nil {
		return nil, where.failed(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		var about *url.Error
		if errors.As(err, &about) {
			err = about.Err // which does not tell the address again
		}
		return nil, where.failed(err)
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close() // Nobody wants to read it.
		return nil, where.failed(errors.New("the server answered " + resp.Status))
	}
	return &stream{
		ReadCloser: &reader{ctx: ctx, from: resp.Body, where: where}, size: resp.ContentLength,
	}, nil
}
