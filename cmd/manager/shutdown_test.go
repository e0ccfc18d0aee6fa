package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"
)

// TestShutdownFitsThePod: the termination grace period covers the preStop delay, in which
// Services stop routing to the pod, and the longest shutdown of the manager. The chart has
// the same Deployment, see TestSameAsKustomize.
func TestShutdownFitsThePod(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "config", "manager", "manager.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var deployment appsv1.Deployment
	for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
		var d appsv1.Deployment
		if err := yaml.Unmarshal(document, &d); err == nil && d.Kind == "Deployment" {
			deployment = d
		}
	}
	pod := deployment.Spec.Template.Spec
	if len(pod.Containers) != 1 || pod.TerminationGracePeriodSeconds == nil {
		t.Fatalf("no pod of the manager in %s", text)
	}
	life := pod.Containers[0].Lifecycle
	if life == nil || life.PreStop == nil || life.PreStop.Sleep == nil {
		t.Fatalf("the manager is stopped while requests are sent to it: %+v", life)
	}
	grace, sleep := time.Duration(*pod.TerminationGracePeriodSeconds)*time.Second, time.Duration(life.PreStop.Sleep.Seconds)*time.Second
	if sleep <= 0 || sleep+shutdownTimeout >= grace {
		t.Errorf("killed after %v: it waits for %v, and may take %v to stop", grace, sleep, shutdownTimeout)
	}
}
