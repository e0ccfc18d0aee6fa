package env

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// auditPolicy logs each request when it is answered, and a watch also when it ends.
const auditPolicy = `{"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": [{"level": "Metadata"}]}`

// auditArgs writes the policy and returns the arguments of an API server that logs requests.
func auditArgs(dir *workDir) ([]string, error) {
	if err := dir.files(map[string][]byte{"audit-policy.json": []byte(auditPolicy)}); err != nil {
		return nil, err
	}
	// A request is logged before it is answered, into one file.
	return []string{
		"--audit-policy-file=" + dir.join("pki", "audit-policy.json"), "--audit-log-path=" + dir.join("audit.log"),
		"--audit-log-mode=blocking", "--audit-log-maxsize=0",
	}, nil
}

// AuditEvent is one line of the audit log. The two events of a watch have the same ID.
type AuditEvent struct {
	ID             string `json:"auditID"`
	Verb           string
	RequestURI     string
	UserAgent      string
	User           struct{ Username string }
	ObjectRef      struct{ Resource string }
	ResponseStatus struct{ Code int }
}

// AuditLog returns the events of the audit log from an offset on, and the offset of the next ones.
// The control plane needs the option Audit.
func (c *ControlPlane) AuditLog(from int64) (events []AuditEvent, next int64, err error) {
	file, err := os.Open(c.dir.join("audit.log"))
	if err != nil {
		return nil, from, fmt.Errorf("audit log: %w", err)
	}
	defer file.Close()
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return nil, from, fmt.Errorf("audit log: %w", err)
	}
	for lines := bufio.NewReader(file); ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) { // the last line may be incomplete
			return events, from, nil
		}
		var event AuditEvent
		if err == nil {
			err = json.Unmarshal(line, &event)
		}
		if err != nil {
			return events, from, fmt.Errorf("audit log: %w", err)
		}
		events, from = append(events, event), from+int64(len(line))
	}
}
