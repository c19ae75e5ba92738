package configs

import (
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// resolve returns the value of a node without its tag, or nil for an anchor or
// an alias, which it reports.
func (l *loader) resolve(node ast.Node) ast.Node {
	switch n := node.(type) {
	case *ast.TagNode:
		return l.resolve(n.Value)
	case *ast.AnchorNode, *ast.AliasNode:
		l.problem(l.at(node.GetToken()), "", "anchors and aliases (&name, *name) are not supported: write the value where it is needed")
		return nil
	default:
		return node
	}
}

// entries returns the keys and values of a section.
func (l *loader) entries(node ast.Node) ([]*ast.MappingValueNode, bool) {
	mapping, ok := node.(ast.MapNode)
	if !ok {
		return nil, false
	}
	var entries []*ast.MappingValueNode
	for it := mapping.MapRange(); it.Next(); {
		if it.Key().Type() == ast.MergeKeyType {
			l.problem(l.at(it.Key().GetToken()), "", "merge keys (<<) are not supported: write the keys where they are needed")
			continue
		}
		entries = append(entries, it.KeyValue())
	}
	return entries, true
}

// first returns the token at which a node's text begins.
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
