package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
)

// mutant is one break of a function.
type mutant struct {
	file string // of the function, absolute
	line int
	what string // such as "line 3 of it: `a && b` becomes `a || b`"
	text []byte // the whole file
}

// swaps maps operators to their replacements.
var swaps = map[token.Token][]token.Token{
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL},
	token.AND: {token.OR}, token.AND_NOT: {token.AND},
}

// mutantsOf returns the breaks of a function of the package in a folder, in the order of the text.
func mutantsOf(folder, function string) ([]mutant, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, declaration := range file.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok && nameOf(f) == function && f.Body != nil {
				b := breaker{set: set, file: file, path: path, function: f}
				ast.Inspect(f.Body, b.visit)
				return b.all, b.err
			}
		}
	}
	return nil, fmt.Errorf("%s has no function %s; correct hack/mutate/targets.txt", folder, function)
}

// nameOf returns the name of a function, after its receiver's type and a dot.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	for {
		switch of := receiver.(type) {
		case *ast.StarExpr:
			receiver = of.X
			continue
		case *ast.IndexExpr:
			receiver = of.X
			continue
		case *ast.Ident:
			return of.Name + "." + f.Name.Name
		}
		return f.Name.Name
	}
}

// breaker collects the breaks of a function. It changes the tree for each, and changes it back.
type breaker struct {
	set      *token.FileSet
	file     *ast.File
	path     string
	function *ast.FuncDecl
	all      []mutant
	err      error
}

// add renders the file between do and undo.
func (b *breaker) add(node ast.Node, what string, do, undo func()) {
	before := b.render(node)
	do()
	defer undo()
	var text bytes.Buffer
	if err := format.Node(&text, b.set, b.file); err != nil {
		b.err = err
		return
	}
	line := b.set.Position(node.Pos()).Line
	if what == "" {
		what = "becomes `" + b.render(node) + "`"
	}
	within := line - b.set.Position(b.function.Pos()).Line
	b.all = append(b.all, mutant{b.path, line, fmt.Sprintf("line %d of it: %#q %s", within, before, what), text.Bytes()})
}

func (b *breaker) render(node ast.Node) string {
	var text bytes.Buffer
	if err := format.Node(&text, b.set, node); err != nil {
		b.err = err
	}
	return strings.Join(strings.Fields(text.String()), " ")
}

// isText reports whether a sum is one of strings, which have no subtraction.
func isText(of ast.Expr) bool {
	switch of := of.(type) {
	case *ast.BasicLit:
		return of.Kind == token.STRING
	case *ast.BinaryExpr:
		return of.Op == token.ADD && (isText(of.X) || isText(of.Y))
	}
	return false
}

func (b *breaker) visit(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.BinaryExpr:
		if n.Op == token.ADD && isText(n) {
			return true
		}
		for _, swap := range swaps[n.Op] {
			was := n.Op
			b.add(n, "", func() { n.Op = swap }, func() { n.Op = was })
		}
	case *ast.IfStmt:
		was := n.Cond
		b.add(n.Cond, "is negated", func() { n.Cond = &ast.UnaryExpr{Op: token.NOT, X: &ast.ParenExpr{X: was}} }, func() { n.Cond = was })
	case *ast.ReturnStmt:
		if results := b.function.Type.Results; results != nil && results.NumFields() == len(n.Results) {
			for i, result := range n.Results {
				b.result(n, i, result)
			}
		}
	case *ast.Ident:
		if flipped, ok := map[string]string{"true": "false", "false": "true"}[n.Name]; ok {
			was := n.Name
			b.add(n, "", func() { n.Name = flipped }, func() { n.Name = was })
		}
	case *ast.BasicLit:
		if number, err := strconv.Atoi(n.Value); n.Kind == token.INT && err == nil {
			was := n.Value
			b.add(n, "", func() { n.Value = strconv.Itoa(number + 1) }, func() { n.Value = was })
		}
	case *ast.BranchStmt:
		if n.Tok == token.CONTINUE && n.Label == nil {
			b.add(n, "", func() { n.Tok = token.BREAK }, func() { n.Tok = token.CONTINUE })
		}
	case *ast.BlockStmt:
		b.statements(n.List)
	case *ast.CaseClause:
		b.statements(n.Body)
	}
	return true
}

// result breaks one result of a return statement: an error becomes nil, a condition its opposite.
func (b *breaker) result(n *ast.ReturnStmt, i int, was ast.Expr) {
	types := b.function.Type.Results.List
	kind := ""
	for at, t := 0, 0; t < len(types); t++ {
		count := max(1, len(types[t].Names))
		if i < at+count {
			kind = b.render(types[t].Type)
			break
		}
		at += count
	}
	undo := func() { n.Results[i] = was }
	name, _ := was.(*ast.Ident)
	switch {
	case kind == "error" && (name == nil || name.Name != "nil"):
		b.add(n, "returns no error", func() { n.Results[i] = ast.NewIdent("nil") }, undo)
	case kind == "bool" && (name == nil || name.Name != "true" && name.Name != "false"):
		for _, value := range []string{"true", "false"} {
			b.add(n, "returns "+value, func() { n.Results[i] = ast.NewIdent(value) }, undo)
		}
	}
}

// statements removes calls, assignments and other statements without which a block may still compile.
func (b *breaker) statements(list []ast.Stmt) {
	for i, was := range list {
		switch s := was.(type) {
		case *ast.ExprStmt, *ast.IncDecStmt:
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				continue
			}
		default:
			continue
		}
		b.add(was, "is left out", func() { list[i] = &ast.EmptyStmt{Semicolon: was.Pos(), Implicit: true} }, func() { list[i] = was })
	}
}
