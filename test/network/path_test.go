package network

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// echo is a server that sends its name and then all that it reads.
func echo(t *testing.T, name string) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() { // until the listener is closed
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				fmt.Fprintln(conn, name)
				_, _ = io.Copy(conn, conn)
			}()
		}
	}()
	return listener.Addr().String()
}

// dial connects, and returns what the server says first.
func dial(t *testing.T, p *Path) (conn net.Conn, lines *bufio.Reader, name string) {
	t.Helper()
	conn, err := net.Dial("tcp", p.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	lines = bufio.NewReader(conn)
	if name, err = lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return conn, lines, name
}

func TestPath(t *testing.T) {
	p, err := NewPath(echo(t, "a"), "127.0.0.1:1", echo(t, "b"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	conn, lines, first := dial(t, p)
	if _, _, second := dial(t, p); first != "a\n" || second != "b\n" {
		t.Fatalf("connections lead to %q and %q", first, second)
	}
	ask := func(text string) error {
		if _, err := fmt.Fprintln(conn, text); err != nil {
			return err
		}
		if answer, err := lines.ReadString('\n'); err != nil || answer != text+"\n" {
			return fmt.Errorf("%q: %w", answer, err)
		}
		return nil
	}
	if err := ask("hello"); err != nil {
		t.Fatal(err)
	}

	for name, weather := range map[string]Weather{"there": {HeldThere: true}, "back": {HeldBack: true}, "both": Away} {
		p.Turn(weather)
		if err := conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if err := ask(name); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("held %s: %v", name, err)
		}
		if err := conn.SetReadDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		p.Turn(Weather{Latency: time.Millisecond, Rate: 1 << 20})
		if answer, err := lines.ReadString('\n'); err != nil || answer != name+"\n" {
			t.Errorf("held %s, then not: %q, %v", name, answer, err)
		}
	}

	p.Cut()
	if _, err := lines.ReadString('\n'); err == nil {
		t.Error("a connection that was cut is open")
	}
}

func TestPathDrops(t *testing.T) {
	p, err := NewPath(echo(t, "a"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	dropped, lines, _ := dial(t, p)
	p.Drop()
	fmt.Fprintln(dropped, "hello")
	if err := dropped.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := lines.ReadString('\n'); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a dropped connection: %v", err)
	}
	if err := dropped.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	alive, answers, _ := dial(t, p)
	p.CutDropped()
	if _, err := lines.ReadString('\n'); err == nil {
		t.Error("a dropped connection that was cut is open")
	}
	fmt.Fprintln(alive, "hello")
	if answer, err := answers.ReadString('\n'); err != nil || answer != "hello\n" {
		t.Errorf("a new connection: %q, %v", answer, err)
	}

	p.Turn(Weather{Refused: true})
	refused, err := net.Dial("tcp", p.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = refused.Close() })
	if _, err := refused.Read(make([]byte, 1)); err == nil {
		t.Error("a refused connection brings bytes")
	}
}
