package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	argo "github.com/argoproj/argo-cd/gitops-engine/pkg/health"
	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// verdict has the verdicts of the tools on one object.
type verdict struct {
	// Script is the verdict of the script, if there is one.
	Script health `json:"script"`
	// ArgoCD is the verdict of Argo CD's built-in checks, empty for a kind that they do not know.
	ArgoCD  health `json:"argocd"`
	KStatus health `json:"kstatus"`
}

type health struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "health:", err)
		os.Exit(1)
	}
}

func run() error {
	script := ""
	switch {
	case len(os.Args) == 2 && os.Args[1] == "corpus":
		return corpus(os.Stdout)
	case len(os.Args) == 2:
		text, err := os.ReadFile(os.Args[1])
		if err != nil {
			return err
		}
		script = string(text)
	case len(os.Args) > 2:
		return errors.New("the only argument is corpus, or the file of a Lua script")
	}
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	// Whole numbers become int64, as in all of Kubernetes.
	var objects []any
	if err := utiljson.Unmarshal(text, &objects); err != nil {
		return err
	}
	verdicts := make([]verdict, len(objects))
	for i := range objects {
		object, ok := objects[i].(map[string]any)
		if !ok {
			return fmt.Errorf("element %d is no object", i)
		}
		if verdicts[i], err = judge(script, object); err != nil {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(verdicts)
}

// judge asks all tools. A tool that cannot judge the object answers Error.
func judge(script string, object map[string]any) (v verdict, err error) {
	if script != "" {
		if v.Script, err = check(script, object); err != nil {
			return v, err
		}
	}
	u := &unstructured.Unstructured{Object: object}
	if result, err := status.Compute(u); err != nil {
		v.KStatus = health{"Error", err.Error()}
	} else {
		v.KStatus = health{string(result.Status), result.Message}
	}
	if result, err := argo.GetResourceHealth(u, nil); err != nil {
		v.ArgoCD = health{"Error", err.Error()}
	} else if result != nil {
		v.ArgoCD = health{string(result.Status), result.Message}
	}
	return v, nil
}

// check runs the script as Argo CD does: the object is the global obj, and the result of
// the script is the health.
func check(script string, object map[string]any) (health, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{
		lua.LoadLibName: lua.OpenPackage, lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable, lua.StringLibName: lua.OpenString,
	} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			return health{}, err
		}
	}
	state.SetGlobal("obj", value(state, object))
	if err := state.DoString(script); err != nil {
		return health{}, err
	}
	table, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return health{}, errors.New("the script returns no table")
	}
	return health{table.RawGetString("status").String(), table.RawGetString("message").String()}, nil
}

// value converts JSON to a value of Lua.
func value(state *lua.LState, from any) lua.LValue {
	switch v := from.(type) {
	case map[string]any:
		table := state.NewTable()
		for key, item := range v {
			table.RawSetString(key, value(state, item))
		}
		return table
	case []any:
		table := state.NewTable()
		for _, item := range v {
			table.Append(value(state, item))
		}
		return table
	case string:
		return lua.LString(v)
	case int64:
		return lua.LNumber(v)
	case float64:
		return lua.LNumber(v)
	case bool:
		return lua.LBool(v)
	default:
		return lua.LNil
	}
}
