package file

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"
	"unicode"
)

// Process is a process that writes, or has written, a file.
type Process struct {
	PID  int    `json:"pid"`
	User string `json:"user,omitempty"`
	Host string `json:"host,omitempty"`
	// Command is what people know the process by, such as "lumi deploy".
	Command string `json:"command,omitempty"`
	// Since is when the process locked the file, to the second.
	Since time.Time `json:"since"`
}

// Known reports whether anything is known of the process.
func (p Process) Known() bool { return p.PID != 0 }

// String says who it is on one line.
func (p Process) String() string {
	if !p.Known() {
		return "another process, which has not said who it is"
	}
	command := p.Command
	if command == "" {
		command = "an unnamed command"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s (process %d", command, p.PID)
	if p.User != "" {
		fmt.Fprintf(&b, " of %s", p.User)
	}
	if p.Host != "" {
		fmt.Fprintf(&b, " on %s", p.Host)
	}
	fmt.Fprintf(&b, ", since %s)", p.Since.UTC().Format("2006-01-02 15:04:05 UTC"))
	return b.String()
}

// self is this process. Arguments may hold secrets, so only the name of the program stands for the command.
func self(command string) Process {
	if command == "" && len(os.Args) > 0 {
		command = filepath.Base(os.Args[0])
	}
	host, _ := os.Hostname() // It may be unknown, which is as good as empty.
	return Process{
		PID: os.Getpid(), User: userName(), Host: host, Command: command, Since: time.Now().UTC().Truncate(time.Second),
	}
}

func userName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	// In a container, a user often has a number and no name.
	if uid := os.Getuid(); uid >= 0 {
		return fmt.Sprintf("user %d", uid)
	}
	return ""
}

// gone reports whether the process has ended, as far as that can be told from here.
func (p Process) gone() bool {
	host, err := os.Hostname()
	return err == nil && p.Host == host && !alive(p.PID)
}

// printable makes what another process wrote fit to be shown on a terminal.
func (p Process) printable() Process {
	for _, s := range []*string{&p.User, &p.Host, &p.Command} {
		*s = printable(*s)
	}
	return p
}

func printable(s string) string {
	const most = 200
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}
