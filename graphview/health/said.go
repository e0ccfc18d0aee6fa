package health

import (
	"cmp"
	"strings"

	"graphview.dev/graphview/jsontree"
)

// firstWords are the fields of a status with words that count before those of others.
var firstWords = strings.Fields("robustness health phase state status lifecycleState")

// usualFlags are booleans that are true when all is well. They have a shape of their own.
var usualFlags = map[string]*jsontree.Shape{
	"ready": &flag, "readyToUse": &flag, "applied": &flag, "deployed": &flag, "provisioned": &flag, "healthy": &flag, "available": &flag,
	"created": &flag, "connected": &flag, "valid": &verdict,
}

// wordText, flag and verdict are the shapes of the members of a status that say how the object is. A verdict
// is false only after the controller has looked at the spec.
var wordText, flag, verdict jsontree.Shape

// askWords asks for the words and flags in an object, and in the objects below it, depth levels down.
func askWords(in *jsontree.Shape, depth int) *jsontree.Shape {
	var below *jsontree.Shape
	if depth > 0 {
		below = askWords(&jsontree.Shape{}, depth-1)
	}
	in.Others(func(name []byte, first byte) *jsontree.Shape {
		switch at := string(name); {
		case otherTime(at):
			return nil
		case first == '{':
			return below
		case first == '"' && hasEnd(strings.ToLower(at), "phase", "state", "status", "health", "result", "compliant", "robustness"):
			return &wordText
		case first == 't', first == 'f':
			return usualFlags[at]
		}
		return nil
	})
	return in
}

// otherTime reports whether the name of a field says that it is not about the present.
func otherTime(name string) bool {
	return strings.HasPrefix(name, "previous") || strings.HasPrefix(name, "desired") || strings.HasPrefix(name, "target") || strings.HasPrefix(name, "requested")
}

// byWords judges by the words in an object of the status, or else by those of the objects in it. The first
// word for Degraded or Suspended decides, else the worst.
func (o *object) byWords(in fields) Health {
	h := o.says(in)
	if h.State == Degraded || h.State == Suspended {
		return h
	}
	for _, member := range in.Members {
		if said := o.byWords(fields{member}); member.IsObject() && said.State != Unknown {
			h = worseOf(h, said)
		}
	}
	return h
}

// says judges by the words in one object of the status.
func (o *object) says(in fields) Health {
	h, decided := Health{State: Unknown}, false
	add := func(text string) {
		switch said := o.judgeWord(text); {
		case decided:
		case said.State == Degraded, said.State == Suspended:
			h, decided = said, true
		case said.State == Unknown && h.State == Unknown:
			h.Reason = cmp.Or(h.Reason, said.Reason)
		default:
			h = worseOf(h, said)
		}
	}
	for _, name := range firstWords {
		add(in.text(name))
	}
	for shape, member := range in.Members {
		if shape == &wordText {
			add(fields{member}.text())
		}
	}
	return h
}

// byFlags judges by the flags in an object of the status and in the objects in it: a false one decides.
func (o *object) byFlags(in fields) Health {
	h := Health{State: Unknown}
	for shape, member := range in.Members {
		switch {
		case member.IsObject():
			h = worseOf(h, o.byFlags(fields{member}))
		case shape != &flag && shape != &verdict:
		case member.IsTrue():
			h = worseOf(h, ok())
		case shape == &verdict, o.status.text("error") != "", o.status.At("error").IsObject():
			h = worseOf(h, degraded("Error", 0))
		default:
			h = worseOf(h, progressing("NotReady", 0))
		}
	}
	return h
}
