package configs

import (
	"errors"
	"slices"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// resolve looks through anchors, aliases and tags at the value itself.
func (l *loader) resolve(node ast.Node) ast.Node {
	switch n := node.(type) {
	case *ast.AnchorNode:
		l.anchors[n.Name.GetToken().Value] = n.Value
		return l.resolve(n.Value)
	case *ast.AliasNode:
		target, ok := l.anchors[n.Value.GetToken().Value]
		if !ok {
			l.problem(l.at(n.GetToken()), "", "no anchor &%s stands before this alias", n.Value.GetToken().Value)
			return nil
		}
		return target
	case *ast.TagNode:
		return l.resolve(n.Value)
	default:
		return node
	}
}

// entries lists a mapping's keys and values, those of merge keys (<<) first,
// so that the mapping's own come later and win.
func (l *loader) entries(node ast.Node) ([]*ast.MappingValueNode, bool) {
	mapping, ok := node.(ast.MapNode)
	if !ok {
		return nil, false
	}
	var merged, own []*ast.MappingValueNode
	for it := mapping.MapRange(); it.Next(); {
		if it.Key().Type() != ast.MergeKeyType {
			own = append(own, it.KeyValue())
			continue
		}
		merged = append(merged, l.merged(it.Value())...)
	}
	return append(merged, own...), true
}

// merged lists what a merge key brings in: a section, or a list of sections of
// which the first wins. Nodes on the way are remembered, since a section may
// name itself.
func (l *loader) merged(node ast.Node) []*ast.MappingValueNode {
	at := l.at(first(node))
	node = l.resolve(node)
	switch {
	case node == nil: // said already
		return nil
	case slices.Contains(l.merging, node):
		l.problem(at, "", "this section is merged into itself")
		return nil
	}
	l.merging = append(l.merging, node)
	defer func() { l.merging = l.merging[:len(l.merging)-1] }()
	if list, ok := node.(*ast.SequenceNode); ok {
		var all []*ast.MappingValueNode
		for _, each := range slices.Backward(list.Values) {
			all = append(all, l.merged(each)...)
		}
		return all
	}
	entries, ok := l.entries(node)
	if !ok {
		l.problem(at, "", "a section is expected after <<, not %s", kindOf(node))
	}
	return entries
}

// first is the token at which a node's text begins.
func first(node ast.Node) *token.Token {
	switch n := node.(type) {
	case *ast.MappingNode:
		if len(n.Values) > 0 && !n.IsFlowStyle {
			return n.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		return n.Key.GetToken()
	}
	return node.GetToken()
}

func kindOf(node ast.Node) string {
	switch node.(type) {
	case ast.MapNode:
		return "a section"
	case *ast.SequenceNode:
		return "a list"
	default:
		return "the single value " + node.GetToken().Value
	}
}

func asYAML(err error, target *yaml.Error) bool {
	return errors.As(err, target)
}
