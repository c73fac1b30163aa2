package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
)

// IsURL reports whether a location of a state is the URL of a PostgreSQL database.
func IsURL(location string) bool {
	scheme, _, _ := strings.Cut(location, "://")
	return len(scheme) < len(location) && (strings.EqualFold(scheme, "postgres") || strings.EqualFold(scheme, "postgresql"))
}

// parse parses a URL and returns the name of the schema. Like libpq, it takes what the URL leaves out from variables such as
// PGUSER and PGPASSFILE, and from service files. Errors do not contain the URL, which may contain a password.
func parse(location string) (*pgxpool.Config, string, error) {
	u, err := url.Parse(location)
	if err != nil {
		return nil, "", errors.New("invalid PostgreSQL URL: write postgres://USER@HOST/DATABASE, and percent-encode special characters")
	}
	query := u.Query()
	schema := query.Get("schema")
	if !query.Has("schema") {
		schema = "lumi"
	}
	query.Del("schema")
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20") // pgx does not decode a plus sign, as in options
	u.Path = cmp.Or(u.Path, "/")                                // or postgres:// would lose its slashes
	config, err := pgxpool.ParseConfig(u.String())
	if err != nil {
		var reason string
		if failed, ok := errors.AsType[*pgconn.ParseConfigError](err); ok && failed.Unwrap() != nil {
			reason = ": " + failed.Unwrap().Error()
		}
		return nil, "", fmt.Errorf("invalid PostgreSQL URL for %s%s", u.Host+u.Path, reason)
	}
	// The SQL has comments, @ precedes tables, and the name of the channel has at most 63 bytes.
	if schema == "" || len(schema+channelSuffix) > 63 || strings.ContainsFunc(schema, unicode.IsControl) || strings.Contains(schema, "@") {
		return nil, "", fmt.Errorf("invalid PostgreSQL URL for %s: schema=%q is not the name of a schema", u.Host+u.Path, schema)
	}
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "lumi"
	}
	config.ConnConfig.RuntimeParams["client_encoding"] = "UTF8"
	config.ConnConfig.ConnectTimeout = 5 * time.Second
	// An interrupted statement is canceled on the server, which would otherwise wait for the lock.
	config.ConnConfig.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: time.Second}
	}
	return config, schema, nil
}

// Name returns the host and the name of the database in a URL, without the password.
func Name(location string) string {
	config, _, err := parse(location)
	if err != nil {
		return "postgres"
	}
	return nameOf(config)
}

func nameOf(c *pgxpool.Config) string {
	host := c.ConnConfig.Host
	if c.ConnConfig.Port != 5432 {
		host = net.JoinHostPort(host, strconv.Itoa(int(c.ConnConfig.Port)))
	}
	return "postgres://" + path.Join(host, c.ConnConfig.Database)
}

// Warning returns a warning if others in the network could read the connection or pretend to be the server, and "" otherwise.
func Warning(location string) string {
	config, _, err := parse(location)
	if err != nil {
		return ""
	}
	c := config.ConnConfig
	isSecure := c.TLSConfig != nil && !c.TLSConfig.InsecureSkipVerify
	for _, f := range c.Fallbacks {
		isSecure = isSecure && f.TLSConfig != nil && !f.TLSConfig.InsecureSkipVerify
	}
	if isSecure || isLocal(c.Host) {
		return ""
	}
	return fmt.Sprintf("%s: the server's certificate is not verified, so others in the network may read or change the state: add sslmode=verify-full", nameOf(config))
}

func isLocal(host string) bool {
	ip := net.ParseIP(host)
	return strings.HasPrefix(host, "/") || host == "localhost" || ip != nil && ip.IsLoopback()
}

// isPooled reports whether a pooler such as PgBouncer hands out the server's connections, and checks the encoding of the
// database and the server's version.
func isPooled(ctx context.Context, config *pgx.ConnConfig) (bool, error) {
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return false, err
	}
	defer func() { _ = c.Close(ctx) }()
	if encoding := c.PgConn().ParameterStatus("server_encoding"); encoding != "" && encoding != "UTF8" {
		return false, fmt.Errorf("the encoding of the database is %s: use one from 'createdb --encoding=UTF8 --template=template0 NAME'", encoding)
	}
	var pid uint32
	var version int
	err = c.QueryRow(ctx, "SELECT pg_backend_pid(), CAST(current_setting('server_version_num') AS int)", pgx.QueryExecModeSimpleProtocol).
		Scan(&pid, &version)
	if err == nil && version < 130000 {
		err = fmt.Errorf("PostgreSQL %d is too old: lumi needs version 13 or later", version/10000)
	}
	return pid != c.PgConn().PID(), err
}
