//go:build unix

package postgres_test

import (
	"testing"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/postgres"
	"github.com/lumi-idl/lumi/deploy/store/storetest"
	"github.com/lumi-idl/lumi/test/kit/must"
	pg "github.com/lumi-idl/lumi/test/kit/postgres"
)

func TestStore(t *testing.T) {
	server := pg.Start(t)
	storetest.Test(t, func(t *testing.T) store.Store {
		return must.Get(postgres.Open(t.Context(), server.URL(), postgres.Options{}))(t)
	})
}
